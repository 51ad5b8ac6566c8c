import type { ServerLog } from "../server/log.ts";
import type { Context } from "./command.ts";

/** A line that was told is not told again for so long: a page that polls with an old key is refused every second. */
const QUIET_MS = 60_000;
const MOST_LINES = 100;

/** Writes the server's log to stderr: all of it as JSON, or only what a person should know. */
export function logTo({ terminal, clock }: Pick<Context, "terminal" | "clock">, asJson: boolean): ServerLog {
  if (asJson) {
    return (record) => {
      const time = new Date(clock.now()).toISOString();
      void terminal.err(`${JSON.stringify({ time, ...record })}\n`);
    };
  }
  const told = new Map<string, number>();
  return ({ level, msg, route }) => {
    if (level !== "warn" && level !== "error") return;
    const line = `${level}: ${msg}${route === undefined ? "" : ` (${route})`}\n`;
    const now = clock.now();
    if (now - (told.get(line) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    if (told.size >= MOST_LINES) told.clear();
    told.set(line, now);
    void terminal.err(line);
  };
}
