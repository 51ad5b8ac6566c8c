import { Breather } from "../platform/breather.ts";
import type { SessionId } from "../transcript/names.ts";
import { frozenRow } from "./frozen-row.ts";
import type { Listed } from "./store.ts";

/** A row as its store gave it, and the frozen copy that everyone sees. */
interface Held {
  readonly given: Listed;
  readonly shown: Listed;
}

/** What one store has listed: by id, and in the order of lists. Never changed, only replaced. */
export interface Shelf {
  /** The store's list as it gave it. */
  readonly given: readonly Listed[];
  readonly held: ReadonlyMap<SessionId, Held>;
  readonly sorted: readonly Listed[];
}

/** A shelf before the store was asked. */
export const EMPTY_SHELF: Shelf = { given: [], held: new Map(), sorted: [] };

/** What a new list made of a shelf. */
export interface Restocked {
  readonly shelf: Shelf;
  /** The rows that were added, removed or are shown differently; those that are there newest first, then the removed. */
  readonly changed: readonly SessionId[];
}

/** How many rows are looked at between two breaths. */
const STRIDE = 256;

/**
 * The shelf with the rows of a store's new list in place of the old. Rows that are the same objects as last time cost
 * next to nothing, so a store that keeps its rows makes this cheap. Of two rows with one id the newer counts.
 */
export async function restocked(shelf: Shelf, given: readonly Listed[]): Promise<Restocked> {
  if (given.length === shelf.given.length && given.every((row, i) => row === shelf.given[i])) {
    return { shelf, changed: [] };
  }
  const breather = new Breather();
  const held = await heldRows(shelf, given, breather);
  const fresh: Listed[] = [];
  let known = 0;
  for (const [id, { shown }] of held) {
    if ((fresh.length + known) % STRIDE === 0) await breather.pause();
    const before = shelf.held.get(id);
    if (before !== undefined) known++;
    if (before?.shown !== shown) fresh.push(shown);
  }
  const removed = known === shelf.held.size ? [] : [...shelf.held.keys()].filter((id) => !held.has(id));
  if (fresh.length === 0 && removed.length === 0) return { shelf: { given, held, sorted: shelf.sorted }, changed: [] };
  const added = await sortedRows(fresh, breather);
  const changed = [...added.map((row) => row.id), ...removed];
  const moved = new Set(changed);
  const kept = shelf.sorted.filter((row) => !moved.has(row.id));
  return { shelf: { given, held, sorted: mergedRows(kept, added) }, changed };
}

/** The order of every list: the last updated first, then by agent and by id. */
export function compareRows(
  a: Pick<Listed, "updatedAt" | "agent" | "id">,
  b: Pick<Listed, "updatedAt" | "agent" | "id">,
): number {
  return b.updatedAt - a.updatedAt || compareTexts(a.agent, b.agent) || compareTexts(a.id, b.id);
}

/** Two lists in order as one. */
export function mergedRows(a: readonly Listed[], b: readonly Listed[]): readonly Listed[] {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  if (b.length > FEW) return mergedOneByOne(a, b);
  const pieces: (readonly Listed[])[] = [];
  let start = 0;
  for (const row of b) {
    const end = placeIn(a, (each) => compareRows(each, row) > 0);
    pieces.push(a.slice(start, end), [row]);
    start = end;
  }
  return ([] as Listed[]).concat(...pieces, a.slice(start));
}

/** The index of the first row that is `behind` a place in a sorted list. */
export function placeIn<T>(rows: readonly T[], behind: (row: T) => boolean): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (behind(rows[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** So few rows are put between others by copying what lies between them in one go. */
const FEW = 64;

function mergedOneByOne(a: readonly Listed[], b: readonly Listed[]): readonly Listed[] {
  const merged: Listed[] = [];
  let next = 0;
  for (const row of a) {
    for (let other = b[next]; other !== undefined && compareRows(other, row) < 0; other = b[next]) {
      merged.push(other);
      next++;
    }
    merged.push(row);
  }
  return merged.concat(b.slice(next));
}

async function heldRows(
  shelf: Shelf,
  given: readonly Listed[],
  breather: Breather,
): Promise<ReadonlyMap<SessionId, Held>> {
  const held = new Map<SessionId, Held>();
  let steps = 0;
  for (const row of given) {
    if (steps++ % STRIDE === 0) await breather.pause();
    const twin = held.get(row.id);
    if (twin === undefined || compareRows(row, twin.shown) < 0) held.set(row.id, heldAs(row, shelf.held.get(row.id)));
  }
  return held;
}

/** A row that says the same as before is shown as the same object. */
function heldAs(given: Listed, before: Held | undefined): Held {
  if (before === undefined) return { given, shown: frozenRow(given) };
  if (before.given === given) return before;
  return { given, shown: saysTheSame(given, before.shown) ? before.shown : frozenRow(given) };
}

function saysTheSame(a: Listed, b: Listed): boolean {
  return (
    a.updatedAt === b.updatedAt &&
    a.bytes === b.bytes &&
    a.title === b.title &&
    a.cwd === b.cwd &&
    a.startedAt === b.startedAt &&
    a.branch === b.branch &&
    a.model === b.model &&
    a.agent === b.agent &&
    a.parent === b.parent &&
    a.live?.pid === b.live?.pid &&
    a.live?.activity === b.live?.activity &&
    a.resume?.cwd === b.resume?.cwd &&
    a.resume?.command.join("\0") === b.resume?.command.join("\0")
  );
}

const SORT_AT_ONCE = 2_048;

/** Sorts in pieces, so that a first list of tens of thousands does not hold the thread. */
async function sortedRows(rows: readonly Listed[], breather: Breather): Promise<readonly Listed[]> {
  let pieces: (readonly Listed[])[] = [];
  for (let start = 0; start < rows.length; start += SORT_AT_ONCE) {
    pieces.push(rows.slice(start, start + SORT_AT_ONCE).sort(compareRows));
    await breather.pause();
  }
  while (pieces.length > 1) {
    const pairs: (readonly Listed[])[] = [];
    for (let i = 0; i < pieces.length; i += 2) {
      pairs.push(mergedRows(pieces[i] ?? [], pieces[i + 1] ?? []));
      await breather.pause();
    }
    pieces = pairs;
  }
  return pieces[0] ?? [];
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
