import { pause } from "../platform/bell.ts";
import { Failure } from "../platform/failure.ts";
import type { Timer } from "../platform/timer.ts";
import type { LogRead, RunInventory } from "../runs/inventory.ts";
import type { FoundRun } from "../runs/reader.ts";
import { printable } from "../transcript/printable.ts";

/** How often a log that is followed is asked. */
const POLL_MS = 250;
/** How often a run that has gone is looked for again before it is given up: five seconds. */
const GONE_POLLS = 20;
/** How far back the last lines of a log are looked for. */
const END_BYTES = 1024 * 1024;

/** The run that `asked` names: its name, or as much of its beginning or end as no other has. @throws Failure usage, not-found */
export async function requireRun(runs: RunInventory, asked: string): Promise<FoundRun> {
  const exact = await runs.run(asked);
  if (exact !== undefined) return exact;
  const near = (await runs.names()).filter((name) => name.startsWith(asked) || name.endsWith(asked));
  if (near.length > 1) {
    const some = near.slice(0, 3).map(printable).join(", ");
    throw new Failure("usage", `"${asked}" may be ${some}${near.length > 3 ? ", …" : ""}; give more of the name`);
  }
  const found = near[0] === undefined ? undefined : await runs.run(near[0]);
  if (found === undefined) {
    requireListed(runs);
    throw new Failure("not-found", `no run "${printable(asked)}"; see agent-bridge runs`);
  }
  return found;
}

/** Tells when what is in a folder is missing. @throws Failure failed: a folder of runs or jobs can't be listed */
export function requireListed(runs: RunInventory): void {
  const [first] = runs.unlisted;
  if (first === undefined) return;
  throw new Failure("failed", `${printable(first.path)}: ${first.reason}, so what is in it is missing here`);
}

/** What is said of an empty list of `what`: that there are none, or that none can be shown. Reads every file. */
export async function emptyListNote(runs: RunInventory, what: "runs" | "jobs"): Promise<string> {
  const { skipped } = await runs.report();
  if (skipped.length === 0) return `There are no ${what}.\n`;
  return `There are no ${what} that can be shown; agent-bridge doctor says what is left out.\n`;
}

/** Where a log ended when it was read, and whether its run was over before that. */
interface LogEnd {
  readonly next: number;
  readonly isOver: boolean;
}

/** The log of the run `name` from the byte `from` to its end as it is now, in parts. @throws Failure not-found */
export async function* logParts(runs: RunInventory, name: string, from: number): AsyncGenerator<string, LogEnd> {
  // As it was before the first read: what is written at a run's end is read too.
  let first: FoundRun | undefined;
  for (let next = from; ; ) {
    const { run, chunk } = await readLog(runs, name, next, first);
    first ??= run;
    if (chunk.text !== "") yield chunk.text;
    if (chunk.next === next || chunk.next >= chunk.size) {
      return { next: chunk.next, isOver: first.summary.status !== "running" };
    }
    next = chunk.next;
  }
}

/** The last `lines` lines of a log, and the byte behind them. @throws Failure not-found */
export async function logEnd(
  runs: RunInventory,
  name: string,
  lines: number,
): Promise<{ readonly text: string; readonly next: number }> {
  const { chunk } = await readLog(runs, name, Number.MAX_SAFE_INTEGER);
  let text = "";
  let next = Math.max(0, chunk.size - END_BYTES);
  for (const parts = logParts(runs, name, next); ; ) {
    const { value, done } = await parts.next();
    if (done) {
      ({ next } = value);
      break;
    }
    text += value;
  }
  let start = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let count = 0; count < lines && start >= 0; count++)
    start = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  return { text: lines === 0 ? "" : text.slice(start + 1), next };
}

/**
 * What is added to the log of the run `name` behind the byte `from`, until the run has ended or the signal aborts.
 * @throws Failure failed: the run or its log has been gone for five seconds
 */
export async function* followedLog(
  runs: RunInventory,
  name: string,
  from: number,
  timer: Timer,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  let misses = 0;
  for (let next = from; !signal.aborted; await pause(timer, POLL_MS, signal)) {
    const parts = logParts(runs, name, next);
    let part = await parts.next().catch(unlessMissing);
    if (part === undefined) {
      if (++misses > GONE_POLLS) throw new Failure("failed", "the run is gone, so nothing more will come of it");
      continue;
    }
    misses = 0;
    for (; !part.done; part = await parts.next()) yield part.value;
    ({ next } = part.value);
    if (part.value.isOver) return;
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
}

async function readLog(runs: RunInventory, name: string, from: number, found?: FoundRun): Promise<LogRead> {
  const read = await runs.log(name, from, found);
  if (read === undefined) throw new Failure("not-found", "the run is gone");
  return read;
}
