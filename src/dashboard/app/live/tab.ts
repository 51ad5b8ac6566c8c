import type { Cursor } from "../wire.ts";
import type { ChatEvent, ChatName, LinkStatus, ListChange, ListName, Live, Off } from "./live.ts";
import type { FromHub, ToHub } from "./protocol.ts";

/** A way to a hub. */
export interface ToHubPort {
  post(message: ToHub): void;
  close(): void;
}

interface FollowedChat {
  readonly chat: ChatName;
  readonly told: (event: ChatEvent) => void;
  from: Cursor;
}

/** What the server tells, as one tab has it from the hub. */
export class TabLive implements Live {
  status: LinkStatus = "connecting";
  reason: string | undefined;
  readonly #reach: (heard: (message: FromHub) => void) => ToHubPort;
  readonly #statuses = new Set<(status: LinkStatus) => void>();
  readonly #lists = new Map<ListName, Set<(change: ListChange) => void>>();
  readonly #chats = new Map<number, FollowedChat>();
  #keys = 0;
  /** What an earlier hub still says is not heard. */
  #turn = 0;
  #port: ToHubPort | undefined;

  /** `reach` finds a hub, and has it told what comes from there. */
  constructor(reach: (heard: (message: FromHub) => void) => ToHubPort) {
    this.#reach = reach;
  }

  /** Goes to a hub: the first, or another one, which goes on with all that is followed where the last one was. */
  connect(): void {
    this.close();
    const turn = ++this.#turn;
    const port = this.#reach((message) => {
      if (turn === this.#turn) this.#heard(message);
    });
    this.#port = port;
    for (const [key, { chat, from }] of this.#chats) port.post({ kind: "follow", key, chat, from });
  }

  /** Tells the hub something of this tab. */
  post(message: ToHub): void {
    this.#port?.post(message);
  }

  onStatus(told: (status: LinkStatus) => void): Off {
    this.#statuses.add(told);
    return () => this.#statuses.delete(told);
  }

  on(list: ListName, told: (change: ListChange) => void): Off {
    const all = this.#lists.get(list) ?? new Set();
    this.#lists.set(list, all.add(told));
    return () => all.delete(told);
  }

  follow(chat: ChatName, from: Cursor, told: (event: ChatEvent) => void): Off {
    const key = this.#keys++;
    this.#chats.set(key, { chat, from, told });
    this.post({ kind: "follow", key, chat, from });
    return () => {
      if (this.#chats.delete(key)) this.post({ kind: "unfollow", key });
    };
  }

  retry(): void {
    this.post({ kind: "retry" });
  }

  close(): void {
    this.post({ kind: "leave" });
    this.#port?.close();
    this.#port = undefined;
    this.#turn++;
  }

  #heard(message: FromHub): void {
    switch (message.kind) {
      case "status":
        this.status = message.status;
        this.reason = message.reason;
        for (const told of [...this.#statuses]) told(message.status);
        return;
      case "list":
        for (const told of [...(this.#lists.get(message.list) ?? [])]) told(message.change);
        return;
      case "chat":
        this.#heardOf(message.key, message.event);
        return;
    }
  }

  #heardOf(key: number, event: ChatEvent): void {
    const followed = this.#chats.get(key);
    if (followed === undefined) return;
    if (event.kind === "page") followed.from = event.next;
    if (event.kind === "error") this.#chats.delete(key);
    followed.told(event);
  }
}
