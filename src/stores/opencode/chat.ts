import type { Clock } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { PAGE_BYTES, SETTLE_MS } from "../../transcript/limits.ts";
import type { Budget, EntryPage, EntryPageBefore } from "../store.ts";
import type { ChatRows, PageNeed, Unit } from "./chat-rows.ts";
import { formatOpenCodeCursor, HISTORY_START, type OpenCodeCursor, parseOpenCodeCursor, positionOf } from "./cursor.ts";
import type { ChatFile, ChatRead } from "./place.ts";

/** A file written this recently may be written again in the same millisecond: ms. */
const YOUNG_MS = 50;
/** A row's time lies so far ahead of the clock that it says nothing: ms. */
const AHEAD_MS = 60_000;

type UpdatesCursor = Extract<OpenCodeCursor, { phase: "updates" }>;

/** A stretch of a chat, read in one step. */
interface Stretch {
  readonly units: readonly Unit[];
  readonly entries: readonly Entry[];
  /** The row behind it (forward) or its first one (backward); undefined at the end (start) of the chat. */
  readonly border: string | undefined;
  readonly revert: string | undefined;
}

/** Enough for the first row alone, without its contents. */
const FIRST_ROW: PageNeed = { parts: 1, bytes: 0, mostBytes: 0 };

const NOTHING: Stretch = { units: [], entries: [], border: undefined, revert: undefined };

/**
 * The entries from `from` on. History comes in conversation order, then updates in the order of their times, those of one
 * page in conversation order, since what is new in it is appended to what is shown. Rows are
 * given at once, but `next` passes only those older than 5 seconds, since one may be updated again in the same
 * millisecond, or committed late: so a row may come again, under its id.
 * @throws Failure bad-request for another store's cursor, not-found when the session is gone
 */
export async function entriesFrom(chat: ChatFile, from: Cursor, budget: Budget, clock: Clock): Promise<EntryPage> {
  const cursor = parseOpenCodeCursor(from);
  const page = await pageFrom(chat, cursor, budget, clock);
  if (page !== undefined) return page;
  const first = await pageFrom(chat, HISTORY_START, budget, clock);
  if (first === undefined) throw new Failure("not-found", "no such transcript");
  return { ...first, reset: true };
}

/** The entries that end at `before`; more than one page's worth is looked at until one of them shows something. */
export async function entriesBefore(
  chat: ChatFile,
  before: Cursor | "tail",
  budget: Budget,
  clock: Clock,
): Promise<EntryPageBefore> {
  const cursor = before === "tail" ? undefined : parseOpenCodeCursor(before);
  if (cursor?.phase === "history" && cursor.id === undefined) return atStart(chat, cursor);
  const named = cursor?.phase === "history" ? cursor.id : undefined;
  const now = clock.now();
  const read = await chat.read((rows) => {
    const fitting = backward(rows, named, budget);
    return { fits: fitting !== undefined, ...(fitting ?? backward(rows, undefined, budget) ?? NOTHING) };
  });
  const { fits, units, entries, border } = read.value;
  const prev = border === undefined ? null : positionOf(border);
  if (named !== undefined && fits) {
    return { entries, next: positionOf(named), prev, uses: read.uses, settled: areSettled(units, now) };
  }
  const end = await endOfHistory(chat, sinceOf(read, now), read, read.value, now);
  const settled = end.settled && areSettled(units, now);
  return { entries, next: end.next, prev, uses: read.uses, settled, ...(!fits && { reset: true as const }) };
}

/** The entries of the row at `pos`, also of one that is too large for a page, up to `mostBytes`. @throws Failure not-found */
export async function entriesAt(chat: ChatFile, pos: Cursor, mostBytes: number): Promise<readonly Entry[]> {
  const { id } = parseOpenCodeCursor(pos);
  const { value } = await chat.read((rows) => {
    const units = id === undefined ? (rows.forward(undefined, FIRST_ROW) ?? []).slice(0, 1) : rows.named([id]);
    return units.length === 0 ? undefined : rows.entries(units, mostBytes);
  });
  if (value === undefined) throw new Failure("not-found", "this transcript has no such record");
  return value;
}

function pageFrom(
  chat: ChatFile,
  cursor: OpenCodeCursor,
  budget: Budget,
  clock: Clock,
): Promise<EntryPage | undefined> {
  return cursor.phase === "history"
    ? historyPage(chat, cursor, budget, clock)
    : updatesPage(chat, cursor, budget, clock);
}

/**
 * What a page tells of the updates behind a cursor, and where the next one goes on. What is younger than five seconds stays
 * before the cursor and is told again; only where a page does not hold it all, the cursor also says how far it was told
 * ahead. From there on it is told in turn, and once more when it is old enough: one told before may be another by then.
 */
function nextUpdates(
  updates: readonly Unit[],
  cursor: UpdatesCursor,
  budget: Budget,
  now: number,
): { readonly taken: readonly Unit[]; readonly next: OpenCodeCursor } {
  const { ahead } = cursor;
  const fresh = ahead === undefined ? updates : updates.filter((unit) => isBehind(unit, ahead));
  const told = updates.slice(0, updates.length - fresh.length);
  const again = settledPrefix(told, now);
  const page = pageOf([...fresh, ...again], budget);
  const taken = [...page.slice(fresh.length), ...page.slice(0, fresh.length)];
  const done = settledPrefix(
    updates.filter((unit, index) => unit === taken[index]),
    now,
  );
  const passed = done.at(-1);
  const base = withoutAhead(passed === undefined ? cursor : { ...cursor, since: passed.updated, id: passed.id });
  const isWhole = done.length === updates.length || (ahead === undefined && taken.length === updates.length);
  const last = page.slice(0, fresh.length).findLast((unit) => unit.updated <= now + AHEAD_MS);
  const reached = last === undefined ? ahead : { since: last.updated, id: last.id };
  const isAhead = !isWhole && reached !== undefined && isBehind({ updated: reached.since, id: reached.id }, base);
  return { taken, next: isAhead ? { ...base, ahead: reached } : base };
}

/** Undefined when the cursor's row is not shown any more. */
async function historyPage(
  chat: ChatFile,
  cursor: OpenCodeCursor,
  budget: Budget,
  clock: Clock,
): Promise<EntryPage | undefined> {
  const now = clock.now();
  const read = await chat.read((rows) => forward(rows, cursor.id, budget));
  if (read.value === undefined) return undefined;
  const { units, entries, border, revert } = read.value;
  const since = cursor.since === 0 ? sinceOf(read, now) : cursor.since;
  const settled = areSettled(units, now);
  if (border !== undefined) {
    const next = formatOpenCodeCursor({ phase: "history", id: border, since, revert });
    return { entries, next, uses: read.uses, settled };
  }
  const end = await endOfHistory(chat, since, read, read.value, now);
  return { entries, next: end.next, uses: read.uses, settled: settled && end.settled };
}

async function updatesPage(
  chat: ChatFile,
  cursor: UpdatesCursor,
  budget: Budget,
  clock: Clock,
): Promise<EntryPage | undefined> {
  const now = clock.now();
  const { units, uses } = await chat.updates(cursor.since);
  const updates = units.filter((unit) => isBehind(unit, cursor));
  const { taken, next } = nextUpdates(updates, cursor, budget, now);
  const read = await chat.read((rows) => {
    if (rows.revert !== cursor.revert) return undefined;
    if (cursor.id !== undefined && !rows.has(cursor.id)) return undefined;
    return rows.entries(rows.named(taken.map((unit) => unit.id)), oversizedAbove(budget));
  });
  if (read.value === undefined) return undefined;
  return { entries: read.value, next: formatOpenCodeCursor(next), uses, settled: areSettled(updates, now) };
}

/**
 * The cursor behind the history, whose last row is `last`: updates since the reading of it began are still to be told. When
 * nothing was written meanwhile they have all been told, and it stands behind those that are settled.
 */
async function endOfHistory(
  chat: ChatFile,
  since: number,
  read: ChatRead<unknown>,
  { revert, units }: Stretch,
  now: number,
): Promise<{ readonly next: Cursor; readonly settled: boolean }> {
  const told = since === sinceOf(read, now) && now - read.modified > YOUNG_MS;
  if (told && now - read.modified > SETTLE_MS + YOUNG_MS) {
    // All was told, and what is committed from now on was written after the files' last change: nobody needs to look for it.
    const end = { phase: "updates", since: read.modified + 1, id: units[units.length - 1]?.id, revert } as const;
    return { next: formatOpenCodeCursor(end), settled: true };
  }
  const { units: updates } = await chat.updates(since);
  const passed = told ? settledPrefix(updates, now).at(-1) : undefined;
  // A row that is gone later tells that the chat is not the one that was read. Before `since` all is settled.
  const last = passed ?? { updated: since - 1, id: units[units.length - 1]?.id };
  const next = formatOpenCodeCursor({ phase: "updates", since: last.updated, id: last.id, revert });
  return { next, settled: areSettled(updates, now) };
}

/**
 * What may have been updated unseen when a reading begins: whatever is committed from now on was written at most 5
 * seconds before, and all that is committed was written before the files changed last.
 */
function sinceOf({ modified }: ChatRead<unknown>, now: number): number {
  const written = Math.min(now, modified);
  // A commit in the very millisecond of this read can't be told from those before it, so this start is like no other.
  const unsure = now - modified > YOUNG_MS ? 0 : 1;
  return Math.max(1, written - SETTLE_MS - unsure);
}

function forward(rows: ChatRows, from: string | undefined, budget: Budget): Stretch | undefined {
  const units = rows.forward(from, needOf(budget));
  if (units === undefined) return undefined;
  const taken = pageOf(units, budget);
  const entries = rows.entries(taken, oversizedAbove(budget));
  return { units: taken, entries, border: units[taken.length]?.id, revert: rows.revert };
}

/** Stretches further back as long as nothing in it is shown. */
function backward(rows: ChatRows, to: string | undefined, budget: Budget): Stretch | undefined {
  let units: readonly Unit[] = [];
  let entries: Entry[] = [];
  for (let end = to; ; end = units[0]?.id) {
    const before = rows.backward(end, needOf(budget));
    if (before === undefined) return undefined;
    const taken = pageOf([...before].reverse(), budget).reverse();
    units = [...taken, ...units];
    entries = [...rows.entries(taken, oversizedAbove(budget)), ...entries];
    const atStart = taken.length === before.length;
    if (atStart || entries.some(isRead)) {
      return { units, entries, border: atStart ? undefined : units[0]?.id, revert: rows.revert };
    }
  }
}

/** Whether an entry is shown, and is more than the mark of a record that was stepped over. */
function isRead(entry: Entry): boolean {
  return toItem(entry) !== undefined && !(entry.kind === "marker" && entry.marker === "oversized");
}

/** The first of `units` that one page takes: at least one. What is oversized is not read and weighs nothing. */
function pageOf(units: readonly Unit[], budget: Budget): Unit[] {
  const limit = oversizedAbove(budget);
  let bytes = 0;
  let count = 0;
  for (const unit of units) {
    bytes += unit.bytes > limit ? 0 : unit.bytes;
    if (count > 0 && (bytes > budget.bytes || count >= budget.parts)) break;
    count++;
  }
  return units.slice(0, count);
}

function needOf(budget: Budget): PageNeed {
  return { parts: budget.parts, bytes: budget.bytes, mostBytes: oversizedAbove(budget) };
}

/** A row is oversized by its own size, however small the page, so that every way of paging tells the same. */
function oversizedAbove(budget: Budget): number {
  return Math.max(budget.bytes, PAGE_BYTES);
}

/** The first of the rows, in the order of their updates, that are all older than 5 seconds. */
function settledPrefix(units: readonly Unit[], now: number): readonly Unit[] {
  const young = units.findIndex((unit) => unit.updated > now - SETTLE_MS);
  return young < 0 ? units : units.slice(0, young);
}

function withoutAhead({ phase, since, id, revert }: UpdatesCursor): UpdatesCursor {
  return { phase, since, id, revert };
}

function areSettled(units: readonly Unit[], now: number): boolean {
  return units.every(({ updated }) => updated <= now - SETTLE_MS || updated > now + AHEAD_MS);
}

function isBehind(unit: Pick<Unit, "id" | "updated">, { since, id }: Pick<UpdatesCursor, "since" | "id">): boolean {
  return unit.updated > since || (unit.updated === since && (id === undefined || unit.id > id));
}

async function atStart(chat: ChatFile, cursor: OpenCodeCursor): Promise<EntryPageBefore> {
  const { uses } = await chat.read(() => undefined);
  return { entries: [], next: formatOpenCodeCursor(cursor), prev: null, uses, settled: true };
}
