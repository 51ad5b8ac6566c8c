import { readRunPage } from "../parts/sound-run.ts";
import type { Run, RunPage } from "../wire.ts";

/** Reads a page of the list of runs: `before` as the API has it, 500 at most. */
export type ReadRuns = (before: string | undefined, limit: number) => Promise<RunPage>;

/** Reads pages from the server. @throws Refused, Unreachable */
export const readRuns: ReadRuns = (before, limit) => readRunPage({ before, limit });

/**
 * The run of this name. `startedAt` (ms since the epoch) leads to it at once, as the time in its name does; where neither
 * does, the whole list is gone through. Undefined when there is none. @throws Refused, Unreachable
 */
export async function findRun(name: string, startedAt?: number, pages: ReadRuns = readRuns): Promise<Run | undefined> {
  for (const at of new Set([startedAt, stampOf(name)])) {
    if (at === undefined || at < 0) continue;
    // "!" is behind nothing that a name can go on with, so this leads to just before the run.
    const { runs } = await pages(`${at}:${name}!`, 1);
    if (runs[0]?.name === name) return runs[0];
  }
  for (let before: string | undefined; ; ) {
    const page = await pages(before, 500);
    const found = page.runs.find((run) => run.name === name);
    if (found !== undefined || page.next === null) return found;
    before = page.next;
  }
}

/** The time at which the name of a run says that it began. */
function stampOf(name: string): number | undefined {
  const [, day, hour, minute, second] = /^(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)(?![^-])/.exec(name) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${hour}:${minute}:${second}.000Z`);
  return Number.isNaN(at) ? undefined : at;
}
