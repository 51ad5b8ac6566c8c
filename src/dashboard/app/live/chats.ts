import { path, withQuery } from "../api.ts";
import { encoded } from "../encoded.ts";
import type { ChatPage, Cursor } from "../wire.ts";
import type { ChatEvent, ChatName, Off } from "./live.ts";

/** A chat that somebody follows, or did when the connection was opened. */
export interface Followed {
  readonly name: ChatName;
  readonly followers: Set<(event: ChatEvent) => void>;
  /** The `next` of its last page. */
  cursor: Cursor;
  /** Whether its pages come: on the connection, or by asking. */
  held: boolean;
  /** The server refused a connection that named it: it is asked for alone, so that others do not suffer. */
  apart: boolean;
}

/** What a connection is aimed at. */
export interface Aim {
  readonly url: string;
  readonly chats: readonly Followed[];
  /** What is followed besides, and has no room. */
  readonly others: readonly Followed[];
}

/** A page as it comes on the connection. */
export type NamedPage = ChatName & ChatPage & { readonly next: Cursor };

/** What a list of chats knows of the connection that is to hold them. */
export interface ChatConnection {
  /** Whether there is one now. */
  isConnected(): boolean;
  /** It does not hold a chat that it should. */
  lacks(): void;
}

/** The server takes URLs of 8 KiB, and 100 chats. */
const MOST_URL = 8_000;
const MOST_CHATS = 100;

/** The chats that the tabs of a browser follow: each once, whoever follows it. */
export class Chats {
  /** The longest not followed anew first. */
  readonly #all = new Map<string, Followed>();
  readonly #connection: ChatConnection;
  /** What the last connection, which may still be on its way, is aimed at. */
  #aim: Aim = { url: "", chats: [], others: [] };

  constructor(connection: ChatConnection) {
    this.#connection = connection;
  }

  /** Tells `told` of a chat from `from` on, or from where it is if it is followed already. */
  follow(name: ChatName, from: Cursor, told: (event: ChatEvent) => void): Off {
    const key = keyOf(name);
    const chat = this.#all.get(key) ?? { name, followers: new Set(), cursor: from, held: false, apart: false };
    this.#all.delete(key);
    this.#all.set(key, chat);
    chat.followers.add(told);
    if (chat.held && this.#connection.isConnected()) told({ kind: "following" });
    else if (![...this.#aim.chats, ...this.#aim.others].includes(chat)) this.#connection.lacks();
    return () => chat.followers.delete(told);
  }

  /** What to connect to: as many of the chats that are followed as one URL holds, the last followed first. */
  aim(): Aim {
    for (const [key, { followers }] of this.#all) if (followers.size === 0) this.#all.delete(key);
    const chats: Followed[] = [];
    const others: Followed[] = [];
    let url = "/api/events";
    for (const chat of [...this.#all.values()].reverse()) {
      const longer = `${url}${chats.length === 0 ? "?" : "&"}chat=${parameterOf(chat)}`;
      if (chat.apart || longer.length > MOST_URL || chats.length === MOST_CHATS) {
        others.push(chat);
      } else {
        chats.push(chat);
        url = longer;
      }
    }
    this.#aim = { url, chats, others };
    return this.#aim;
  }

  /** A connection holds the chats of `aim` now, and the others are asked for; `broken` when there was none before. */
  opened({ chats, others }: Aim, broken: boolean): void {
    for (const chat of [...chats, ...others]) {
      // Who came to follow it meanwhile waits to be told; to the others it does no harm.
      if (broken || !chat.held) tell(chat, { kind: "following" });
      chat.held = true;
    }
  }

  /** The server refused `aim`: what it named, and no connection holds, is asked for alone from now on. */
  refused({ chats }: Aim): void {
    const suspects = chats.filter(({ held }) => !held);
    for (const chat of suspects.length > 0 ? suspects : chats) chat.apart = true;
  }

  /** Tells a page to who follows its chat; false when nobody does. */
  page(page: NamedPage): boolean {
    const chat = this.#all.get(keyOf(page));
    if (chat === undefined) return false;
    // Of a connection from before the chat was followed anew: it may be far from where that begins.
    if (!chat.held) return true;
    chat.cursor = page.next;
    const { items, next } = page;
    tell(chat, page.reset === true ? { kind: "reset" } : { kind: "page", items, next });
    return chat.followers.size > 0;
  }

  /** Nothing more comes of a chat. */
  error(name: ChatName, message: string): void {
    const chat = this.#all.get(keyOf(name));
    this.#all.delete(keyOf(name));
    if (chat !== undefined) tell(chat, { kind: "error", message });
  }

  /** Nobody follows anything any more. */
  clear(): void {
    this.#all.clear();
  }

  /** Whether `chat` is still followed. */
  has(chat: Followed): boolean {
    return chat.followers.size > 0 && this.#all.get(keyOf(chat.name)) === chat;
  }
}

/** Where the pages of a chat can be asked for. */
export function pageUrl({ name: { agent, id, child }, cursor }: Followed): string {
  const parts = child === undefined ? ["chat"] : ["subagents", child];
  return withQuery(path("transcripts", agent, id, ...parts), { from: cursor });
}

function tell({ followers }: Followed, event: ChatEvent): void {
  for (const told of [...followers]) told(event);
}

function keyOf({ agent, id, child = "" }: ChatName): string {
  return `${agent}/${id}/${child}`;
}

function parameterOf({ name: { agent, id, child }, cursor }: Followed): string {
  return encoded(`${agent}/${id}${child === undefined ? "" : `/${child}`}@${cursor}`);
}
