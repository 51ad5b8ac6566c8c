import { isDeepStrictEqual } from "node:util";
import { Breather } from "../platform/breather.ts";
import type { SessionId } from "../transcript/names.ts";
import type { Listed } from "./store.ts";

/** A row as its store gave it, and the frozen copy that everyone sees. */
interface Held {
  readonly given: Listed;
  readonly shown: Listed;
}

/** What one store has listed: by id, and in the order of lists. Never changed, only replaced. */
export interface Shelf {
  readonly held: ReadonlyMap<SessionId, Held>;
  readonly sorted: readonly Listed[];
}

/** A shelf before the store was asked. */
export const EMPTY_SHELF: Shelf = { held: new Map(), sorted: [] };

/** What a new list made of a shelf. */
export interface Restocked {
  readonly shelf: Shelf;
  /** The rows that were added, removed or are shown differently; those that are there newest first, then the removed. */
  readonly changed: readonly SessionId[];
}

/** How many rows are looked at between two breaths. */
const STRIDE = 256;

/**
 * The shelf with the rows of a store's new list in place of the old. A row that is the same object as last time costs
 * one comparison, so a store that keeps its rows makes this cheap. Of two rows with one id the newer counts.
 */
export async function restocked(shelf: Shelf, given: readonly Listed[]): Promise<Restocked> {
  const breather = new Breather();
  const held = new Map<SessionId, Held>();
  const fresh: Listed[] = [];
  let steps = 0;
  for (const row of (await newestById(given, breather)).values()) {
    if (steps++ % STRIDE === 0) await breather.pause();
    const before = shelf.held.get(row.id);
    const now = before !== undefined && before.given === row ? before : heldAs(row, before);
    held.set(row.id, now);
    if (now.shown !== before?.shown) fresh.push(now.shown);
  }
  const removed = await missing(shelf, held, breather);
  if (fresh.length === 0 && removed.length === 0) return { shelf: { held, sorted: shelf.sorted }, changed: [] };
  const added = await sortedRows(fresh, breather);
  const changed = [...added.map((row) => row.id), ...removed];
  const moved = new Set(changed);
  const kept = shelf.sorted.filter((row) => !moved.has(row.id));
  return { shelf: { held, sorted: mergedRows(kept, added) }, changed };
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
  const merged: Listed[] = [];
  let next = 0;
  for (const row of a) {
    for (let other = b[next]; other !== undefined && compareRows(other, row) < 0; other = b[next]) {
      merged.push(other);
      next++;
    }
    merged.push(row);
  }
  for (; next < b.length; next++) merged.push(b[next] as Listed);
  return merged;
}

async function newestById(given: readonly Listed[], breather: Breather): Promise<ReadonlyMap<SessionId, Listed>> {
  const newest = new Map<SessionId, Listed>();
  let steps = 0;
  for (const row of given) {
    if (steps++ % STRIDE === 0) await breather.pause();
    const twin = newest.get(row.id);
    if (twin === undefined || compareRows(row, twin) < 0) newest.set(row.id, row);
  }
  return newest;
}

/** A row that is a new object; when it says the same as before, what is shown stays the same object. */
function heldAs(given: Listed, before: Held | undefined): Held {
  const shown = frozenRow(given);
  return { given, shown: before !== undefined && isDeepStrictEqual(shown, before.shown) ? before.shown : shown };
}

async function missing(shelf: Shelf, held: ReadonlyMap<SessionId, Held>, breather: Breather): Promise<SessionId[]> {
  const removed: SessionId[] = [];
  let steps = 0;
  for (const id of shelf.held.keys()) {
    if (steps++ % STRIDE === 0) await breather.pause();
    if (!held.has(id)) removed.push(id);
  }
  return removed;
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

/** A copy that nobody can change, with the fields of the contract alone: a store may keep more on its rows. */
function frozenRow(row: Listed): Listed {
  return Object.freeze({
    agent: row.agent,
    id: row.id,
    title: row.title,
    cwd: row.cwd,
    ...(row.branch !== undefined && { branch: row.branch }),
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    ...(row.bytes !== undefined && { bytes: row.bytes }),
    ...(row.model !== undefined && { model: row.model }),
    ...(row.parent !== undefined && { parent: row.parent }),
    ...(row.live !== undefined && { live: Object.freeze({ ...row.live }) }),
    ...(row.resume !== undefined && {
      resume: Object.freeze({ command: Object.freeze([...row.resume.command]), cwd: row.resume.cwd }),
    }),
  });
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
