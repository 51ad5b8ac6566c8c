import type { RunsFilter } from "../places.ts";
import type { Run, RunPage } from "../wire.ts";
import { askerOf, titleOf } from "./run-facts.ts";

/** As much of the list of runs as is loaded. */
export interface Loaded {
  /** From the last started on, without a gap. */
  readonly runs: readonly Run[];
  /** Running ones that are older than those. */
  readonly running: readonly Run[];
  /** The `before` of what follows; null when all is loaded. */
  readonly next: string | null;
  readonly total: number;
}

/** The order of the list: the last started first, then by name, the greatest first. */
export function compareRuns(a: Run, b: Run): number {
  return b.startedAt - a.startedAt || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
}

/** `loaded` with the page that its `next` led to. */
export function withPage(loaded: Loaded, { runs, next, total }: RunPage): Loaded {
  const known = new Set(loaded.runs.map(({ name }) => name));
  const more = runs.filter(({ name }) => !known.has(name));
  return { ...loaded, runs: [...loaded.runs, ...more], next, total };
}

/**
 * `loaded` with its beginning as `page` has it now. Undefined when that does not tell how the rest stands: there is a gap
 * between the two, or `changed` (undefined: anything) names a run that is loaded and is not in the page.
 */
export function withStart(loaded: Loaded, page: Loaded, changed: readonly string[] | undefined): Loaded | undefined {
  const last = page.runs.at(-1);
  if (page.next === null || last === undefined) return kept(loaded, page);
  const rest = loaded.runs.filter((run) => compareRuns(run, last) > 0);
  if (rest.length === 0) return kept(loaded, page);
  if (changed === undefined || !loaded.runs.some((run) => compareRuns(run, last) <= 0)) return undefined;
  const told = new Set(changed);
  if (rest.some(({ name }) => told.has(name))) return undefined;
  return kept(loaded, { ...page, runs: [...page.runs, ...rest], next: loaded.next });
}

/** `now`, with the very objects of `before` for runs that are what they were, so that only what changed is drawn anew. */
export function kept(before: Loaded | undefined, now: Loaded): Loaded {
  if (before === undefined) return now;
  const known = new Map([...before.running, ...before.runs].map((run) => [run.name, run]));
  const same = (run: Run): Run => {
    const was = known.get(run.name);
    return was !== undefined && JSON.stringify(was) === JSON.stringify(run) ? was : run;
  };
  return { ...now, runs: now.runs.map(same), running: now.running.map(same) };
}

/** The runs that `filter` lets through: running ones first, then the others, each from the last started on. */
export function chosen(
  { runs, running }: Loaded,
  filter: RunsFilter,
): { running: readonly Run[]; ended: readonly Run[] } {
  const names = new Set(runs.map(({ name }) => name));
  const all = [...runs, ...running.filter(({ name }) => !names.has(name))].filter((run) => isChosen(run, filter));
  return {
    running: all.filter(({ status }) => status === "running").sort(compareRuns),
    // A run that is only known as running may have ended since; it stands in its place once that is loaded.
    ended: all.filter(({ status }) => status !== "running").sort(compareRuns),
  };
}

/** Whether the filter leaves anything out. */
export function isNarrowed({ status, agent, job, q }: RunsFilter): boolean {
  return [status, agent, job, q].some((value) => value !== undefined);
}

function isChosen(run: Run, { status, agent, job, q }: RunsFilter): boolean {
  if (status !== undefined && run.status !== status) return false;
  if (agent !== undefined && run.agent !== agent) return false;
  if (job !== undefined && run.job !== job) return false;
  if (q === undefined) return true;
  const text = [titleOf(run), run.task, run.name, run.last, run.model, run.workdir, run.job, askerOf(run)]
    .join("\n")
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
