import { Refused, Unreachable } from "../../../src/dashboard/app/api.ts";
import { Hub } from "../../../src/dashboard/app/live/hub.ts";
import type { ChatEvent, ChatName } from "../../../src/dashboard/app/live/live.ts";
import type { FromHub } from "../../../src/dashboard/app/live/protocol.ts";
import { TabLive } from "../../../src/dashboard/app/live/tab.ts";
import type { HubTools, StreamListener } from "../../../src/dashboard/app/live/tools.ts";
import { FakeTime } from "../../support/fake-time.ts";

/** A connection that a hub opened. */
export class Opened {
  readonly url: string;
  readonly #listener: StreamListener;
  isOpen = true;

  constructor(url: string, listener: StreamListener) {
    this.url = url;
    this.#listener = listener;
  }

  /** The chats that it names. */
  get chats(): string[] {
    return new URL(this.url, "http://127.0.0.1").searchParams.getAll("chat");
  }

  hello(generation = 1): void {
    this.say("hello", { generation });
  }

  say(name: string, data: unknown): void {
    if (this.isOpen) this.#listener.event(name, data);
  }

  /** A page of one item. */
  page(chat: ChatName, text: string, next: string, more: object = {}): void {
    this.say("chat", { ...chat, items: [{ kind: "user", at: 1, ref: "r", text }], next, ...more });
  }

  breaks(): void {
    this.#ends();
  }

  refuses(status: number, message = "no"): void {
    this.#ends(new Refused(status, message));
  }

  close(): void {
    this.isOpen = false;
  }

  #ends(refusal?: Refused): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#listener.ended(refusal);
  }
}

/** A tab, and all that it was told. */
export interface DrivenTab {
  readonly live: TabLive;
  readonly told: string[];
  /** Follows a chat; what is told of it stands in `told` under its id. */
  follow(chat: ChatName, from: string): () => void;
  /** What was told since it was last asked. */
  news(): string[];
  /** Gone without a word. */
  vanish(): void;
}

/** A hub that a test drives: its time, its connections, its tabs. */
export class HubDriver {
  readonly time = new FakeTime();
  readonly opened: Opened[] = [];
  readonly asked: string[] = [];
  /** Answers what is asked of the API; what is not in here is out of reach. */
  readonly answers = new Map<string, unknown>();
  readonly hub: Hub;

  constructor() {
    const tools: HubTools = {
      open: (url, listener) => {
        const opened = new Opened(url, listener);
        this.opened.push(opened);
        return () => opened.close();
      },
      read: async (url) => {
        this.asked.push(url);
        const answer = this.answers.get(url) ?? new Unreachable();
        if (answer instanceof Error) throw answer;
        return answer;
      },
      after: (ms, run) => this.time.after(ms, run),
      random: () => 0.5,
    };
    this.hub = new Hub(tools);
  }

  /** The connection that was opened last. */
  get last(): Opened {
    const opened = this.opened.at(-1);
    if (opened === undefined) throw new Error("no connection was opened");
    return opened;
  }

  get openCount(): number {
    return this.opened.filter(({ isOpen }) => isOpen).length;
  }

  tab(): DrivenTab {
    const told: string[] = [];
    let vanish = (): void => undefined;
    const live = new TabLive((heard) => {
      const seat = this.hub.join((message: FromHub) => heard(structuredClone(message)));
      vanish = () => seat.leave();
      return { post: (message) => seat.hear(message), close: () => undefined };
    });
    live.onStatus((status) => told.push(live.reason === undefined ? status : `${status}: ${live.reason}`));
    for (const list of ["transcripts", "runs", "sessions", "peers"] as const) {
      live.on(list, ({ ids }) => told.push(ids === undefined ? list : `${list} ${ids.join()}`));
    }
    live.connect();
    live.post({ kind: "visible", visible: true });
    return {
      live,
      told,
      follow: (chat, from) => live.follow(chat, from, (event) => told.push(`${chat.id} ${wordsOf(event)}`)),
      news: () => told.splice(0),
      vanish: () => vanish(),
    };
  }
}

function wordsOf(event: ChatEvent): string {
  if (event.kind === "page") return event.items.map(({ text }) => text).join();
  return event.kind === "error" ? `error: ${event.message}` : event.kind;
}
