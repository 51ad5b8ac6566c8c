import { setTimeout as pause } from "node:timers/promises";
import { parseJsonlCursor } from "../jsonl/cursor.ts";
import { Failure } from "../platform/failure.ts";
import { pushTo } from "../platform/push-to.ts";
import { PAGE_BUDGET } from "../stores/pages.ts";
import type { Budget, FarCall, SessionRef, Store } from "../stores/store.ts";
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
  const long = await LongRecords.of(store, ref);
  const end = await endOf(store, ref);
  let patience = SETTLE_MS / RETRY_MS;
  for (let from = START; ; ) {
    signal?.throwIfAborted();
    const page = await store.entries(ref, from, PAGE_BUDGET);
    if (page.reset) throw new ReplacedWhileRead();
    held.add(await long.whole(page.entries));
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

/**
 * Puts in the place of entries that stand for a record (it is too long for a page, or the agent keeps the rest of it elsewhere)
 * what the record says.
 */
class LongRecords {
  readonly #store: Store;
  readonly #ref: SessionRef;
  /** Calls that came with their output, which the record of the output need not tell again. */
  readonly #answered = new Set<string>();
  /** Calls whose records lie too far apart for pages, by the place of the first; and their ids, once they were told. */
  readonly #far: ReadonlyMap<Cursor, FarCall>;
  /** By call id: from where to where their records stand, in bytes. */
  readonly #stretches = new Map<string, { readonly first: number; readonly last: number }[]>();
  readonly #told = new Set<Cursor>();

  private constructor(store: Store, ref: SessionRef, far: ReadonlyMap<Cursor, FarCall>) {
    this.#store = store;
    this.#ref = ref;
    this.#far = far;
    for (const [first, { callId, last }] of far) {
      pushTo(this.#stretches, callId, { first: offsetOf(first), last: offsetOf(last) });
    }
  }

  /** @throws Failure not-found */
  static async of(store: Store, ref: SessionRef): Promise<LongRecords> {
    return new LongRecords(store, ref, (await store.farCalls?.(ref)) ?? new Map());
  }

  async whole(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const long = new Set(entries.filter(standsForMore).map(({ pos }) => pos));
    if (long.size === 0 && this.#answered.size === 0 && this.#far.size === 0) return entries;
    const whole: Entry[] = [];
    const replaced = new Set<Cursor>();
    const tell = async (entry: Entry): Promise<void> => {
      if (entry.kind === "tool-call" && this.#far.has(entry.pos)) whole.push(...(await this.#farCall(entry)));
      else if (!this.#isTold(entry)) whole.push(entry);
    };
    for (const entry of entries) {
      if (long.delete(entry.pos)) {
        const record = await this.#record(entry.pos);
        if (record !== undefined) {
          replaced.add(entry.pos);
          for (const one of record) await tell(one);
        }
      }
      if (!replaced.has(entry.pos)) await tell(entry);
    }
    return whole;
  }

  /** Whether it tells what a call that is told whole, where it begins, tells as well. */
  #isTold(entry: Entry): boolean {
    if ((entry.kind !== "tool-call" && entry.kind !== "tool-result") || entry.callId === undefined) return false;
    // An output that names its call is another one: a recording may tell several of one call.
    if (entry.kind === "tool-result" && entry.of !== undefined) return false;
    const at = offsetOf(entry.pos);
    const stretches = this.#stretches.get(entry.callId) ?? [];
    if (stretches.some(({ first, last }) => at > first && at <= last)) return true;
    return entry.kind === "tool-result" && this.#answered.has(entry.callId);
  }

  async #farCall(entry: Entry): Promise<readonly Entry[]> {
    if (this.#told.has(entry.pos)) return [];
    this.#told.add(entry.pos);
    return [(await this.#store.farCall?.(this.#ref, entry.pos, EXPORT_RECORD_BYTES)) ?? entry];
  }

  /** All that the record says; undefined where it can't be read, so that what the page says of it stays. */
  async #record(pos: Cursor): Promise<readonly Entry[] | undefined> {
    try {
      const entries = await this.#store.record(this.#ref, pos, EXPORT_RECORD_BYTES);
      for (const one of entries) {
        if (one.kind === "tool-call" && one.output !== undefined && one.callId) this.#answered.add(one.callId);
      }
      return entries;
    } catch (error) {
      if (error instanceof Failure) return undefined;
      throw error;
    }
  }
}

function standsForMore(entry: Entry): boolean {
  switch (entry.kind) {
    case "user":
      return entry.goesFarBack === true;
    case "marker":
      return entry.marker === "oversized";
    default:
      return entry.kind === "tool-result" && entry.isPreview === true;
  }
}
