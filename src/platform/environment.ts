import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { Failure } from "./failure.ts";

/** What the machine says of where things are; read once, passed in everywhere. */
export interface Environment {
  /** The user's home folder. */
  readonly home: string;
  /** Our own files: `$AGENT_BRIDGE_HOME`, else `~/.agent-bridge`. */
  readonly bridgeHome: string;
  readonly platform: NodeJS.Platform;
  /** An environment variable that is set and not empty. */
  variable(name: string): string | undefined;
  /** All variables that are set, also the empty ones: what a program that we start gets. */
  variables(): { readonly [name: string]: string };
}

/** Where in our own home lies what may be deleted at any time. */
export function cacheFolder({ bridgeHome }: Pick<Environment, "bridgeHome">): string {
  return join(bridgeHome, "cache");
}

/** The environment of this process. `--home DIR` (`bridgeHome`) wins over `$AGENT_BRIDGE_HOME`. */
export function processEnvironment(bridgeHome?: string): Environment {
  return environmentFrom({ variables: process.env, home: homeFolder(), platform: process.platform, bridgeHome });
}

/** `path` from the root on. @throws Failure failed: it begins in the shell's folder, which has been removed */
export function absolute(path: string): string {
  try {
    return resolve(path);
  } catch (error) {
    throw new Failure(
      "failed",
      `"${path}" begins in a folder that has been removed: go to another, or give it in full`,
      error,
    );
  }
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
  const bridgeHome = given.bridgeHome ?? variable("AGENT_BRIDGE_HOME") ?? join(given.home, ".agent-bridge");
  return {
    home: given.home,
    // Not before someone asks: it may be nowhere, and then the command says so.
    get bridgeHome() {
      return absolute(bridgeHome);
    },
    platform: given.platform ?? process.platform,
    variable,
    variables: () =>
      Object.fromEntries(
        Object.entries(given.variables ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
  };
}
