import type { Clock } from "../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf } from "../platform/files.ts";
import type { Cursor } from "../transcript/cursor.ts";
import { type Item, type Page, pageItems } from "../transcript/item.ts";
import { PAGE_BYTES, PAGE_PARTS } from "../transcript/limits.ts";
import type { Budget, Edition, EntryPage, Provenance, SessionRef, Store } from "./store.ts";

/** How much one read of a chat consumes at most. */
export const PAGE_BUDGET: Budget = { bytes: PAGE_BYTES, parts: PAGE_PARTS };

/** A page of a chat, and what it was made from. */
export interface ReadPage extends Provenance, Edition {
  readonly page: Page;
}

/** A file may change twice within its time stamp's grain, so what was read this soon after a change is not kept. */
const YOUNG_MS = 50;
const MOST_PAGES = 256;
/** Characters of all pages kept together. */
const MOST_CHARACTERS = 1_500_000;

interface Held {
  /** Counts the reads; which of two began first. */
  readonly begun: number;
  readonly read: Promise<ReadPage>;
  /** Set when the read is done. */
  done?: { readonly at: number; readonly lasting: boolean; readonly characters: number };
}

/**
 * Reads chats for many at once: whoever asks for the page at the same cursor while the files are unchanged gets the page
 * that was read for the first of them, the very same object. Unchanged costs one stat a file.
 */
export class Pages {
  readonly #clock: Clock;
  /** By chat and cursor, the least lately used first. */
  readonly #held = new Map<string, Held>();
  #characters = 0;
  #begun = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The page of the chat at `from`. @throws Failure as `Store.entries` does */
  async from(store: Store, ref: SessionRef, from: Cursor): Promise<ReadPage> {
    const key = `${ref.agent}/${ref.id}/${ref.child ?? ""}/${ref.reading ?? ""}@${from}`;
    const begunBefore = this.#begun;
    for (let held = this.#held.get(key); held !== undefined; held = this.#held.get(key)) {
      const read = await held.read.catch(() => undefined);
      if (read !== undefined && (held.begun > begunBefore || this.#stillHolds(held, read)))
        return this.#used(key, held);
      if (this.#held.get(key) === held) break;
    }
    return await this.#read(key, store, ref, from);
  }

  async #read(key: string, store: Store, ref: SessionRef, from: Cursor): Promise<ReadPage> {
    this.#drop(key);
    const held: Held = { begun: ++this.#begun, read: store.entries(ref, from, PAGE_BUDGET).then(readPageOf) };
    this.#held.set(key, held);
    try {
      const read = await held.read;
      const at = this.#clock.now();
      const characters = charactersOf(read.page.items);
      held.done = { at, lasting: isLasting(read, at), characters };
      if (this.#held.get(key) === held) this.#characters += characters;
      // The next read at this cursor must find it fitting, since by this page it was given for the new file.
      if (read.page.reset && this.#held.get(key) === held) this.#drop(key);
      this.#trim();
      return read;
    } catch (error) {
      if (this.#held.get(key) === held) this.#drop(key);
      throw error;
    }
  }

  #stillHolds({ done }: Held, { uses }: ReadPage): boolean {
    if (done === undefined) return false;
    const age = this.#clock.now() - done.at;
    return (done.lasting || (age >= 0 && age <= YOUNG_MS)) && uses.every(isUnchanged);
  }

  #used(key: string, held: Held): Promise<ReadPage> {
    if (this.#held.get(key) === held) {
      this.#held.delete(key);
      this.#held.set(key, held);
    }
    return held.read;
  }

  #drop(key: string): void {
    this.#characters -= this.#held.get(key)?.done?.characters ?? 0;
    this.#held.delete(key);
  }

  #trim(): void {
    for (const key of this.#held.keys()) {
      if (this.#held.size <= MOST_PAGES && this.#characters <= MOST_CHARACTERS) return;
      this.#drop(key);
    }
  }
}

function readPageOf(read: EntryPage): ReadPage {
  const { next, reset, uses, settled, edition } = read;
  const page = { items: pageItems(read), next, ...(reset && { reset }) };
  return { page, uses, settled, ...(edition !== undefined && { edition }) };
}

/** Whether equal stamps will mean an equal page. */
function isLasting({ uses, settled }: ReadPage, now: number): boolean {
  return settled && uses.length > 0 && uses.every((stamp) => now - Number(stamp.mtimeNs / 1_000_000n) > YOUNG_MS);
}

function isUnchanged(stamp: FileStamp): boolean {
  const now = stampOf(stamp.path);
  return now !== undefined && sameStamp(stamp, now);
}

const ITEM_CHARACTERS = 200;

function charactersOf(items: readonly Item[]): number {
  let sum = 0;
  for (const { text = "", summary = "" } of items) sum += text.length + summary.length + ITEM_CHARACTERS;
  return sum;
}
