import { Unreachable } from "../api.ts";
import type { Live, Off } from "../live/live.ts";
import type { ChatPage, Cursor, Item } from "../wire.ts";
import { type ChatSource, readBefore, readFrom, readTail } from "./source.ts";
import { ChatWindow } from "./window.ts";

/** What a feed tells. */
export interface FeedEvents {
  /** What is held has changed. */
  changed(): void;
  /** Something could not be read; what is held stays. */
  failed(error: unknown): void;
  /** Something came at the end of the chat, whether that is held or not. */
  arrived(): void;
}

/** Items that are held at most, and characters of their texts. */
const MOST_ITEMS = 2_000;
const MOST_CHARACTERS = 4_000_000;
/** How often a chat is asked for that the one connection can't name, in ms. */
const POLL_MS = 2_000;

/** Where a feed begins: at the end, at the start, or at an item. */
export type Opening = "tail" | "start" | { readonly ref: Cursor };

/** A page, or an opening, that is on its way. */
interface Reading {
  readonly direction: "earlier" | "later" | "open";
  readonly abort: AbortController;
  done: Promise<void>;
}

/** A chat as it is read: the window on it, which pages move, and what comes by itself while the window is at the end. */
export class Feed {
  readonly window: ChatWindow;
  readonly #source: ChatSource;
  readonly #live: Live;
  readonly #events: FeedEvents;
  /** OpenCode tells what was updated, wherever in the chat that stands. */
  readonly #followsUpdates: boolean;
  #isOpen = false;
  #atEnd = false;
  #reading: Reading | undefined;
  /** What came while a page was on its way that may turn out to be the last. */
  #waiting: ChatPage[] = [];
  #off: Off | undefined;
  #closed = false;

  constructor(source: ChatSource, live: Live, events: FeedEvents) {
    this.#followsUpdates = source.live?.agent === "opencode";
    this.window = new ChatWindow({ followsUpdates: this.#followsUpdates });
    this.#source = source;
    this.#live = live;
    this.#events = events;
  }

  /** Whether what is held ends where the chat ends. */
  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Whether what is held begins where the chat begins. */
  get atStart(): boolean {
    return this.window.start === null;
  }

  /** Holds the part of the chat at `where` alone. @throws Refused, Unreachable */
  async open(where: Opening): Promise<void> {
    this.#reading?.abort.abort();
    await this.#begin("open", async (signal) => {
      const part = await this.#partAt(where, signal);
      if (signal.aborted) return;
      this.window.open(part);
      this.#isOpen = true;
      this.#atEnd = false;
    });
    this.#events.changed();
    if (where === "tail") void this.#readOn();
  }

  /** Opens no more what was about to be opened. */
  giveUp(): void {
    if (this.#reading?.direction === "open") this.#reading.abort.abort();
  }

  /** Reads the page above, unless there is none or one is on its way. */
  async earlier(): Promise<void> {
    const { start } = this.window;
    if (start === null) return;
    await this.#read("earlier", async (signal) => {
      const { items, prev = null, reset } = await readBefore(this.#source, start, signal);
      if (reset) return this.#openAnew();
      this.window.prepend(items, prev);
    });
  }

  /** Reads the page below, unless the end is held or a page is on its way; what is new comes by itself from the end on. */
  async later(): Promise<void> {
    if (this.#atEnd) return;
    await this.#read("later", async (signal) => {
      const from = this.window.end;
      this.#waiting = [];
      const { items, next = from, reset } = await readFrom(this.#source, from, signal);
      if (reset) return this.#openAnew();
      const added = this.window.append(items, next);
      // What is young comes again and again in a chat that follows updates, though it is held.
      const isYoung = this.#followsUpdates && items.length > 0 && added === 0;
      if (next === from || isYoung) this.#reachEnd();
    });
  }

  /** Takes off what is far from the part in view, which is from the place `first` up to `end`. */
  trim(first: number, end: number): void {
    const { window } = this;
    if (window.items.length <= MOST_ITEMS && window.characters <= MOST_CHARACTERS) return;
    const above = first;
    const below = window.items.length - end;
    if (above >= below) window.dropStart(Math.max(first - AROUND, 0));
    else {
      const before = window.items.length;
      window.dropEnd(end + AROUND);
      if (window.items.length < before) this.#atEnd = false;
    }
  }

  close(): void {
    this.#closed = true;
    this.#reading?.abort.abort();
    this.#off?.();
  }

  async #partAt(
    where: Opening,
    signal: AbortSignal,
  ): Promise<{ items: readonly Item[]; start: Cursor | null; end: Cursor }> {
    if (where === "tail") {
      const { items, prev = null, next = "0" } = await readTail(this.#source, signal);
      return { items, start: prev, end: next };
    }
    if (where === "start") {
      const { items, next = "0" } = await readFrom(this.#source, undefined, signal);
      return { items, start: null, end: next };
    }
    const [above, below] = await Promise.all([
      readBefore(this.#source, where.ref, signal),
      readFrom(this.#source, where.ref, signal),
    ]);
    return { items: [...above.items, ...below.items], start: above.prev ?? null, end: below.next ?? "0" };
  }

  /** One page at a time; what fails is told, and may be tried again. */
  async #read(direction: "earlier" | "later", page: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#closed || (!this.#isOpen && this.#reading === undefined)) return;
    if (this.#reading !== undefined) return this.#reading.done;
    try {
      await this.#begin(direction, page);
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#events.changed();
  }

  /** Reads, and remembers that it does; whatever happens to a read that was given up is nobody's concern. */
  #begin(direction: Reading["direction"], read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const reading: Reading = { direction, abort, done: Promise.resolve() };
    const run = async (): Promise<void> => {
      try {
        await read(abort.signal);
      } catch (error) {
        if (!abort.signal.aborted) throw error;
      } finally {
        if (this.#reading === reading) this.#reading = undefined;
      }
    };
    this.#reading = reading;
    const running = run();
    reading.done = running.catch(() => undefined);
    return running;
  }

  /** The end was read: what came meanwhile follows, and from now on all that comes. */
  #reachEnd(): void {
    this.#atEnd = true;
    for (const { items, next = this.window.end } of this.#waiting) this.window.append(items, next);
    this.#waiting = [];
    this.#off ??= this.#follow();
  }

  #follow(): Off {
    const { live } = this.#source;
    if (live === undefined) return this.#poll();
    return this.#live.follow(live, this.window.end, (event) => {
      if (event.kind === "page") this.#take(event);
      else if (event.kind === "reset") void this.#openAnew();
      else if (event.kind === "error") this.#off = this.#poll();
      else void this.#catchUp();
    });
  }

  /** Reads what came before the following began. */
  async #catchUp(): Promise<void> {
    if (!this.#atEnd) return;
    this.#atEnd = false;
    await this.#readOn();
  }

  /** Reads on until the end is held, or as far as patience goes: the view asks again when it comes near. */
  async #readOn(): Promise<void> {
    for (let pages = 0; pages < MOST_PAGES && !this.#atEnd && !this.#closed; pages++) {
      const { end } = this.window;
      await this.later();
      if (this.window.end === end && !this.#atEnd) return;
    }
  }

  /** Asks for what is new now and then; where that fails, it says why and ends. */
  #poll(): Off {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void this.#catchUp();
    }, POLL_MS);
    return () => clearInterval(timer);
  }

  #failed(error: unknown): void {
    if (!(error instanceof Unreachable)) {
      this.#off?.();
      this.#off = undefined;
    }
    this.#events.failed(error);
  }

  #take(page: { readonly items: readonly Item[]; readonly next: Cursor }): void {
    if (this.#reading?.direction === "later") this.#waiting.push(page);
    if (this.#atEnd) this.window.append(page.items, page.next);
    else this.window.refresh(page.items);
    if (page.items.length > 0) this.#events.arrived();
    this.#events.changed();
  }

  async #openAnew(): Promise<void> {
    try {
      await this.open("tail");
    } catch (error) {
      this.#failed(error);
    }
  }
}

/** Pages that are read on end to reach the end of a chat. */
const MOST_PAGES = 20;
/** Items that stay around the part in view. */
const AROUND = 300;
