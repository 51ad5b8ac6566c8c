import type { Chat } from "../routes/follow.ts";
import { PAGE_BUDGET } from "../stores/pages.ts";
import { type Cursor, START } from "../transcript/cursor.ts";
import { type Item, toItems } from "../transcript/item.ts";

/** The items of a chat from its start, page by page. */
export async function* wholeChat({ store, ref }: Chat): AsyncGenerator<readonly Item[]> {
  for (let from: Cursor = START; ; ) {
    const page = await store.entries(ref, from, PAGE_BUDGET);
    yield toItems(page.entries);
    if (page.next === from) return;
    from = page.next;
  }
}

/** The last `count` items, or all if there are fewer; and where what follows them begins. */
export async function endOfChat(
  { store, ref }: Chat,
  count: number,
): Promise<{ readonly items: readonly Item[]; readonly next: Cursor }> {
  let page = await store.before(ref, "tail", PAGE_BUDGET);
  const { next } = page;
  let items = toItems(page.entries);
  while (items.length < count && page.prev !== null) {
    page = await store.before(ref, page.prev, PAGE_BUDGET);
    items = [...toItems(page.entries), ...items];
  }
  return { items: count === 0 ? [] : items.slice(-count), next };
}
