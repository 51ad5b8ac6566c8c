/** What stands in lists that begin with what was updated last. Times in ms. */
export interface Dated {
  readonly updatedAt: number;
}

/** A list that was brought up to date. */
export interface Merged<T> {
  readonly rows: readonly T[];
  /** The keys of those that are new, or stand further up than before. */
  readonly moved: readonly string[];
}

/** Rows that were updated within this time of each other stay in their order, so that busy sessions do not take turns at the top. */
const CALM_MS = 60_000;

/**
 * `rows` with the first page of what the list is now (`whole`: there is no other page): what was updated moves up, what is
 * gone is left out, nothing stands twice. Undefined when there may be rows between the page and `rows` that are in neither.
 */
export function mergeFirstPage<T extends Dated>(
  rows: readonly T[],
  page: readonly T[],
  whole: boolean,
  keyOf: (row: T) => string,
): Merged<T> | undefined {
  const last = page.at(-1);
  const newest = rows.reduce((most, { updatedAt }) => Math.max(most, updatedAt), Number.NEGATIVE_INFINITY);
  if (!whole && last !== undefined && last.updatedAt > newest) return undefined;
  const fresh = new Map(page.map((row) => [keyOf(row), row]));
  // Whatever was updated after the page's last would stand in it.
  const isBehind = (row: T): boolean => !whole && last !== undefined && row.updatedAt <= last.updatedAt;
  const merged = rows.flatMap((row) => fresh.get(keyOf(row)) ?? (isBehind(row) ? row : []));
  const known = new Set(merged.map(keyOf));
  const moved: string[] = [];
  for (const row of [...page].reverse()) {
    const key = keyOf(row);
    if (known.has(key) ? raise(merged, row) : insert(merged, row)) moved.push(key);
  }
  return { rows: merged, moved };
}

/** Moves `row` above the first that is older by more than a moment; whether it moved. */
function raise<T extends Dated>(rows: T[], row: T): boolean {
  const was = rows.indexOf(row);
  const place = rows.findIndex(({ updatedAt }) => updatedAt < row.updatedAt - CALM_MS);
  if (place === -1 || place >= was) return false;
  rows.splice(was, 1);
  rows.splice(place, 0, row);
  return true;
}

function insert<T extends Dated>(rows: T[], row: T): boolean {
  const place = rows.findIndex(({ updatedAt }) => updatedAt < row.updatedAt);
  rows.splice(place === -1 ? rows.length : place, 0, row);
  return true;
}

/** `rows` in the order that they have, each as `latest` has it, without those that `latest` has not. */
export function inPlace<T>(rows: readonly T[], latest: readonly T[], keyOf: (row: T) => string): readonly T[] {
  const known = new Map(latest.map((row) => [keyOf(row), row]));
  return rows.flatMap((row) => known.get(keyOf(row)) ?? []);
}

/** `rows` and behind them those of `more` that they have not. */
export function appended<T>(rows: readonly T[], more: readonly T[], keyOf: (row: T) => string): readonly T[] {
  const known = new Set(rows.map(keyOf));
  return [...rows, ...more.filter((row) => !known.has(keyOf(row)))];
}
