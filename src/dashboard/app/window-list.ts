import { onScrollWishes } from "./scroll-wishes.ts";
import { type RowPlace, StandingRows, type WindowRow } from "./standing-rows.ts";

/** What a windowed list tells. */
export interface WindowListOptions {
  /** What scrolls. */
  readonly box: HTMLElement;
  /** What holds the rows, inside of `box`; nothing else may stand in it. */
  readonly list: HTMLElement;
  /** The view comes near the first or the last row that there is: more is wanted. May be told again and again. */
  readonly near?: (end: "first" | "last") => void;
  /** Whether the view is held at the end has changed. */
  readonly pinned?: (pinned: boolean) => void;
  /** Something else is in view. */
  readonly moved?: () => void;
  /** Whether the last row that there is is the end, at which the view may be held: in a chat, not in a list. */
  readonly follows?: () => boolean;
}

/** How many views' heights of rows stand above and below the view, at least and at most. */
const LEAST_AROUND = 1;
const MOST_AROUND = 2.5;
/** Rows that are made before their height is looked at. */
const STRIDE = 12;
/** The end counts as in view from here on, in pixels. */
const END_REACH = 32;
/** What a row keeps of its distance from the top of the view when that comes nearer, in pixels. */
const ROOM = 8;

/**
 * A list that keeps only the rows around the view in the page, however many there are, and what is seen where it is,
 * whatever comes or goes elsewhere. While `pinned`, the view stays at the end as rows come; it lets go when one scrolls up.
 */
export class WindowList {
  readonly #options: WindowListOptions;
  readonly #rows: StandingRows;
  readonly #sizes: ResizeObserver;
  readonly #wishes: () => void;
  #pinned: boolean;
  /** Where the view was when this class last looked or moved it. */
  #top = 0;
  #busy = false;
  /** The row at the top of the view when this class last looked, and where it stood. */
  #held: RowPlace | undefined;
  #boxTop = 0;
  #size: readonly [width: number, height: number] = [0, 0];
  #frame: number | undefined;

  constructor(options: WindowListOptions) {
    this.#options = options;
    this.#rows = new StandingRows(options.box, options.list);
    this.#pinned = options.follows !== undefined;
    options.box.addEventListener("scroll", this.#scrolled, { passive: true });
    // Small steps up would be undone by what comes before they are told, and at the very end no scrolling tells a wish.
    this.#wishes = onScrollWishes(options.box, {
      up: () => this.#above() > 0 && this.#setPinned(false),
      down: () => this.regain(),
    });
    this.#sizes = new ResizeObserver(() => this.#resized());
    this.#sizes.observe(options.box);
    this.#sizes.observe(options.list);
  }

  /** Whether the view is held at the end. */
  get pinned(): boolean {
    return this.#pinned;
  }

  /** The rows that stand in the page. */
  get shown(): { readonly first: number; readonly end: number } {
    return this.#rows;
  }

  close(): void {
    this.#sizes.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#options.box.removeEventListener("scroll", this.#scrolled);
    this.#wishes();
  }

  /** Makes `rows` what the list holds. */
  set(rows: readonly WindowRow[]): void {
    const standing = this.#rows;
    const size = Math.max(standing.end - standing.first, STRIDE);
    if (this.#pinned) {
      standing.take(rows);
      standing.place(rows.length - size, rows.length);
    } else {
      this.#keepPlace();
      const seen = standing.inView();
      standing.take(rows);
      const anchor = seen.find(({ key }) => standing.placeOf(key) !== undefined);
      const before = anchor === undefined ? 0 : anchor.place - standing.first;
      const at = (anchor && standing.placeOf(anchor.key)) ?? standing.first;
      const first = Math.max(Math.min(at - before, rows.length - size), 0);
      standing.place(first, first + size);
      this.#hold(anchor);
    }
    this.#settle();
  }

  /** Shows the end; with `follows`, the view is held there. */
  toEnd(): void {
    this.#setPinned(this.#options.follows !== undefined);
    this.#rows.place(this.#rows.length - STRIDE, this.#rows.length);
    this.#settle();
    this.#scrollTo(this.#options.box.scrollHeight);
    this.#settle();
  }

  /** Shows the first row. */
  toStart(): void {
    this.#setPinned(false);
    this.#rows.place(0, STRIDE);
    this.#scrollTo(0);
    this.#settle();
  }

  /** Brings the row `key` into view: `start` puts it at the top, `nearest` moves no more than it must. Its element. */
  reveal(key: string, where: "start" | "nearest" = "nearest"): HTMLElement | undefined {
    const place = this.#rows.placeOf(key);
    if (place === undefined) return undefined;
    this.#setPinned(false);
    if (place < this.#rows.first || place >= this.#rows.end) this.#rows.place(place - STRIDE, place + STRIDE);
    const element = this.#rows.elementOf(key);
    if (element === undefined) return undefined;
    this.#bring(element, where);
    this.#settle();
    this.#bring(element, where);
    return element;
  }

  /** The element of a row, while it stands in the page. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#rows.elementOf(key);
  }

  /** The key of the row at the top of the view. */
  topKey(): string | undefined {
    return this.#rows.anchor()?.key;
  }

  /** How many rows the view holds, by those that stand in it; 10 while none does. */
  pageLength(): number {
    const { first, end } = this.#rows;
    const height = (this.#rows.bottomOf(end - 1) - this.#rows.topOf(first)) / (end - first);
    return height > 0 ? Math.max(Math.floor(this.#options.box.clientHeight / height) - 2, 1) : 10;
  }

  /** Lets go of the end, so that what the reader opens grows downward and does not move what they look at. */
  letGo(): void {
    this.#setPinned(false);
  }

  /** Holds the end again, if that is in view. */
  regain(): void {
    if (this.#options.follows !== undefined && this.#isAtEnd()) this.#setPinned(true);
  }

  readonly #scrolled = (): void => {
    this.#keepPlace();
    const { scrollTop } = this.#options.box;
    if (this.#options.follows !== undefined && !this.#busy) {
      // However little one scrolls up, it lets go. At the very end one did not scroll: there was less to show.
      if (scrollTop < this.#top && this.#below() >= 1) this.#setPinned(false);
      else if (scrollTop > this.#top && this.#isAtEnd()) this.#setPinned(true);
    }
    this.#top = scrollTop;
    this.#settle();
    this.#options.moved?.();
  };

  /** The end is in view: of all that there is, and not only of what was read so far. */
  #isAtEnd(): boolean {
    return this.#rows.end === this.#rows.length && this.#below() < END_REACH && this.#options.follows?.() === true;
  }

  /** The view, or something in it, has another size: what was at the top of the view stays there. */
  #resized(): void {
    if (!this.#pinned && !this.#busy && this.#held !== undefined) this.#hold(this.#inSight(this.#held));
    this.#settle();
  }

  /** Where the view has another size of which nothing was told yet: as above, before anything is measured anew. */
  #keepPlace(): void {
    const { clientWidth, clientHeight } = this.#options.box;
    if (clientWidth === this.#size[0] && clientHeight === this.#size[1]) return;
    this.#size = [clientWidth, clientHeight];
    if (!this.#pinned && !this.#busy && this.#held !== undefined) this.#hold(this.#inSight(this.#held));
  }

  /** Where `held` is to stand when what is above the view has grown: a row that began in view still does. */
  #inSight(held: RowPlace): RowPlace {
    const below = held.top - this.#boxTop;
    const top = this.#options.box.getBoundingClientRect().top;
    return below < 0 ? held : { ...held, top: Math.max(held.top, top + Math.min(below, ROOM)) };
  }

  /** Makes and takes away rows until the window is right, and asks for more where it ends. */
  #settle(): void {
    if (this.#busy || this.#options.box.clientHeight === 0) return;
    this.#busy = true;
    try {
      // First to the end, or the tall rows there would be taken for far from the view.
      if (this.#pinned) this.#toBottom();
      this.#extend();
      this.#trim();
      if (this.#pinned) this.#toBottom();
    } finally {
      this.#busy = false;
    }
    this.#held = this.#rows.anchor();
    this.#boxTop = this.#options.box.getBoundingClientRect().top;
    this.#size = [this.#options.box.clientWidth, this.#options.box.clientHeight];
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#askForMore();
    });
  }

  /** Once a frame at most: whoever answers at once by setting the same rows again would never let go of the page. */
  #askForMore(): void {
    const view = this.#options.box.clientHeight;
    if (view === 0) return;
    if (this.#rows.first === 0 && this.#above() < view) this.#options.near?.("first");
    if (this.#rows.end === this.#rows.length && this.#below() < view) this.#options.near?.("last");
  }

  #extend(): void {
    const least = LEAST_AROUND * this.#options.box.clientHeight;
    while (this.#rows.first > 0 && this.#above() < least) {
      const anchor = this.#pinned ? undefined : this.#rows.anchor();
      this.#rows.place(this.#rows.first - STRIDE, this.#rows.end);
      if (this.#pinned) this.#scrollTo(this.#options.box.scrollHeight);
      else this.#hold(anchor);
    }
    while (this.#rows.end < this.#rows.length && this.#below() < least) {
      this.#rows.place(this.#rows.first, this.#rows.end + STRIDE);
    }
  }

  #trim(): void {
    const most = MOST_AROUND * this.#options.box.clientHeight;
    const box = this.#options.box.getBoundingClientRect();
    let first = this.#rows.first;
    let end = this.#rows.end;
    while (first < end - 1 && box.top - this.#rows.bottomOf(first) > most) first++;
    while (end > first + 1 && this.#rows.topOf(end - 1) - box.bottom > most) end--;
    if (first === this.#rows.first && end === this.#rows.end) return;
    const anchor = this.#pinned ? undefined : this.#rows.anchor();
    this.#rows.place(first, end);
    this.#hold(anchor);
  }

  #hold(anchor: RowPlace | undefined): void {
    const element = anchor && this.#rows.elementOf(anchor.key);
    if (element === undefined || anchor === undefined) return;
    const moved = element.getBoundingClientRect().top - anchor.top;
    if (Math.abs(moved) >= 0.5) this.#scrollTo(this.#options.box.scrollTop + moved);
  }

  #bring(element: HTMLElement, where: "start" | "nearest"): void {
    const box = this.#options.box.getBoundingClientRect();
    const { top, bottom } = element.getBoundingClientRect();
    const room = Number.parseFloat(getComputedStyle(this.#options.box).scrollPaddingTop) || 0;
    const up = top - box.top - room;
    if (where === "start" || up < 0) this.#scrollTo(this.#options.box.scrollTop + up);
    else if (bottom > box.bottom) {
      this.#scrollTo(this.#options.box.scrollTop + Math.min(bottom - box.bottom, up));
    }
  }

  /** Touches nothing at the end: a scrolling that goes on would be ended. */
  #toBottom(): void {
    if (this.#below() >= 1) this.#scrollTo(this.#options.box.scrollHeight);
  }

  #scrollTo(top: number): void {
    this.#options.box.scrollTop = top;
    this.#top = this.#options.box.scrollTop;
    this.#held = undefined;
  }

  #setPinned(pinned: boolean): void {
    if (pinned === this.#pinned) return;
    this.#pinned = pinned;
    this.#options.pinned?.(pinned);
  }

  /** Pixels of rows above the view, and below. */
  #above(): number {
    const { box, list } = this.#options;
    // Other things may stand above the list, in the same box.
    return Math.max(box.getBoundingClientRect().top - list.getBoundingClientRect().top, 0);
  }

  #below(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#options.box;
    return scrollHeight - scrollTop - clientHeight;
  }
}
