import assert from "node:assert/strict";
import { PAGE_BUDGET } from "../../src/stores/pages.ts";
import type { Budget, SessionRef, Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import { type Item, pageItems } from "../../src/transcript/item.ts";

type Reader = Pick<Store, "entries" | "before">;

/** A chat that is read in pages. */
interface PagedChat {
  /** A store that has seen nothing. */
  open(): Reader;
  readonly ref: SessionRef;
  /** What it shows in all. */
  readonly items: readonly Item[];
}

/**
 * A reader who keeps items alone goes by their refs and by the ends of pages, in both directions, and has neither a gap nor
 * an item twice.
 */
export async function divides(name: string, chat: PagedChat, budgets: readonly Budget[]): Promise<void> {
  const { open, ref, items } = chat;
  const places = new Set<Cursor>(items.map((item) => item.ref));
  for (const budget of budgets) {
    const back = await itemsBackward(open(), ref, budget, places);
    assert.deepEqual(back, items, `${name} backward by ${budget.bytes} and ${budget.parts}`);
    for (const end of await endsForward(open(), ref, budget)) places.add(end);
  }
  const store = open();
  for (const place of places) {
    const above = pageItems(await open().before(ref, place, PAGE_BUDGET));
    const below = pageItems(await store.entries(ref, place, PAGE_BUDGET));
    // An item that goes on below stands above, where it begins.
    const late = new Map(below.flatMap(({ earlier, ...item }) => (earlier ? [[item.id, item] as const] : [])));
    const known = new Set(above.map(({ id }) => id));
    for (const id of late.keys()) assert.ok(known.has(id), `${name} has ${id} above ${place}`);
    const all = [...above.map((item) => late.get(item.id) ?? item), ...below.filter(({ earlier }) => !earlier)];
    assert.deepEqual(all, items, `${name} above and below ${place}`);
  }
}

/** Read backward, each page ending at the first item of the one below; where pages begin goes into `places`. */
async function itemsBackward(
  store: Reader,
  ref: SessionRef,
  budget: Budget,
  places: Set<Cursor>,
): Promise<readonly Item[]> {
  const pages: (readonly Item[])[] = [];
  const late = new Map<string | undefined, Item>();
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await store.before(ref, before, budget);
    assert.equal(page.reset, undefined);
    const shown = pageItems(page);
    const own = shown.filter(({ earlier }) => !earlier);
    pages.unshift(own.map((item) => (item.id && late.get(item.id)) || item));
    for (const { earlier, ...item } of shown) if (earlier && !late.has(item.id)) late.set(item.id, item);
    if (page.prev !== null) places.add(page.prev);
    before = page.prev === null ? null : (own[0]?.ref ?? page.prev);
  }
  return pages.flat();
}

/** Where pages end, read forward. */
async function endsForward(store: Reader, ref: SessionRef, budget: Budget): Promise<readonly Cursor[]> {
  const ends: Cursor[] = [];
  for (let from: Cursor = START; ; ) {
    const { next } = await store.entries(ref, from, budget);
    if (next === from) return ends;
    ends.push(next);
    from = next;
  }
}
