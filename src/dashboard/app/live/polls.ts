import { Refused } from "../api.ts";
import type { ChatPage } from "../wire.ts";
import { type Chats, type Followed, pageUrl } from "./chats.ts";
import type { HubTools } from "./tools.ts";

const POLL_MS = 2_000;

/** Asks for the pages of those chats that the connection has no room for. */
export class Polls {
  readonly #tools: HubTools;
  readonly #chats: Chats;
  #asked: readonly Followed[] = [];
  #isSeen = false;
  #cancel: (() => void) | undefined;
  #isAsking = false;

  constructor(tools: HubTools, chats: Chats) {
    this.#tools = tools;
    this.#chats = chats;
  }

  /** Makes `chats` those that are asked for. */
  set(chats: readonly Followed[]): void {
    this.#asked = chats;
    this.#soon(0);
  }

  /** Whether anybody looks: nothing is asked while nobody does. */
  seen(isSeen: boolean): void {
    if (isSeen === this.#isSeen) return;
    this.#isSeen = isSeen;
    this.#soon(0);
  }

  #soon(ms: number): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (!this.#isSeen || this.#isAsking || this.#asked.length === 0) return;
    this.#cancel = this.#tools.after(ms, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    for (const chat of this.#asked) await this.#readOn(chat);
    this.#isAsking = false;
    this.#asked = this.#asked.filter((chat) => this.#chats.has(chat));
    this.#soon(POLL_MS);
  }

  /** Up to the chat's end as it is now. */
  async #readOn(chat: Followed): Promise<void> {
    const isAsked = (): boolean => this.#isSeen && this.#asked.includes(chat) && this.#chats.has(chat);
    try {
      for (let from: string | undefined; isAsked() && from !== chat.cursor; ) {
        from = chat.cursor;
        const page = (await this.#tools.read(pageUrl(chat))) as ChatPage;
        const next = page.next ?? from;
        if (isAsked() && (page.items.length > 0 || page.reset)) this.#chats.page({ ...chat.name, ...page, next });
      }
    } catch (error) {
      // What keeps the server from answering now may be over the next time.
      if (error instanceof Refused && (error.status === 400 || error.status === 404)) {
        this.#chats.error(chat.name, error.message);
      }
    }
  }
}
