import { h } from "../dom.ts";
import { startOfDay } from "../parts/time.ts";
import type { WindowRow } from "../standing-rows.ts";
import { WindowList } from "../window-list.ts";
import type { Item } from "../wire.ts";
import type { Feed } from "./feed.ts";
import type { Direction } from "./find-record.ts";
import { type RowViewOptions, RowViews } from "./row-views.ts";
import { type ChatRow, rowOf, rowsOf } from "./rows.ts";
import { wantedBeyond } from "./wanted.ts";

/** What the rows of a pane are drawn from. */
export interface PaneRowsOptions extends Omit<RowViewOptions, "toggleGroup" | "opened" | "folded"> {
  /** What scrolls, and holds the rows. */
  readonly box: HTMLElement;
  readonly feed: Feed;
  /** Other rows are there. */
  drawn(): void;
  /** Others are in view. */
  moved(): void;
}

/** How often what comes is shown, in ms: more often than this nobody reads. */
const FRAME_MS = 60;

/** The rows of a chat, as they are drawn: those near the view, with what is unfolded and what is marked. */
export class PaneRows {
  readonly #options: PaneRowsOptions;
  readonly #list: WindowList;
  readonly #views: RowViews;
  readonly #open = new Set<string>();
  #rows: ChatRow[] = [];
  #drawn = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #marked: string | undefined;

  constructor(options: PaneRowsOptions) {
    this.#options = options;
    const { box, feed, moved } = options;
    const list = h("div", { class: "chat-rows" });
    box.append(list);
    this.#views = new RowViews({
      ...options,
      toggleGroup: (key) => this.#toggleGroup(key),
      opened: () => this.#list.letGo(),
      folded: () => this.#list.regain(),
    });
    this.#list = new WindowList({
      box,
      list,
      follows: () => options.feed.atEnd,
      near: (end) => void (end === "first" ? feed.earlier() : feed.later()),
      pinned: moved,
      moved,
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#list.close();
    this.#views.close();
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** Whether the view is held at the last row. */
  get pinned(): boolean {
    return this.#list.pinned;
  }

  /** The row at the top of the view. */
  get top(): ChatRow | undefined {
    const key = this.#list.topKey();
    return this.#rows.find((row) => row.key === key);
  }

  toStart(): void {
    this.#list.toStart();
  }

  toEnd(): void {
    this.#list.toEnd();
  }

  /** Lets go of the end. */
  letGo(): void {
    this.#list.letGo();
  }

  /** Draws what is held, in a moment. */
  drawSoon(): void {
    this.#timer ??= setTimeout(() => this.draw(), this.#drawn ? FRAME_MS : 0);
  }

  /** Draws what is held. */
  draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#drawn = true;
    this.#trim();
    const { window, atStart, atEnd } = this.#options.feed;
    this.#rows = rowsOf(window.items, this.#rows, { atStart, isOpen: (key) => this.#open.has(key), startOfDay });
    this.#views.live(atEnd ? this.#rows.at(-1)?.key : undefined);
    this.#list.set(this.#rows.map((row) => this.#windowRow(row)));
    this.#options.drawn();
  }

  /** Brings the item `key` to the top of the view, unfolded where it is folded away, and marks it; false when it is not held. */
  reveal(key: string): boolean {
    // What has just come may not be drawn yet.
    if (rowOf(this.#rows, key) === undefined) this.draw();
    const found = rowOf(this.#rows, key);
    if (found === undefined) return false;
    if (found.group !== undefined && !this.#open.has(found.group)) this.#toggleGroup(found.group);
    const element = this.#list.reveal(found.row, "start");
    this.#mark(found.row);
    element?.focus({ preventScroll: true });
    this.#options.moved();
    return true;
  }

  /** The nearest item that is `wanted`, above or below the row that was gone to last, or else the top of the view. */
  beyond(direction: Direction, wanted: (item: Item) => boolean): string | undefined {
    return wantedBeyond(this.#rows, this.#focused() ?? this.#list.topKey(), direction, wanted);
  }

  /** The row that has the focus, while it is in view. */
  #focused(): string | undefined {
    const row = document.activeElement?.closest<HTMLElement>("[data-key]");
    const key = row?.dataset.key;
    if (!row || key === undefined || this.#list.elementOf(key) !== row) return undefined;
    const box = this.#options.box.getBoundingClientRect();
    const { top, bottom } = row.getBoundingClientRect();
    return bottom > box.top && top < box.bottom ? key : undefined;
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
    const { feed } = this.#options;
    const [above, below] = [this.#rows[first], this.#rows[end - 1]];
    if (above === undefined || below === undefined) return;
    const from = feed.window.placeOf(firstKeyOf(above) ?? "");
    const to = feed.window.placeOf(lastKeyOf(below) ?? "");
    if (from >= 0 && to >= 0) feed.trim(from, to + 1);
  }

  #toggleGroup(key: string): void {
    const isOpen = this.#open.delete(key);
    this.#list.letGo();
    if (!isOpen) this.#open.add(key);
    this.draw();
    if (isOpen) this.#list.regain();
  }

  /** Marks the row that a link or a jump led to. */
  #mark(key: string): void {
    if (this.#marked !== undefined) this.#list.elementOf(this.#marked)?.removeAttribute("aria-current");
    this.#marked = key;
    this.#views.mark(key);
    this.#list.elementOf(key)?.setAttribute("aria-current", "true");
  }
}

function firstKeyOf(row: ChatRow): string | undefined {
  if (row.kind === "day") return undefined;
  return row.kind === "group" ? row.calls[0]?.key : row.key;
}

function lastKeyOf(row: ChatRow): string | undefined {
  if (row.kind === "day") return undefined;
  return row.kind === "group" ? row.calls.at(-1)?.key : row.key;
}
