import { Failure } from "../platform/failure.ts";

/** Runs in one page, unless asked otherwise, and at most. */
export const RUN_LIMIT = 50;
/** The most runs in one page. */
export const RUN_LIMIT_MOST = 500;

/** What orders a run among the others. */
export interface RunKey {
  readonly startedAt: number;
  readonly name: string;
}

/** A place in the list of runs: behind a run, or (a time alone) behind all runs of that time. */
export interface RunCursor {
  readonly startedAt: number;
  readonly name?: string;
}

/** A part of the list of runs. */
export interface KeyPage<K extends RunKey> {
  readonly keys: readonly K[];
  /** The `before` of the page after this one; null at the end. */
  readonly next: string | null;
}

/** Reads `<startedAt>:<name>`, or a time in ms alone, which means strictly older. @throws Failure bad-request */
export function parseRunCursor(text: string): RunCursor {
  const [, time, name] = /^(0|-?[1-9]\d{0,15})(?::([^/\p{Cc}]{1,255}))?$/u.exec(text) ?? [];
  // A page may end with one that claims to be older than 1970; nobody means such a time alone.
  const startedAt = Number(time ?? Number.NaN);
  if (!Number.isSafeInteger(startedAt) || (startedAt < 0 && name === undefined)) {
    throw new Failure("bad-request", "before must be the next of an earlier page, or a time in milliseconds");
  }
  return { startedAt, ...(name !== undefined && { name }) };
}

/** The order of every list of runs: the last started first, then by name, the greatest first. */
export function compareRuns(a: RunKey, b: RunKey): number {
  return b.startedAt - a.startedAt || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
}

/** At most `limit` of `sorted` from behind `before` on. */
export function keyPage<K extends RunKey>(
  sorted: readonly K[],
  before: RunCursor | undefined,
  limit: number,
): KeyPage<K> {
  const start = before === undefined ? 0 : placeBehind(sorted, before);
  const keys = sorted.slice(start, start + limit);
  const last = keys.at(-1);
  return { keys, next: last === undefined || start + limit >= sorted.length ? null : formatRunCursor(last) };
}

function placeBehind(sorted: readonly RunKey[], { startedAt, name }: RunCursor): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = sorted[middle] as RunKey;
    const behind = name === undefined ? key.startedAt < startedAt : compareRuns({ startedAt, name }, key) < 0;
    if (behind) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The `before` that goes on behind a run. */
export function formatRunCursor({ startedAt, name }: RunKey): string {
  return `${startedAt}:${name}`;
}
