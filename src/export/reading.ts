import { setTimeout as pause } from "node:timers/promises";
import { parseJsonlCursor } from "../jsonl/cursor.ts";
import { Failure } from "../platform/failure.ts";
import { PAGE_BUDGET } from "../stores/pages.ts";
import type { Budget, SessionRef, Store } from "../stores/store.ts";
import { type Cursor, START } from "../transcript/cursor.ts";
import type { Entry } from "../transcript/entry.ts";
import { EXPORT_RECORD_BYTES, SETTLE_MS } from "../transcript/limits.ts";
import { HeldEntries } from "./held-entries.ts";

/** The file was replaced while it was read, so that what was read of it is of another chat. */
export class ReplacedWhileRead extends Failure {
  constructor() {
    super("conflict", "this transcript is being replaced again and again: try again in a moment");
  }
}

/** How often a chat is asked for a call's subagent that has not begun to write: ms. */
const RETRY_MS = 250;

/**
 * All entries of a chat as it is now, in its order, each once and as it has come to be; also those of records that are too
 * long for a page. @throws ReplacedWhileRead · Failure as the store does · the signal's reason
 */
export async function* wholeChat(
  store: Store,
  ref: SessionRef,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Entry[], void> {
  const held = new HeldEntries();
  const end = await endOf(store, ref);
  let patience = SETTLE_MS / RETRY_MS;
  for (let from = START; ; ) {
    signal?.throwIfAborted();
    const page = await store.entries(ref, from, PAGE_BUDGET);
    if (page.reset) throw new ReplacedWhileRead();
    held.add(await withLongRecords(store, ref, page.entries));
    yield held.take("more");
    if (end !== undefined && offsetOf(page.next) >= end) break;
    if (page.next !== from) {
      from = page.next;
      continue;
    }
    // A page ends before a young call whose subagent is not there yet; behind it there may be more.
    if (page.settled || page.entries.length > 0 || patience-- <= 0) break;
    await pause(RETRY_MS, undefined, signal && { signal });
  }
  yield held.take("end");
}

/** Where a file ends now, in bytes: who writes faster than is read would never be caught up with. */
async function endOf(store: Store, ref: SessionRef): Promise<number | undefined> {
  const { next, settled } = await store.before(ref, "tail", TAIL_BUDGET);
  // What is not settled ends before a call whose subagent is yet to come.
  return isOfFile(next) && settled ? offsetOf(next) : undefined;
}

/** Only where it ends is asked. */
const TAIL_BUDGET: Budget = { bytes: 64 * 1024, parts: 1 };

function isOfFile(cursor: Cursor): boolean {
  return cursor.startsWith("j:");
}

function offsetOf(cursor: Cursor): number {
  return isOfFile(cursor) ? parseJsonlCursor(cursor).offset : 0;
}

/** The entries of a page, with all that the records say which were too long for it. */
async function withLongRecords(store: Store, ref: SessionRef, entries: readonly Entry[]): Promise<readonly Entry[]> {
  const long = new Set(entries.filter(isTooLong).map(({ pos }) => pos));
  if (long.size === 0) return entries;
  const whole: Entry[] = [];
  for (const entry of entries) {
    if (!long.has(entry.pos)) whole.push(entry);
    else if (isTooLong(entry)) whole.push(...(await longRecord(store, ref, entry)));
  }
  return whole;
}

function isTooLong(entry: Entry): boolean {
  return entry.kind === "marker" && entry.marker === "oversized";
}

/** The record itself; one that can't be read, or is longer still, is named in its place. */
async function longRecord(store: Store, ref: SessionRef, marker: Entry): Promise<readonly Entry[]> {
  try {
    return await store.record(ref, marker.pos, EXPORT_RECORD_BYTES);
  } catch (error) {
    if (error instanceof Failure) return [marker];
    throw error;
  }
}
