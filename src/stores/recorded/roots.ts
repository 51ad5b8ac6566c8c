import { realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Environment } from "../../platform/environment.ts";
import { errorCode } from "../../platform/failure.ts";

/** A folder that holds, or may come to hold, recorded sessions: a folder a session. */
export interface RecordedRoot {
  readonly sessions: string;
  /** Its real path, which everything read must lie in; undefined while there is none. */
  readonly real: string | undefined;
  /** What a person should know of it. */
  readonly note?: string;
}

/**
 * Where recordings lie: `$AGENTPROTO_HOME`, else `~/.agentproto`, there in `sessions`; then the extra roots of our
 * configuration (such a home, or its `sessions` folder). Roots that lead to the same folder are one.
 */
export function recordedRoots(environment: Environment, extra: readonly string[]): readonly RecordedRoot[] {
  const isSet = environment.variable("AGENTPROTO_HOME") !== undefined;
  const own = rootAt(ownRecordings(environment), isSet ? "from AGENTPROTO_HOME" : undefined);
  const others = extra.map((folder) => {
    const path = resolve(/^~(?=$|[/\\])/.test(folder) ? join(environment.home, folder.slice(1)) : folder);
    return rootAt(basename(path) === "sessions" ? path : join(path, "sessions"), "from config.json");
  });
  const seen = new Set<string>();
  return [own, ...others].filter(({ sessions, real }) => {
    const key = real ?? sessions;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The folder that our own recordings lie in, a folder a session: `sessions` in `$AGENTPROTO_HOME`, else in `~/.agentproto`. */
export function ownRecordings(environment: Environment): string {
  const home = environment.variable("AGENTPROTO_HOME") ?? join(environment.home, ".agentproto");
  return join(resolve(home), "sessions");
}

function rootAt(sessions: string, note?: string): RecordedRoot {
  try {
    return { sessions, real: realpathSync.native(sessions), ...(note !== undefined && { note }) };
  } catch (error) {
    const told = errorCode(error) === "EACCES" ? "permission denied" : note;
    return { sessions, real: undefined, ...(told !== undefined && { note: told }) };
  }
}
