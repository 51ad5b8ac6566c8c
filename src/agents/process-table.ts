import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** A running process, as the system lists it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  /** The number of the terminal's device; 0 when it has none, or where the system does not tell. */
  readonly terminal: number;
  /** When it started, in the words of `startOf`. */
  readonly start: string;
}

/** All processes that run now, those that have ended and are not asked for yet left out. Nothing where they can't be listed. */
export function processTable(): readonly ProcessRow[] {
  switch (process.platform) {
    case "linux":
      return readdirSync("/proc").flatMap((name) => (/^\d/.test(name) ? (rowOf(Number(name)) ?? []) : []));
    case "win32":
      return [];
    default:
      return rowsFromPs(psText());
  }
}

/** The process `pid` in the table; undefined when there is none, or where it can't be told alone. */
export function rowOf(pid: number): ProcessRow | undefined {
  const text = process.platform === "linux" ? textOf(`/proc/${pid}/stat`) : undefined;
  return text === undefined ? undefined : rowFromStat(pid, text);
}

/** Whether the process `pid` was started with the variable `name` set to `value`. False where that can't be told. */
export function hasVariable(pid: number, name: string, value: string): boolean {
  const text = process.platform === "linux" ? textOf(`/proc/${pid}/environ`) : undefined;
  return text !== undefined && `\0${text}`.includes(`\0${name}=${value}\0`);
}

/** What `/proc/<pid>/stat` says, its fields counted from the last bracket: the command before it may hold anything. */
export function rowFromStat(pid: number, stat: string): ProcessRow | undefined {
  const [state, parent, group, session, terminal, ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = others[14];
  if (state === "Z" || state === "X" || start === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    terminal: Number(terminal),
    start,
  };
}

/** What `ps -A -o pid=,ppid=,pgid=,lstart=` prints. */
export function rowsFromPs(text: string): readonly ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, group, start] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (start === undefined) return [];
    return { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, terminal: 0, start };
  });
}

function psText(): string {
  try {
    // In the same words as `startOf` asks for, so that what they say of a start can be compared.
    const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
    return execFileSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,lstart="], {
      encoding: "utf8",
      env,
      timeout: 2_000,
      maxBuffer: 16 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
