import { type Aim, Chats, type NamedPage } from "./chats.ts";
import { Link } from "./link.ts";
import type { ChatName, LinkStatus, ListChange, ListName, Off } from "./live.ts";
import { Polls } from "./polls.ts";
import type { FromHub, ToHub } from "./protocol.ts";
import type { HubTools } from "./tools.ts";

/** The lists that may change. */
const LISTS: readonly ListName[] = ["transcripts", "runs", "sessions", "peers"];

/** Pages that nobody wants are borne so long before the connection is opened without their chat. ms */
const UNWANTED_MS = 3_000;

/** A tab's place at the hub. */
export interface Seat {
  /** Takes what the tab says. */
  hear(message: ToHub): void;
  /** The tab is gone. */
  leave(): void;
}

interface Tab {
  readonly post: (message: FromHub) => void;
  readonly follows: Map<number, Off>;
  visible: boolean;
}

/** The one connection to the server that all tabs of a browser share. */
export class Hub {
  readonly #tabs = new Set<Tab>();
  readonly #chats = new Chats({ isConnected: () => this.#link.isConnected, lacks: () => this.#link.reaim() });
  readonly #polls: Polls;
  readonly #link: Link<Aim>;
  /** The last known one of the list of transcripts. */
  #generation: unknown;

  constructor(tools: HubTools) {
    this.#polls = new Polls(tools, this.#chats);
    this.#link = new Link<Aim>(tools, {
      aim: () => this.#chats.aim(),
      opened: (aim, hello, broken) => this.#opened(aim, generationIn(hello), broken),
      event: (name, data, late) => this.#heard(name, data, late),
      refused: (aim) => this.#chats.refused(aim),
      status: (status, reason) => this.#tellAll(statusMessage(status, reason)),
    });
  }

  /** A tab comes, told of everything by `post`. The first one has the hub connect, and when the last one leaves, it ends. */
  join(post: (message: FromHub) => void): Seat {
    const tab: Tab = { post, follows: new Map(), visible: false };
    this.#tabs.add(tab);
    post(statusMessage(this.#link.status, this.#link.reason));
    if (this.#link.status === "live") tellChanged(post);
    if (this.#tabs.size === 1) this.#link.start();
    return { hear: (message) => this.#hear(tab, message), leave: () => this.#leave(tab) };
  }

  #hear(tab: Tab, message: ToHub): void {
    if (!this.#tabs.has(tab)) return;
    switch (message.kind) {
      case "visible":
        tab.visible = message.visible;
        this.#polls.seen([...this.#tabs].some(({ visible }) => visible));
        if (message.visible) this.#link.retry();
        return;
      case "follow":
        this.#follow(tab, message);
        return;
      case "unfollow":
        tab.follows.get(message.key)?.();
        tab.follows.delete(message.key);
        return;
      case "retry":
        this.#link.retry();
        return;
      case "leave":
        this.#leave(tab);
        return;
      case "lock":
        return;
    }
  }

  #follow(tab: Tab, { key, chat, from }: ToHub & { readonly kind: "follow" }): void {
    tab.follows.set(
      key,
      this.#chats.follow(chat, from, (event) => tab.post({ kind: "chat", key, event })),
    );
  }

  #leave(tab: Tab): void {
    if (!this.#tabs.delete(tab)) return;
    for (const off of tab.follows.values()) off();
    this.#polls.seen([...this.#tabs].some(({ visible }) => visible));
    if (this.#tabs.size > 0) return;
    this.#link.close();
    this.#chats.clear();
    this.#polls.set([]);
  }

  /** A connection that took the place of another missed nothing but what its generation tells. */
  #opened(aim: Aim, generation: unknown, broken: boolean): void {
    if (broken) tellChanged((message) => this.#tellAll(message));
    else if (generation !== this.#generation) this.#tellAll({ kind: "list", list: "transcripts", change: {} });
    this.#generation = generation;
    this.#chats.opened(aim, broken);
    this.#polls.set(aim.others);
  }

  #heard(name: string, data: unknown, late: boolean): void {
    const list = LISTS.find((each) => each === name);
    if (list !== undefined) {
      if (list === "transcripts") this.#generation = generationIn(data);
      this.#tellAll({ kind: "list", list, change: changeIn(data) });
    } else if (!late && name === "chat") {
      if (!this.#chats.page(data as NamedPage)) this.#link.reaim(UNWANTED_MS);
    } else if (!late && name === "chat-error") {
      const { error, ...chat } = data as ChatName & { readonly error: string };
      this.#chats.error(chat, error);
    }
  }

  #tellAll(message: FromHub): void {
    for (const { post } of this.#tabs) post(message);
  }
}

function tellChanged(post: (message: FromHub) => void): void {
  for (const list of LISTS) post({ kind: "list", list, change: {} });
}

function statusMessage(status: LinkStatus, reason: string | undefined): FromHub {
  return { kind: "status", status, ...(reason !== undefined && { reason }) };
}

function generationIn(data: unknown): unknown {
  return (data as { readonly generation?: unknown }).generation;
}

/** What changed; where that is more than the server names, anything may have. */
function changeIn(data: unknown): ListChange {
  const { ids, more } = data as { readonly ids?: readonly string[]; readonly more?: true };
  return ids === undefined || more === true ? {} : { ids };
}
