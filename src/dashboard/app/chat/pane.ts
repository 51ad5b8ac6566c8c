import { Refused, Unreachable } from "../api.ts";
import { h } from "../dom.ts";
import type { Off } from "../live/live.ts";
import { empty, failure, loading, reasonOf } from "../parts/states.ts";
import { dayOf } from "../parts/time.ts";
import type { App } from "../view.ts";
import type { Cursor } from "../wire.ts";
import { Feed, type Opening } from "./feed.ts";
import type { Direction } from "./find-record.ts";
import { Finder } from "./finder.ts";
import { PaneBar } from "./pane-bar.ts";
import { PaneRows } from "./pane-rows.ts";
import { timeOfRow } from "./rows.ts";
import type { ChatSource } from "./source.ts";
import type { Wanted } from "./wanted.ts";

/** What a pane shows, and where its links lead. */
export interface PaneOptions {
  readonly app: App;
  readonly source: ChatSource;
  /** What the pane is called for who can't see it. */
  readonly label: string;
  /** The address of an item; without one, items have no links of their own. */
  readonly hashOf?: (ref: Cursor) => string;
  /** The address of a subagent's own view. */
  readonly childHash?: (child: string) => string;
  /** The chat of a subagent. */
  readonly childSource?: (child: string) => ChatSource;
  /** The item to begin at; the end when absent. */
  readonly ref?: Cursor;
  /** It is not known whether there is a chat at all: that there is none is no failure. */
  readonly mayLack?: boolean;
  /** A thread within another: smaller, and without keys of its own. */
  readonly nested?: boolean;
}

/** A chat that is read: opens at its end and follows it, or at an item; the rest comes as one scrolls. */
export class ChatPane {
  readonly element: HTMLElement;
  readonly #options: PaneOptions;
  readonly #box: HTMLElement;
  readonly #state: HTMLElement;
  readonly #feed: Feed;
  readonly #rows: PaneRows;
  readonly #bar: PaneBar;
  readonly #finder: Finder;
  /** Counts the places that one was to go to, and the going to the last of them. */
  #turn = 0;
  #going: Promise<void> = Promise.resolve();
  #missed = false;
  /** What was to be opened when the server was gone. */
  #awaited: Opening | undefined;
  readonly #off: Off;

  constructor(options: PaneOptions) {
    this.#options = options;
    this.#state = h("div", { class: "chat-state" });
    this.#box = h("div", { class: "chat-box", tabindex: 0, role: "region", "aria-label": options.label });
    this.#bar = new PaneBar({
      first: () => void this.jumpTo("start"),
      last: () => void this.jumpTo("tail"),
      find: (what, direction) => void this.find(what, direction),
      stop: () => this.#finder.stop(),
    });
    this.element = h(
      "div",
      { class: options.nested ? "chat nested" : "chat" },
      this.#state,
      this.#box,
      this.#bar.element,
    );
    this.#feed = new Feed(options.source, options.app.live, {
      changed: () => this.#rows.drawSoon(),
      failed: (error) => this.failed(error),
      arrived: () => {
        this.#missed = true;
        this.#tell();
      },
    });
    this.#rows = new PaneRows({
      ...options,
      box: this.#box,
      feed: this.#feed,
      moved: () => this.#tell(),
      drawn: () => this.#drawn(),
    });
    this.#finder = new Finder({
      app: options.app,
      source: options.source,
      feed: this.#feed,
      rows: this.#rows,
      bar: this.#bar,
      show: (ref) => {
        const turn = this.#turn;
        return this.#show(ref, () => turn !== this.#turn);
      },
      failed: (error) => this.#options.app.note(`The search ended. ${reasonOf(error)}`, "failed"),
    });
    this.#off = options.app.live.onStatus((status) => {
      if (status === "live") this.#back();
    });
    void this.#begin();
  }

  close(): void {
    this.#off();
    this.#finder.stop();
    this.#feed.close();
    this.#rows.close();
  }

  /** Whether the end of the chat is in view and followed. */
  get following(): boolean {
    return this.#rows.pinned && this.#feed.atEnd;
  }

  /** Shows the start of the chat, or its end, and follows it from there. */
  jumpTo(where: "start" | "tail"): Promise<void> {
    return this.#instead(async (isOver) => {
      const isHeld = where === "tail" ? this.#feed.atEnd : this.#feed.atStart;
      if (!isHeld && !(await this.#opened(where))) return;
      if (isOver()) return;
      if (where === "tail") this.#rows.toEnd();
      else this.#rows.toStart();
      this.#tell();
    });
  }

  /** Shows the item `ref`, wherever in the chat it is; the chat's end, and a note, when it is not there. */
  show(ref: Cursor): Promise<void> {
    return this.#instead((isOver) => this.#show(ref, isOver));
  }

  async #show(ref: Cursor, isOver: () => boolean): Promise<void> {
    const held = this.#feed.window.ofRecord(ref)?.key;
    if (held !== undefined && this.#rows.reveal(held)) return;
    if (!(await this.#openedAt(ref, isOver))) return;
    const key = this.#feed.window.ofRecord(ref)?.key;
    if (key !== undefined && !isOver()) this.#rows.reveal(key);
  }

  /** Goes somewhere, and no longer where one was about to go: whoever asked last is followed. */
  #instead(go: (isOver: () => boolean) => Promise<void>): Promise<void> {
    this.#finder.stop();
    this.#feed.giveUp();
    const turn = ++this.#turn;
    this.#going = go(() => turn !== this.#turn);
    return this.#going;
  }

  /** Opens the part of the chat around `ref`; where there is none, says so and shows the end. */
  async #openedAt(ref: Cursor, isOver: () => boolean): Promise<boolean> {
    try {
      await this.#openPart({ ref });
      if (isOver()) return false;
      if (this.#feed.window.ofRecord(ref) !== undefined) return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 400) {
        this.failed(error, { ref });
        return false;
      }
    }
    this.#options.app.note("This link's item is not in this session; here is its end.", "failed");
    if ((await this.#opened("tail")) && !isOver()) this.#rows.toEnd();
    return false;
  }

  /** Goes to the next prompt or error below (or above) what is at the top of the view, once one is where one is going. */
  async find(what: Wanted, direction: Direction): Promise<void> {
    const turn = this.#turn;
    await this.#going;
    if (turn === this.#turn) await this.#finder.find(what, direction);
  }

  /** Takes the keys of a chat. */
  key(event: KeyboardEvent): boolean {
    const action = KEYS[event.key];
    if (action === undefined) return false;
    action(this);
    return true;
  }

  async #begin(): Promise<void> {
    const { ref } = this.#options;
    this.#state.replaceChildren(loading("Reading the chat"));
    await (ref === undefined ? this.jumpTo("tail") : this.show(ref));
  }

  async #openPart(where: Opening): Promise<void> {
    this.#missed = false;
    if (where !== "tail") this.#rows.letGo();
    await this.#feed.open(where);
    this.#rows.draw();
  }

  async #opened(where: Opening): Promise<boolean> {
    try {
      await this.#openPart(where);
      return true;
    } catch (error) {
      this.failed(error, where);
      return false;
    }
  }

  /**
   * Says that the chat can't be read, and why. While the server does not answer, or lets nobody in, what is shown stays:
   * the page says so, and this goes on when it is over.
   */
  failed(error: unknown, where: Opening = "tail"): void {
    const isAway = error instanceof Unreachable || (error instanceof Refused && error.status === 403);
    this.#awaited = isAway ? where : undefined;
    if (isAway && !this.#rows.isEmpty) return;
    if (this.#options.mayLack && error instanceof Refused && error.status === 409) {
      this.#state.replaceChildren(empty("There is no chat.", h("p", {}, reasonOf(error))));
      return;
    }
    this.#state.replaceChildren(failure("This chat can't be read", error, () => void this.#again(where)));
  }

  async #again(where: Opening): Promise<void> {
    this.#awaited = undefined;
    this.#state.replaceChildren(loading("Reading the chat"));
    if ((await this.#opened(where)) && where === "tail") this.#rows.toEnd();
  }

  /** The server is back. */
  #back(): void {
    if (this.#rows.isEmpty && this.#awaited !== undefined) void this.#again(this.#awaited);
    else void this.#feed.later();
  }

  #drawn(): void {
    this.#state.replaceChildren(...(this.#rows.isEmpty ? [EMPTY()] : []));
    this.#tell();
  }

  #tell(): void {
    if (this.following) this.#missed = false;
    const { top } = this.#rows;
    this.#bar.update({
      day: top === undefined ? "" : dayOf(timeOfRow(top), this.#options.app.now()),
      following: this.following,
      missed: this.#missed,
      isEmpty: this.#rows.isEmpty,
    });
  }
}

const KEYS: { readonly [key: string]: (pane: ChatPane) => void } = {
  "]": (pane) => void pane.find("prompt", "down"),
  "[": (pane) => void pane.find("prompt", "up"),
  e: (pane) => void pane.find("error", "down"),
  E: (pane) => void pane.find("error", "up"),
  Home: (pane) => void pane.jumpTo("start"),
  End: (pane) => void pane.jumpTo("tail"),
};

const EMPTY = (): HTMLElement => h("p", { class: "state" }, "Nothing has been said here yet.");
