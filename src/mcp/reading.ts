import type { Chat } from "../routes/follow.ts";
import { PAGE_BUDGET, type Pages } from "../stores/pages.ts";
import { clip } from "../transcript/clip.ts";
import type { Cursor } from "../transcript/cursor.ts";
import { type Item, toItems, UNCUT_LIMITS } from "../transcript/item.ts";
import { indexOf, markAt, type Place } from "./place.ts";
import { shown } from "./untrusted.ts";

/** What reading takes. */
export interface Reading {
  readonly chat: Pick<Chat, "store" | "ref">;
  readonly pages: Pages;
  /** Characters at most; one item is told whatever it takes, cut. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** A part of a chat, printable. */
export interface Part {
  readonly items: readonly Item[];
  /** Where what follows is read. */
  readonly next?: Place;
  /** Where what stands before is read; null at the start. */
  readonly prev?: Place | null;
  /** There is nothing more now: `next` is for what comes later. */
  readonly complete: boolean;
  readonly reset?: true;
}

/** What an item takes beside its texts: its heading. */
const ITEM_CHARACTERS = 100;

function sizeOf({ text = "", summary = "", tool = "", subagent }: Item): number {
  return text.length + summary.length + tool.length + (subagent?.title.length ?? 0) + ITEM_CHARACTERS;
}

/** Gathers items up to the limit. */
class Sheet {
  readonly items: Item[] = [];
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes the item to the end (or the start), if there is still room for it. */
  take(item: Item, end: "end" | "start" = "end"): boolean {
    const size = sizeOf(item);
    if (this.items.length > 0 && this.#used + size > this.#limit) return false;
    this.#used += size;
    const taken = size > this.#limit ? cutTo(item, this.#limit) : item;
    if (end === "end") this.items.push(taken);
    else this.items.unshift(taken);
    return true;
  }
}

function cutTo(item: Item, limit: number): Item {
  const { text, summary } = item;
  const half = Math.floor(limit / 2);
  return {
    ...item,
    ...(summary !== undefined && { summary: clip(summary, half).text }),
    ...(text !== undefined && { text: clip(text, Math.max(half, limit - (summary?.length ?? 0))).text }),
    cut: true,
  };
}

/** The items from a place on. @throws Failure as the store does · the signal's reason */
export async function readOn(reading: Reading, place: Extract<Place, { way: "on" }>): Promise<Part> {
  const { chat, pages, limit, signal } = reading;
  const sheet = new Sheet(limit);
  let { at, mark } = place;
  let reset = false;
  for (;;) {
    signal.throwIfAborted();
    const { page } = await pages.from(chat.store, chat.ref, at);
    // What was gathered is of a file that is not there any more.
    if (page.reset) sheet.items.length = 0;
    reset ||= page.reset === true;
    const items = shown(page.items);
    const first = mark === undefined || page.reset ? 0 : indexOf(items, mark) + 1;
    for (let index = first; index < items.length; index++) {
      const item = items[index];
      if (item === undefined || sheet.take(item)) continue;
      const next = { way: "on", at, mark: markAt(items, index - 1) } as const;
      return { items: sheet.items, next, complete: false, ...(reset && { reset }) };
    }
    mark = undefined;
    if (page.next === at)
      return { items: sheet.items, next: { way: "on", at }, complete: true, ...(reset && { reset }) };
    at = page.next;
  }
}

/** The items that end at a place: the last `count` of them, as far as there is room. @throws as `readOn` */
export async function readBack(
  { chat: { store, ref }, limit, signal }: Reading,
  place: Extract<Place, { way: "back" }>,
  count = Number.POSITIVE_INFINITY,
): Promise<Part> {
  const sheet = new Sheet(limit);
  let next: Place | undefined;
  let { mark } = place;
  let reset = false;
  const part = (prev: Place | null): Part => {
    const facts = { ...(next && { next }), ...(reset && { reset }) };
    return { items: sheet.items, prev, complete: next !== undefined, ...facts };
  };
  for (let at = place.at; ; ) {
    signal.throwIfAborted();
    const page = await store.before(ref, at, PAGE_BUDGET);
    if (place.at === "tail") next ??= { way: "on", at: page.next };
    const items = shown(toItems(page.entries));
    const marked = mark === undefined || page.reset ? -1 : indexOf(items, mark);
    const end = marked < 0 ? items.length : marked;
    // What was told up to a mark that is not there any more was of another file.
    reset ||= page.reset === true || (mark !== undefined && marked < 0);
    mark = undefined;
    for (let index = end - 1; index >= 0; index--) {
      const item = items[index];
      if (item !== undefined && sheet.items.length < count && sheet.take(item, "start")) continue;
      // Where the tail is moves on; where this page ended does not.
      return part({ way: "back", at: at === "tail" ? page.next : at, mark: markAt(items, index + 1) });
    }
    if (page.prev === null) return part(null);
    at = page.prev;
  }
}

/**
 * What one record shows, uncut, from the character `offset` of all its texts on. Whoever reads on gets the rest of a text
 * as an item of its own. @throws as `readOn`
 */
export async function readRecord({ chat: { store, ref }, limit }: Reading, at: Cursor, offset: number): Promise<Part> {
  const items = shown(toItems(await store.record(ref, at), UNCUT_LIMITS));
  const told: Item[] = [];
  let before = offset;
  let room = limit;
  for (const item of items) {
    const size = (item.summary?.length ?? 0) + (item.text?.length ?? 0);
    const isToldAlready = size > 0 ? before >= size : offset > 0;
    if (isToldAlready) before -= size;
    else {
      const summary = pieceOf(item.summary, before, room);
      const text = pieceOf(item.text, before - (item.summary?.length ?? 0), room - (summary?.length ?? 0));
      const taken = (summary?.length ?? 0) + (text?.length ?? 0);
      const isWhole = taken === size;
      told.push(isWhole ? item : { ...item, summary, text, cut: true });
      room -= taken;
      if (before + taken < size) {
        return { items: told, next: { way: "record", at, offset: offset + limit - room }, complete: false };
      }
      before = 0;
    }
  }
  return { items: told, complete: true };
}

/** What of a text stands behind its first `before` characters and fits into `room`, no surrogate pair cut in two. */
function pieceOf(text: string | undefined, before: number, room: number): string | undefined {
  if (text === undefined || before >= text.length) return text === "" ? "" : undefined;
  const start = Math.max(0, before);
  const end = Math.min(text.length, start + room);
  const splits = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return text.slice(start, splits ? end - 1 : end);
}
