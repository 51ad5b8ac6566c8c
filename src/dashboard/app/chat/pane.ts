import { Refused, Unreachable } from "../api.ts";
import { h } from "../dom.ts";
import type { Off } from "../live/live.ts";
import { failure, loading } from "../parts/states.ts";
import { dayOf, startOfDay } from "../parts/time.ts";
import type { App } from "../view.ts";
import { WindowList, type WindowRow } from "../window-list.ts";
import type { Cursor, Item } from "../wire.ts";
import { Feed, type Opening } from "./feed.ts";
import { type Direction, findRecord } from "./find-record.ts";
import { PaneBar } from "./pane-bar.ts";
import { RowViews } from "./row-views.ts";
import { type ChatRow, hasFailed, rowOf, rowsOf, timeOfRow } from "./rows.ts";
import type { ChatSource } from "./source.ts";

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
  /** A thread within another: smaller, and without keys of its own. */
  readonly nested?: boolean;
}

/** How often what comes is shown, in ms: more often than this nobody reads. */
const FRAME_MS = 60;

/** A chat that is read: opens at its end and follows it, or at an item; the rest comes as one scrolls. */
export class ChatPane {
  readonly element: HTMLElement;
  readonly #options: PaneOptions;
  readonly #box: HTMLElement;
  readonly #state: HTMLElement;
  readonly #list: WindowList;
  readonly #feed: Feed;
  readonly #views: RowViews;
  readonly #bar: PaneBar;
  readonly #open = new Set<string>();
  #rows: ChatRow[] = [];
  #byKey = new Map<string, ChatRow>();
  #drawn = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #finding: AbortController | undefined;
  #missed = 0;
  #marked: string | undefined;
  /** What was to be opened when the server was gone. */
  #awaited: Opening | undefined;
  readonly #off: Off;

  constructor(options: PaneOptions) {
    this.#options = options;
    const rows = h("div", { class: "chat-rows" });
    this.#state = h("div", { class: "chat-state" });
    this.#box = h("div", { class: "chat-box", tabindex: 0, role: "region", "aria-label": options.label }, rows);
    this.#bar = new PaneBar({
      first: () => void this.jumpTo("start"),
      last: () => void this.jumpTo("tail"),
      find: (what, direction) => void this.find(what, direction),
      stop: () => this.#finding?.abort(),
    });
    this.element = h(
      "section",
      { class: options.nested ? "chat nested" : "chat", "aria-label": options.label },
      this.#state,
      this.#box,
      this.#bar.element,
    );
    this.#views = new RowViews({
      ...options,
      toggleGroup: (key) => this.#toggleGroup(key),
      opened: () => this.#list.letGo(),
    });
    this.#list = new WindowList({
      box: this.#box,
      list: rows,
      follows: true,
      near: (end) => void (end === "first" ? this.#feed.earlier() : this.#feed.later()),
      pinned: () => this.#tell(),
      moved: () => this.#tell(),
    });
    this.#feed = new Feed(options.source, options.app.live, {
      changed: () => this.#draw(),
      failed: (error) => this.failed(error),
      missed: (count) => {
        this.#missed += count;
        this.#tell();
      },
    });
    this.#off = options.app.live.onStatus((status) => {
      if (status === "live") this.#back();
    });
    void this.#begin();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#off();
    this.#finding?.abort();
    this.#feed.close();
    this.#list.close();
    this.#views.close();
  }

  /** Whether the end of the chat is in view and followed. */
  get following(): boolean {
    return this.#list.pinned && this.#feed.atEnd;
  }

  /** Shows the start of the chat, or its end, and follows it from there. */
  async jumpTo(where: "start" | "tail"): Promise<void> {
    this.#finding?.abort();
    const isHeld = where === "tail" ? this.#feed.atEnd : this.#feed.atStart;
    if (isHeld || (await this.#opened(where))) {
      if (where === "tail") this.#list.toEnd();
      else this.#list.toStart();
    }
    this.#tell();
  }

  /** Shows the item `ref`, wherever in the chat it is; the chat's end, and a note, when it is not there. */
  async show(ref: Cursor): Promise<void> {
    this.#finding?.abort();
    const isHeld = this.#feed.window.ofRecord(ref) !== undefined;
    if (!isHeld && !(await this.#openedAt(ref))) return;
    const key = this.#feed.window.ofRecord(ref)?.key;
    if (key !== undefined) this.#reveal(key);
  }

  /** Opens the part of the chat around `ref`; where there is none, says so and shows the end. */
  async #openedAt(ref: Cursor): Promise<boolean> {
    try {
      await this.#openPart({ ref });
      if (this.#feed.window.ofRecord(ref) !== undefined) return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 400) {
        this.failed(error, { ref });
        return false;
      }
    }
    this.#options.app.note("This link's item is not in this session; here is its end.", "failed");
    if (await this.#opened("tail")) this.#list.toEnd();
    return false;
  }

  /** Goes to the next prompt or error below (or above) what is at the top of the view; reads on until there is one. */
  async find(what: "prompt" | "error", direction: Direction): Promise<void> {
    this.#finding?.abort();
    const wanted = what === "prompt" ? isPrompt : isError;
    const held = this.#heldBeyond(direction, wanted);
    if (held !== undefined) return this.#reveal(held);
    const from = direction === "up" ? this.#feed.window.start : this.#feed.window.end;
    const isOver = direction === "up" ? this.#feed.atStart : this.#feed.atEnd;
    if (isOver || from === null) return this.#options.app.announce(`No ${what} further ${direction}`);
    await this.#findBeyond(from, what, direction, wanted);
  }

  /** Takes the keys of a chat. */
  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const action = KEYS[event.key];
    if (action === undefined) return false;
    action(this);
    return true;
  }

  focus(): void {
    this.#box.focus({ preventScroll: true });
  }

  async #begin(): Promise<void> {
    const { ref } = this.#options;
    this.#state.replaceChildren(loading("Reading the chat"));
    if (ref !== undefined) await this.show(ref);
    else if (await this.#opened("tail")) this.#list.toEnd();
  }

  async #openPart(where: Opening): Promise<void> {
    this.#missed = 0;
    if (where !== "tail") this.#list.letGo();
    await this.#feed.open(where);
    this.#drawNow();
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

  #draw(): void {
    this.#timer ??= setTimeout(() => this.#drawNow(), this.#drawn ? FRAME_MS : 0);
  }

  #drawNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawn = true;
    this.#trim();
    const { items } = this.#feed.window;
    const { atStart } = this.#feed;
    this.#rows = rowsOf(items, this.#rows, { atStart, isOpen: (key) => this.#open.has(key), startOfDay });
    this.#byKey = new Map(this.#rows.map((row) => [row.key, row]));
    this.#views.live(this.#feed.atEnd ? this.#rows.at(-1)?.key : undefined);
    this.#list.set(this.#rows.map((row) => this.#windowRow(row)));
    this.#state.replaceChildren(...(items.length === 0 ? [EMPTY()] : []));
    this.#tell();
  }

  #windowRow(row: ChatRow): WindowRow {
    return {
      key: row.key,
      version: this.#views.versionOf(row),
      make: () => this.#views.make(row),
      update: (element) => this.#views.update(row, element),
    };
  }

  /** Takes items off that are far from the view. */
  #trim(): void {
    const { first, end } = this.#list.shown;
    const { window } = this.#feed;
    const [above, below] = [this.#rows[first], this.#rows[end - 1]];
    if (above === undefined || below === undefined) return;
    const from = window.placeOf(firstKeyOf(above) ?? "");
    const to = window.placeOf(lastKeyOf(below) ?? "");
    if (from >= 0 && to >= 0) this.#feed.trim(from, to + 1);
  }

  #toggleGroup(key: string): void {
    this.#list.letGo();
    if (!this.#open.delete(key)) this.#open.add(key);
    this.#drawNow();
  }

  #reveal(key: string): void {
    const found = rowOf(this.#rows, key);
    if (found === undefined) return;
    if (found.group !== undefined && !this.#open.has(found.group)) this.#toggleGroup(found.group);
    const element = this.#list.reveal(found.row, "start");
    this.#mark(found.row);
    element?.focus({ preventScroll: true });
    this.#tell();
  }

  /** Marks the row that a link or a jump led to. */
  #mark(key: string): void {
    if (this.#marked !== undefined) this.#list.elementOf(this.#marked)?.removeAttribute("aria-current");
    this.#marked = key;
    this.#views.mark(key);
    this.#list.elementOf(key)?.setAttribute("aria-current", "true");
  }

  /** The nearest item that is held above or below the row at the top of the view, or the row that was gone to last. */
  #heldBeyond(direction: Direction, wanted: (item: Item) => boolean): string | undefined {
    const keys = this.#rows.filter((row) => row.kind !== "day");
    const top = this.#list.topKey();
    const active = document.activeElement?.closest<HTMLElement>("[data-key]")?.dataset.key;
    const here = keys.findIndex(({ key }) => key === (active ?? top) || `${key}` === top);
    const beyond = direction === "down" ? keys.slice(here + 1) : keys.slice(0, Math.max(here, 0)).reverse();
    for (const row of beyond) {
      const key = wantedKeyOf(row, wanted);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  async #findBeyond(from: Cursor, what: string, direction: Direction, wanted: (item: Item) => boolean): Promise<void> {
    const finding = new AbortController();
    this.#finding = finding;
    this.#bar.finding(`Looking ${direction} for the next ${what} …`);
    try {
      const ref = await findRecord(this.#options.source, from, direction, wanted, finding.signal);
      if (finding.signal.aborted) return;
      if (ref === undefined) this.#options.app.announce(`No ${what} further ${direction}`);
      else await this.show(ref);
    } catch (error) {
      if (!finding.signal.aborted) this.failed(error);
    } finally {
      if (this.#finding === finding) {
        this.#finding = undefined;
        this.#bar.finding(undefined);
      }
    }
  }

  /**
   * Says that the chat can't be read, and why. While the server does not answer, or lets nobody in, what is shown stays:
   * the page says so, and this goes on when it is over.
   */
  failed(error: unknown, where: Opening = "tail"): void {
    const isAway = error instanceof Unreachable || (error instanceof Refused && error.status === 403);
    this.#awaited = isAway ? where : undefined;
    if (isAway && this.#rows.length > 0) return;
    this.#state.replaceChildren(failure("This chat can't be read", error, () => void this.#again(where)));
  }

  async #again(where: Opening): Promise<void> {
    this.#awaited = undefined;
    this.#state.replaceChildren(loading("Reading the chat"));
    if ((await this.#opened(where)) && where === "tail") this.#list.toEnd();
  }

  /** The server is back. */
  #back(): void {
    if (this.#rows.length === 0 && this.#awaited !== undefined) void this.#again(this.#awaited);
    else void this.#feed.later();
  }

  #tell(): void {
    if (this.following) this.#missed = 0;
    const top = this.#byKey.get(this.#list.topKey() ?? "");
    this.#bar.update({
      day: top === undefined ? "" : dayOf(timeOfRow(top), this.#options.app.now()),
      following: this.following,
      atEnd: this.#feed.atEnd,
      missed: this.#missed,
      isEmpty: this.#rows.length === 0,
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

function isPrompt({ kind }: Item): boolean {
  return kind === "user";
}

function isError({ error }: Item): boolean {
  return error === true;
}

/** The key of the item in `row` that is wanted. */
function wantedKeyOf(row: ChatRow, wanted: (item: Item) => boolean): string | undefined {
  if (row.kind === "day") return undefined;
  if (row.kind === "call")
    return [row.call, ...row.outputs].find((held) => held !== undefined && wanted(held.item))?.key;
  if (row.kind !== "group") return wanted(row.held.item) ? row.key : undefined;
  if (row.open) return undefined;
  const call = row.calls.find((each) => hasFailed(each) && wantedKeyOf(each, wanted) !== undefined);
  return call && wantedKeyOf(call, wanted);
}

function firstKeyOf(row: ChatRow): string | undefined {
  if (row.kind === "day") return undefined;
  return row.kind === "group" ? row.calls[0]?.key : row.key;
}

function lastKeyOf(row: ChatRow): string | undefined {
  if (row.kind === "day") return undefined;
  if (row.kind === "group") return row.calls.at(-1)?.key;
  return row.key;
}
