import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { Breather } from "../platform/breather.ts";
import { identityOf, ourIdentity, type ProcessIdentity } from "../platform/process-identity.ts";

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

/** The processes that ran when the table was read, those that had ended and were not yet asked for left out. */
export interface Processes {
  readonly rows: readonly ProcessRow[];
  /** With what value of the variable `name` the process `pid` was started; undefined without one, or where that can't be told. */
  variableOf(pid: number, name: string): string | undefined;
}

/** The system's table of processes. Those that ask for it in one turn share one reading of it. */
export class ProcessTable {
  #next: Promise<Processes> | undefined;

  /** As it is from now on; nothing stands in it where processes can't be listed. */
  now(): Promise<Processes> {
    this.#next ??= new Promise(setImmediate).then(() => {
      this.#next = undefined;
      return readTable();
    });
    return this.#next;
  }
}

/** The processes that `pid` has started and that run. */
export async function childrenOf(pid: number): Promise<readonly ProcessRow[]> {
  const text = process.platform === "linux" ? textOf(`/proc/${pid}/task/${pid}/children`) : undefined;
  if (text !== undefined) return text.split(" ").flatMap((child) => (child === "" ? [] : (rowOf(Number(child)) ?? [])));
  return (await readTable()).rows.filter(({ parent }) => parent === pid);
}

async function readTable(): Promise<Processes> {
  switch (process.platform) {
    case "linux":
      return processesOf(await linuxRows());
    case "win32":
      return processesOf([]);
    default:
      return processesOf(rowsFromPs(await psText()));
  }
}

/** A table of these rows. Their variables are read when they are asked for, once. */
export function processesOf(rows: readonly ProcessRow[]): Processes {
  const texts = new Map<number, string>();
  return {
    rows,
    variableOf: (pid, name) => {
      if (process.platform !== "linux") return undefined;
      const text = texts.get(pid) ?? `\0${textOf(`/proc/${pid}/environ`) ?? ""}`;
      texts.set(pid, text);
      const at = text.indexOf(`\0${name}=`);
      return at < 0 ? undefined : text.slice(at + name.length + 2, text.indexOf("\0", at + 1));
    },
  };
}

/** A table may be long, and the system takes its time for each row. */
async function linuxRows(): Promise<readonly ProcessRow[]> {
  const breather = new Breather();
  const rows: ProcessRow[] = [];
  for (const name of readdirSync("/proc")) {
    const row = /^\d+$/.test(name) ? rowOf(Number(name)) : undefined;
    if (row !== undefined) rows.push(row);
    if (breather.isDue) await breather.pause();
  }
  return rows;
}

function rowOf(pid: number): ProcessRow | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  return text === undefined ? undefined : rowFromStat(pid, text);
}

/**
 * A child that was started in this very turn, also when it has ended meanwhile: its parent, this process, has not asked yet,
 * and so it still has its number.
 */
export function freshIdentity(pid: number): ProcessIdentity {
  const now = identityOf(pid);
  if (now !== undefined) return now;
  const { boot } = ourIdentity();
  const start = process.platform === "linux" ? fieldsOf(textOf(`/proc/${pid}/stat`) ?? "")[19] : undefined;
  return { pid, ...(start !== undefined && { start }), ...(boot !== undefined && { boot }) };
}

/** What `/proc/<pid>/stat` says; undefined for a process that has ended. */
export function rowFromStat(pid: number, stat: string): ProcessRow | undefined {
  const [state, parent, group, session, terminal, ...others] = fieldsOf(stat);
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

/** The fields from the state on, counted from the last bracket: the command before it may hold anything. */
function fieldsOf(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** What `ps -A -o pid=,ppid=,pgid=,lstart=` prints. */
export function rowsFromPs(text: string): readonly ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [, pid, parent, group, start] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (start === undefined) return [];
    return { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, terminal: 0, start };
  });
}

function psText(): Promise<string> {
  // In the same words as `startOf` asks for, so that what they say of a start can be compared.
  const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
  return new Promise((resolve) => {
    const options = { env, timeout: 2_000, maxBuffer: 16 * 1024 * 1024 };
    execFile("ps", ["-A", "-o", "pid=,ppid=,pgid=,lstart="], options, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
