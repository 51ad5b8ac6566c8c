import { humanLog, jsonLog } from "../platform/log.ts";
import type { ServerLog } from "../server/log.ts";
import type { Context } from "./command.ts";

/** What was told is not told again for so long: a page that polls with an old key is refused every second. */
const QUIET_MS = 60_000;
const MOST_TOLD = 100;

/** Writes the server's log to stderr: all of it as JSON, or only what a person should know. */
export function logTo({ terminal, clock }: Pick<Context, "terminal" | "clock">, asJson: boolean): ServerLog {
  const write = (line: string): void => void terminal.err(line);
  if (asJson) {
    const log = jsonLog(clock, write);
    return ({ level, msg, ...facts }) => log[level === "debug" ? "info" : level](msg, facts);
  }
  const log = humanLog(clock, write);
  const told = new Map<string, number>();
  return ({ level, msg, ...facts }) => {
    if (level !== "warn" && level !== "error") return;
    const what = `${msg} ${facts.route}`;
    const now = clock.now();
    if (now - (told.get(what) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (told.size >= MOST_TOLD) told.clear();
    told.set(what, now);
    log[level](msg, facts);
  };
}
