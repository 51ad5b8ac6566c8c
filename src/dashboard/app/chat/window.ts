import type { Cursor, Item } from "../wire.ts";

/** An item with what tells it from all others of its chat. */
export interface Held {
  /** The item's own id, else its record's ref with its number among that record's items. */
  readonly key: string;
  item: Item;
  /** How often it has come anew, grown. */
  revision: number;
}

/** What a part of a chat is: its items, and where it begins and ends. */
export interface Part {
  readonly items: readonly Item[];
  /** `before` of what is above; null at the start of the chat. */
  readonly start: Cursor | null;
  /** `from` of what is below. */
  readonly end: Cursor;
}

/**
 * The part of a chat that the page holds: a window that moves over it. Giving it a page again changes nothing, so pages
 * may overlap; what is taken off at one end is read anew from the cursors.
 */
export class ChatWindow {
  readonly #followsUpdates: boolean;
  #items: Held[] = [];
  /** Where each key is: its place in `#items` plus `#base`. */
  readonly #places = new Map<string, number>();
  /** Items that have grown and begin above what is held, by key: as they are now. */
  readonly #grown = new Map<string, Item>();
  #base = 0;
  #start: Cursor | null = null;
  #end: Cursor = "0";
  #characters = 0;

  /** `followsUpdates`: pages may hold what was updated above what is held, without saying so. */
  constructor({ followsUpdates = false }: { readonly followsUpdates?: boolean } = {}) {
    this.#followsUpdates = followsUpdates;
  }

  /** Oldest first. */
  get items(): readonly Held[] {
    return this.#items;
  }

  /** `before` of what is above; null when this begins at the start of the chat. */
  get start(): Cursor | null {
    return this.#start;
  }

  /** `from` of what is below. */
  get end(): Cursor {
    return this.#end;
  }

  /** Characters of all texts that are held. */
  get characters(): number {
    return this.#characters;
  }

  /** Where the item `key` stands; -1 when it is not held. */
  placeOf(key: string): number {
    const place = this.#places.get(key);
    return place === undefined ? -1 : place - this.#base;
  }

  /** The first item of the record `ref`. */
  ofRecord(ref: Cursor): Held | undefined {
    return this.#items.find(({ item }) => item.ref === ref);
  }

  /** Holds `part` alone. */
  open(part: Part): void {
    this.#items = [];
    this.#places.clear();
    this.#grown.clear();
    this.#base = 0;
    this.#characters = 0;
    this.#start = part.start;
    this.#end = part.end;
    this.#add(part.items);
  }

  /** Puts the page above in front. */
  prepend(items: readonly Item[], start: Cursor | null): void {
    this.#start = start;
    const fresh = keyed(items).flatMap((held) => (this.#replace(held) ? [] : (this.#placed(held) ?? [])));
    this.#base -= fresh.length;
    this.#items = [...fresh, ...this.#items];
    fresh.forEach(({ key, item }, place) => {
      this.#places.set(key, this.#base + place);
      this.#characters += sizeOf(item);
    });
  }

  /** Puts the page below behind; how many of its items are new here. */
  append(items: readonly Item[], end: Cursor): number {
    this.#end = end;
    return this.#add(items);
  }

  /** Brings items up to date that are held already; what is new is left out. */
  refresh(items: readonly Item[]): void {
    for (const held of keyed(items)) this.#replace(held);
  }

  /** Takes off items at the start, as many as leave at least those from the place `keep` on. */
  dropStart(keep: number): void {
    const cut = this.#recordStart(Math.min(keep, this.#items.length - 1));
    const first = this.#items[cut];
    if (cut <= 0 || first === undefined) return;
    this.#forget(this.#items.splice(0, cut));
    this.#base += cut;
    this.#start = first.item.ref;
  }

  /** Takes off items at the end, as many as leave at least those before the place `keep`. */
  dropEnd(keep: number): void {
    const cut = this.#recordEnd(Math.max(keep, 1));
    const first = this.#items[cut];
    if (first === undefined) return;
    this.#forget(this.#items.splice(cut));
    this.#end = first.item.ref;
  }

  /** The place at which the record begins that stands at `place`. */
  #recordStart(place: number): number {
    let start = Math.max(place, 0);
    while (start > 0 && this.#items[start - 1]?.item.ref === this.#items[start]?.item.ref) start--;
    return start;
  }

  /** The place behind the record that ends at or after `place`. */
  #recordEnd(place: number): number {
    let end = place;
    while (end < this.#items.length && this.#items[end - 1]?.item.ref === this.#items[end]?.item.ref) end++;
    return end;
  }

  #add(items: readonly Item[]): number {
    let added = 0;
    for (const held of keyed(items)) {
      if (this.#replace(held) || this.#isAbove(held)) continue;
      const placed = this.#placed(held);
      if (placed === undefined) continue;
      this.#places.set(held.key, this.#base + this.#items.length);
      this.#items.push(placed);
      this.#characters += sizeOf(held.item);
      added++;
    }
    return added;
  }

  /** `held` as it is now, where it has its place; one that begins further up waits until that is read: undefined. */
  #placed(held: Held): Held | undefined {
    const { key, item } = held;
    if (item.earlier) {
      if (this.#grown.size >= MOST_GROWN) this.#grown.clear();
      this.#grown.set(key, item);
      return undefined;
    }
    const grown = this.#grown.get(key);
    if (grown === undefined) return held;
    this.#grown.delete(key);
    return { ...held, item: { ...grown, ref: item.ref } };
  }

  /** Whether an item that comes anew stands above what is held: one that is older than all of this. */
  #isAbove({ item }: Held): boolean {
    const first = this.#items[0];
    return this.#followsUpdates && this.#start !== null && first !== undefined && item.at < first.item.at;
  }

  #replace({ key, item }: Held): boolean {
    const held = this.#items[this.placeOf(key)];
    if (held === undefined) return false;
    if (!same(held.item, item)) {
      this.#characters += sizeOf(item) - sizeOf(held.item);
      held.item = item.earlier ? { ...item, ref: held.item.ref } : item;
      held.revision++;
    }
    return true;
  }

  #forget(dropped: readonly Held[]): void {
    for (const { key, item } of dropped) {
      this.#places.delete(key);
      this.#characters -= sizeOf(item);
    }
  }
}

/** As many items wait for their place at most. */
const MOST_GROWN = 1_000;

/** `items` with their keys. A page holds whole records, so that the number of an item within its record is always the same. */
export function keyed(items: readonly Item[]): Held[] {
  let number = 0;
  let before: Cursor | undefined;
  return items.map((item) => {
    number = item.ref === before ? number + 1 : 0;
    before = item.ref;
    return { key: item.id ?? `${item.ref}#${number}`, item, revision: 0 };
  });
}

function same(a: Item, b: Item): boolean {
  return a.text === b.text && a.summary === b.summary && a.error === b.error && a.at === b.at && a.cut === b.cut;
}

function sizeOf({ text = "", summary = "" }: Item): number {
  return text.length + summary.length + 100;
}
