import { transcriptPath } from "../api.ts";
import type { ChatPage } from "../wire.ts";
import type { ChatEvent, ChatName, LinkStatus, ListChange, ListName, Live } from "./live.ts";

const LISTS: readonly ListName[] = ["transcripts", "runs", "sessions", "peers"];

/** Connects to what the server tells by itself. */
export function connectLive(): Live {
  return new TabLive();
}

class TabLive implements Live {
  status: LinkStatus = "connecting";
  readonly #statuses = new Set<(status: LinkStatus) => void>();
  readonly #lists = new Map<ListName, Set<(change: ListChange) => void>>();
  readonly #source: EventSource;
  readonly #chats = new Set<EventSource>();

  constructor() {
    this.#source = new EventSource("/api/events");
    this.#source.addEventListener("hello", () => {
      this.#set("live");
      for (const list of LISTS) this.#tell(list, {});
    });
    this.#source.addEventListener("error", () => this.#set("gone"));
    for (const list of LISTS) this.#source.addEventListener(list, (event) => this.#tell(list, JSON.parse(event.data)));
  }

  onStatus(told: (status: LinkStatus) => void): () => void {
    this.#statuses.add(told);
    return () => this.#statuses.delete(told);
  }

  on(list: ListName, told: (change: ListChange) => void): () => void {
    const all = this.#lists.get(list) ?? new Set();
    this.#lists.set(list, all.add(told));
    return () => all.delete(told);
  }

  follow({ agent, id, child }: ChatName, from: string, told: (event: ChatEvent) => void): () => void {
    const base = transcriptPath(agent, id);
    const path = child === undefined ? `${base}/chat/stream` : `${base}/subagents/${child}/stream`;
    const source = new EventSource(`${path}?from=${encodeURIComponent(from)}`);
    this.#chats.add(source);
    source.addEventListener("open", () => told({ kind: "following" }));
    source.addEventListener("message", (event) => {
      const { items, next = "" }: ChatPage = JSON.parse(event.data);
      told({ kind: "page", items, next });
    });
    source.addEventListener("reset", () => told({ kind: "reset" }));
    return () => source.close();
  }

  retry(): void {}

  close(): void {
    this.#source.close();
    for (const chat of this.#chats) chat.close();
  }

  #set(status: LinkStatus): void {
    this.status = status;
    for (const told of this.#statuses) told(status);
  }

  #tell(list: ListName, change: ListChange): void {
    for (const told of this.#lists.get(list) ?? []) told(change);
  }
}
