import type { Clock, EpochMs } from "./clock.ts";

/** How grave a line is. */
export type LogLevel = "info" | "warn" | "error";

/** What a line may say beside its message. */
export interface LogFacts {
  /** The pattern of the route, or the path that was asked for; a query is taken off. */
  readonly route?: string;
  readonly status?: number;
  /** How long it took: ms. */
  readonly ms?: number;
}

/** One line. */
export interface LogLine extends LogFacts {
  readonly time: EpochMs;
  readonly level: LogLevel;
  readonly msg: string;
}

/** Says what happens, in one line each; never a query, a key or content of a store. */
export interface Log {
  info(msg: string, facts?: LogFacts): void;
  warn(msg: string, facts?: LogFacts): void;
  error(msg: string, facts?: LogFacts): void;
}

/** A log for people: `09:24:00 warn: refused (GET /api/state 403 2 ms)`, in UTC. `write` gets each line with its newline. */
export function humanLog(clock: Clock, write: (line: string) => void): Log {
  return logOf(clock, (line) => {
    const time = new Date(line.time).toISOString().slice(11, 19);
    const level = line.level === "info" ? "" : `${line.level}: `;
    const facts = [line.route, line.status, line.ms === undefined ? undefined : `${line.ms} ms`];
    const told = facts.filter((fact) => fact !== undefined).join(" ");
    write(`${time} ${level}${line.msg}${told === "" ? "" : ` (${told})`}\n`);
  });
}

/** A log for programs: each line a JSON object, a `LogLine`. */
export function jsonLog(clock: Clock, write: (line: string) => void): Log {
  return logOf(clock, (line) => write(`${JSON.stringify(line)}\n`));
}

/** Says nothing. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

function logOf(clock: Clock, put: (line: LogLine) => void): Log {
  const log =
    (level: LogLevel) =>
    (msg: string, facts: LogFacts = {}) => {
      const { route, status, ms } = facts;
      put({
        time: clock.now(),
        level,
        msg: harmless(msg),
        ...(route !== undefined && { route: harmless(route.replace(/[?#].*$/s, "")) }),
        ...(status !== undefined && { status }),
        ...(ms !== undefined && { ms: Math.round(ms) }),
      });
    };
  return { info: log("info"), warn: log("warn"), error: log("error") };
}

/** What looks like a dashboard key: 48 hex digits. */
const KEY = /[0-9a-f]{48}/gi;

/** `text` on one line, without what a terminal would obey and without keys, however it came to hold them. */
function harmless(text: string): string {
  return text.replace(/\p{Cc}+|[\u2028\u2029]/gu, " ").replace(KEY, "…");
}
