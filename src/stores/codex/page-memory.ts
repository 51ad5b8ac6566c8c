import type { OpenChat } from "./chat.ts";
import type { KnownModel } from "./look.ts";

/** Chats whose last page's model is remembered. */
const MOST_CHATS = 256;

/**
 * The model at the end of the last page of each chat: who reads on page by page need not look back for it. A file that was
 * replaced is another chat.
 */
export class PageModels {
  readonly #ends = new Map<string, { readonly end: number; readonly model: KnownModel }>();

  /** The model that holds where a page begins at `from`, if the page before it ended there. */
  at(chat: OpenChat, from: number): KnownModel | undefined {
    const known = this.#ends.get(keyOf(chat));
    return known?.end === from ? known.model : undefined;
  }

  /** Notes what holds at the end of a page. */
  note(chat: OpenChat, end: number, model: KnownModel | undefined): void {
    const key = keyOf(chat);
    this.#ends.delete(key);
    if (model !== undefined) this.#ends.set(key, { end, model });
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > MOST_CHATS && oldest !== undefined) this.#ends.delete(oldest);
  }
}

function keyOf({ chain, parts }: OpenChat): string {
  return `${chain.thread} ${chain.name ?? ""} ${parts.map(({ now }) => now.edition).join(" ")}`;
}
