import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** What the machine says of where things are; read once, passed in everywhere. */
export interface Environment {
  /** The user's home folder. */
  readonly home: string;
  /** Our own files: `$AGENT_BRIDGE_HOME`, else `~/.agent-bridge`. */
  readonly bridgeHome: string;
  readonly platform: NodeJS.Platform;
  /** An environment variable that is set and not empty. */
  variable(name: string): string | undefined;
}

/** The environment of this process. `--home DIR` (`bridgeHome`) wins over `$AGENT_BRIDGE_HOME`. */
export function processEnvironment(bridgeHome?: string): Environment {
  return environmentFrom({ variables: process.env, home: homeFolder(), platform: process.platform, bridgeHome });
}

/** An empty or relative `HOME` would have every folder be looked for, and the key be made, wherever the shell happens to be. */
function homeFolder(): string {
  const told = homedir();
  return isAbsolute(told) ? told : userInfo().homedir;
}

/** An environment of one's own making, for tests and for a demonstration. */
export function environmentFrom(given: {
  readonly home: string;
  readonly variables?: { readonly [name: string]: string | undefined };
  readonly platform?: NodeJS.Platform;
  readonly bridgeHome?: string | undefined;
}): Environment {
  const variable = (name: string): string | undefined => given.variables?.[name] || undefined;
  return {
    home: given.home,
    bridgeHome: resolve(given.bridgeHome ?? variable("AGENT_BRIDGE_HOME") ?? join(given.home, ".agent-bridge")),
    platform: given.platform ?? process.platform,
    variable,
  };
}
