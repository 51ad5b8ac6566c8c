import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive, ourIdentity, type ProcessIdentity, startOf } from "../platform/process-identity.ts";
import { MARK } from "./child-variables.ts";
import type { Processes, ProcessRow, ProcessTable } from "./process-table.ts";

/** A process that we started, and by what the ones that it started in turn are known. */
export interface Started {
  /** It leads a process group and a session of its own. */
  readonly root: ProcessIdentity;
  /** The value of `MARK` that it was given. */
  readonly mark: string;
  /** The terminal that it holds: the number of the device. */
  readonly terminal?: number;
}

/** How to end what was started. */
export interface Ending {
  /** How long they have to end by themselves: ms. */
  readonly graceMs: number;
  /** What they are asked with, in this order; SIGTERM. */
  readonly polite?: readonly NodeJS.Signals[];
  /** The root only hands on what the others print, and ends when they have: it is not asked, and killed last. */
  readonly rootLast?: boolean;
  /** One for all that may be ended at the same time: the table is long. */
  readonly table: ProcessTable;
}

/**
 * What runs of it now: the root, its process group, session and terminal, on Linux all that carry the mark, and all that
 * belong to one of these as its descendant or follower: so also those that made a session of their own and lost their parent. Never this process,
 * nor one that it descends from.
 */
export function runningOf({ root, mark, terminal }: Started, table: Processes): readonly ProcessRow[] {
  const byPid = new Map(table.rows.map((row) => [row.pid, row]));
  const holder = byPid.get(root.pid);
  const runs = holder !== undefined && (root.start === undefined || holder.start === root.start);
  // A number is given to no other process while a group or session has it: one that has it now says that these are gone.
  const isOurs = holder === undefined || runs;
  const mayCarry = (start: string): boolean => root.start === undefined || !(Number(start) < Number(root.start));
  const found = new Set<number>();
  for (const row of table.rows) {
    const belongs =
      (row.pid === root.pid && runs) ||
      (isOurs && mayCarry(row.start) && (row.group === root.pid || row.session === root.pid)) ||
      // A terminal's number is free for others as soon as its root is gone.
      (runs && terminal !== undefined && row.terminal === terminal) ||
      (mayCarry(row.start) && table.variableOf(row.pid, MARK) === mark);
    if (belongs) found.add(row.pid);
  }
  addBelonging(found, table.rows);
  for (const pid of lineOf(process.pid, byPid)) found.delete(pid);
  return table.rows.filter(({ pid }) => found.has(pid));
}

/** Ends all that runs of it: politely, then for good. Comes back when none is left, or can't be killed for two seconds. */
export async function endStarted(started: Started, ending: Ending): Promise<void> {
  if (process.platform === "win32") return endOnWindows(started.root, ending.graceMs);
  const { graceMs, table } = ending;
  const spared = ending.rootLast ? started.root.pid : undefined;
  const askedToEnd = new Set<string>();
  const all = await gone(started, table, graceMs, (row) => {
    // Each is asked once: a second time would cut short what it does in order to end well.
    if (row.pid === spared || askedToEnd.has(keyOf(row))) return;
    askedToEnd.add(keyOf(row));
    for (const name of ending.polite ?? ["SIGTERM"]) signal(row, name);
  });
  if (all) return;
  const kill = (row: ProcessRow): void => signal(row, "SIGKILL");
  if (spared !== undefined && (await gone(started, table, RELAY_MS, (row) => row.pid !== spared && kill(row)))) return;
  await gone(started, table, FIRM_MS, kill);
}

/**
 * Ends what a server that is gone has left of a child that it had started with the mark `mark`: politely, then for good.
 * Nothing is done to what runs on another run of the machine, or has got the child's number since. A child whose number was
 * not noted any more is found by its mark, where the system tells that.
 */
export async function endLeftover(
  child: ProcessIdentity | undefined,
  mark: string,
  { graceMs, table }: Pick<Ending, "graceMs" | "table">,
): Promise<void> {
  const { boot } = ourIdentity();
  if (child?.boot !== undefined && boot !== undefined && child.boot !== boot) return;
  if (process.platform === "win32" && (child === undefined || !isAlive(child))) return;
  await endStarted(
    { root: child ?? NOBODY, mark },
    { graceMs, polite: ["SIGHUP", "SIGTERM", "SIGCONT"], ...(table && { table }) },
  );
}

/** No process, group or session has this number. */
const NOBODY: ProcessIdentity = { pid: -1 };
/** How long a process may take to be gone that was killed for good: ms. */
const FIRM_MS = 2_000;
/** How long the one that hands on what the others print may take once they are killed: ms. */
const RELAY_MS = 300;
const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 100;

/** Does `act` to each that runs, again when those are gone and others have come; false when some are left after `ms`. */
async function gone(
  started: Started,
  table: ProcessTable,
  ms: number,
  act: (row: ProcessRow) => void,
): Promise<boolean> {
  const until = performance.now() + ms;
  let wait = FIRST_LOOK_MS;
  for (;;) {
    const rows = runningOf(started, await table.now());
    if (rows.length === 0) return true;
    for (const row of rows) act(row);
    // The whole table is read again only when these have ended: asking for a few is cheap.
    while (rows.some(stillRuns)) {
      if (performance.now() >= until) return false;
      await sleep(wait);
      wait = Math.min(wait * 1.5, LAST_LOOK_MS);
    }
  }
}

/** Adds to `found` all that descend from these, or are in a group or session that one of these leads. */
function addBelonging(found: Set<number>, table: readonly ProcessRow[]): void {
  const belonging = new Map<number, Set<number>>();
  for (const { pid, parent, group, session } of table) {
    for (const leader of [parent, group, session]) {
      const others = belonging.get(leader);
      if (others === undefined) belonging.set(leader, new Set([pid]));
      else others.add(pid);
    }
  }
  // A set that grows while it is walked is walked to its new end.
  for (const pid of found) for (const other of belonging.get(pid) ?? []) found.add(other);
}

/** The process `pid` and those that it descends from. */
function lineOf(pid: number, byPid: ReadonlyMap<number, ProcessRow>): ReadonlySet<number> {
  const line = new Set<number>([process.pid]);
  for (
    let row = byPid.get(pid);
    row !== undefined && row.pid > 1 && !line.has(row.parent);
    row = byPid.get(row.parent)
  ) {
    line.add(row.parent);
  }
  return line;
}

function signal(row: ProcessRow, name: NodeJS.Signals): void {
  // Since the table was read it may have ended, and another may have its number.
  if (!stillRuns(row)) return;
  try {
    process.kill(row.pid, name);
  } catch {
    // It has just ended, or has become another user's: then it can't be ended by us.
  }
}

/** The table is of this run of the machine: the start alone decides. */
function stillRuns({ pid, start }: ProcessRow): boolean {
  return startOf(pid) === start;
}

function keyOf({ pid, start }: ProcessRow): string {
  return `${pid} ${start}`;
}

async function endOnWindows(root: ProcessIdentity, graceMs: number): Promise<void> {
  const kill = (...how: string[]): Promise<void> =>
    new Promise((resolve) => {
      execFile("taskkill", ["/PID", String(root.pid), "/T", ...how], { windowsHide: true }, () => resolve());
    });
  if (!isAlive(root)) return;
  await kill();
  const until = performance.now() + graceMs;
  while (isAlive(root) && performance.now() < until) await sleep(LAST_LOOK_MS);
  if (isAlive(root)) await kill("/F");
}
