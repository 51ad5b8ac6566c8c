/** One row of a list of which only what is near the view stands in the page. */
export interface WindowRow {
  readonly key: string;
  /** Makes the row's element; called again when it comes back into the window, or with another `version`. */
  make(): HTMLElement;
  /** A row whose version is another one (by `Object.is`) is updated, or made anew. */
  readonly version?: unknown;
  /** Brings an element of this row up to date; false when it has to be made anew. */
  update?(element: HTMLElement): boolean;
}

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
  /** Whether the view may be held at the end at all: a chat is, a list is not. */
  readonly follows?: boolean;
}

interface Shown {
  readonly element: HTMLElement;
  version: unknown;
}

/** A row, and where it stands in the list and on the screen. */
interface Place {
  readonly key: string;
  readonly place: number;
  readonly top: number;
}

/** How many views' heights of rows stand above and below the view, at least and at most. */
const LEAST_AROUND = 1;
const MOST_AROUND = 2.5;
/** Rows that are made before their height is looked at. */
const STRIDE = 12;
/** The end counts as in view from here on, in pixels. */
const END_REACH = 32;

/**
 * A list that keeps only the rows around the view in the page, however many there are, and what is seen where it is,
 * whatever comes or goes elsewhere. While `pinned`, the view stays at the end as rows come; it lets go when one scrolls up.
 */
export class WindowList {
  readonly #options: WindowListOptions;
  readonly #shown = new Map<string, Shown>();
  readonly #sizes: ResizeObserver;
  #rows: readonly WindowRow[] = [];
  #places = new Map<string, number>();
  /** The rows that stand in the page: from `#first` up to and without `#end`. */
  #first = 0;
  #end = 0;
  #pinned: boolean;
  /** Where the view was when this class last looked or moved it. */
  #top = 0;
  #busy = false;
  #frame: number | undefined;

  constructor(options: WindowListOptions) {
    this.#options = options;
    this.#pinned = options.follows === true;
    options.box.addEventListener("scroll", this.#scrolled, { passive: true });
    this.#sizes = new ResizeObserver(() => this.#settle());
    this.#sizes.observe(options.box);
    this.#sizes.observe(options.list);
  }

  /** Whether the view is held at the end. */
  get pinned(): boolean {
    return this.#pinned;
  }

  /** The rows that stand in the page. */
  get shown(): { readonly first: number; readonly end: number } {
    return { first: this.#first, end: this.#end };
  }

  close(): void {
    this.#sizes.disconnect();
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#options.box.removeEventListener("scroll", this.#scrolled);
  }

  /** Makes `rows` what the list holds. */
  set(rows: readonly WindowRow[]): void {
    const size = Math.max(this.#end - this.#first, STRIDE);
    if (this.#pinned) {
      this.#take(rows);
      this.#place(Math.max(rows.length - size, 0), rows.length);
    } else {
      const seen = this.#inView();
      this.#take(rows);
      const anchor = seen.find(({ key }) => this.#places.has(key));
      const before = anchor === undefined ? 0 : anchor.place - this.#first;
      const at = (anchor && this.#places.get(anchor.key)) ?? this.#first;
      const first = Math.max(Math.min(at - before, rows.length - size), 0);
      this.#place(first, Math.min(first + size, rows.length));
      this.#hold(anchor);
    }
    this.#settle();
  }

  #take(rows: readonly WindowRow[]): void {
    this.#rows = rows;
    this.#places = new Map(rows.map((row, place) => [row.key, place]));
  }

  /** The rows in view and below it that stand in the page, and where: one of them will still be there when others come. */
  #inView(): Place[] {
    const anchor = this.#anchor();
    if (anchor === undefined) return [];
    return this.#rows
      .slice(anchor.place, this.#end)
      .map(({ key }, index) => ({ key, place: anchor.place + index, top: this.#topOf(anchor.place + index) }));
  }

  /** Shows the end; with `follows`, the view is held there. */
  toEnd(): void {
    this.#setPinned(this.#options.follows === true);
    this.#place(Math.max(this.#rows.length - STRIDE, 0), this.#rows.length);
    this.#settle();
    this.#scrollTo(this.#options.box.scrollHeight);
    this.#settle();
  }

  /** Shows the first row. */
  toStart(): void {
    this.#setPinned(false);
    this.#place(0, Math.min(STRIDE, this.#rows.length));
    this.#scrollTo(0);
    this.#settle();
  }

  /** Brings the row `key` into view: `start` puts it at the top, `nearest` moves no more than it must. Its element. */
  reveal(key: string, where: "start" | "nearest" = "nearest"): HTMLElement | undefined {
    const place = this.#places.get(key);
    if (place === undefined) return undefined;
    this.#setPinned(false);
    if (place < this.#first || place >= this.#end) {
      this.#place(Math.max(place - STRIDE, 0), Math.min(place + STRIDE, this.#rows.length));
    }
    const element = this.#shown.get(key)?.element;
    if (element === undefined) return undefined;
    this.#bring(element, where);
    this.#settle();
    this.#bring(element, where);
    return element;
  }

  /** The element of a row, while it stands in the page. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#shown.get(key)?.element;
  }

  /** The key of the row at the top of the view. */
  topKey(): string | undefined {
    return this.#anchor()?.key;
  }

  /** Lets go of the end, so that what the reader opens grows downward and does not move what they look at. */
  letGo(): void {
    this.#setPinned(false);
  }

  readonly #scrolled = (): void => {
    const { box } = this.#options;
    const { scrollTop } = box;
    if (this.#options.follows === true && !this.#busy) {
      const atEnd = this.#end === this.#rows.length && this.#below() < END_REACH;
      if (atEnd) this.#setPinned(true);
      else if (scrollTop < this.#top - 1) this.#setPinned(false);
    }
    this.#top = scrollTop;
    this.#settle();
    this.#options.moved?.();
  };

  /** Makes and takes away rows until the window is right, and asks for more where it ends. */
  #settle(): void {
    if (this.#busy || this.#options.box.clientHeight === 0) return;
    this.#busy = true;
    try {
      // First to the end, or the tall rows there would be taken for far from the view.
      if (this.#pinned) this.#scrollTo(this.#options.box.scrollHeight);
      this.#extend();
      this.#trim();
      if (this.#pinned) this.#scrollTo(this.#options.box.scrollHeight);
    } finally {
      this.#busy = false;
    }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#askForMore();
    });
  }

  /** Once a frame at most: whoever answers at once by setting the same rows again would never let go of the page. */
  #askForMore(): void {
    const view = this.#options.box.clientHeight;
    if (view === 0) return;
    if (this.#first === 0 && this.#above() < view) this.#options.near?.("first");
    if (this.#end === this.#rows.length && this.#below() < view) this.#options.near?.("last");
  }

  #extend(): void {
    const least = LEAST_AROUND * this.#options.box.clientHeight;
    while (this.#first > 0 && this.#above() < least) {
      const anchor = this.#pinned ? undefined : this.#anchor();
      this.#place(Math.max(this.#first - STRIDE, 0), this.#end);
      if (this.#pinned) this.#scrollTo(this.#options.box.scrollHeight);
      else this.#hold(anchor);
    }
    while (this.#end < this.#rows.length && this.#below() < least) {
      this.#place(this.#first, Math.min(this.#end + STRIDE, this.#rows.length));
    }
  }

  #trim(): void {
    const most = MOST_AROUND * this.#options.box.clientHeight;
    const box = this.#options.box.getBoundingClientRect();
    let first = this.#first;
    let end = this.#end;
    while (first < end - 1 && box.top - this.#bottomOf(first) > most) first++;
    while (end > first + 1 && this.#topOf(end - 1) - box.bottom > most) end--;
    if (first === this.#first && end === this.#end) return;
    const anchor = this.#pinned ? undefined : this.#anchor();
    this.#place(first, end);
    this.#hold(anchor);
  }

  /** Makes the rows from `first` up to `end` those that stand in the page. */
  #place(first: number, end: number): void {
    const { list } = this.#options;
    const wanted = this.#rows.slice(first, end);
    const kept = new Set(wanted.map(({ key }) => key));
    for (const [key, { element }] of this.#shown) {
      if (kept.has(key)) continue;
      this.#shown.delete(key);
      element.remove();
    }
    let next = list.firstElementChild;
    for (const row of wanted) {
      const before = this.#shown.get(row.key)?.element;
      const element = this.#elementFor(row);
      // What was made anew has taken the place of its earlier element.
      if (before === next && before !== element) next = element;
      if (element === next) next = next.nextElementSibling;
      else list.insertBefore(element, next);
    }
    while (next !== null) {
      const left = next;
      next = next.nextElementSibling;
      left.remove();
    }
    this.#first = first;
    this.#end = end;
  }

  #elementFor(row: WindowRow): HTMLElement {
    const shown = this.#shown.get(row.key);
    if (shown !== undefined) {
      if (Object.is(shown.version, row.version)) return shown.element;
      if (row.update?.(shown.element) === true) {
        shown.version = row.version;
        return shown.element;
      }
    }
    const element = row.make();
    if (shown !== undefined) {
      const focused = shown.element.contains(document.activeElement);
      shown.element.replaceWith(element);
      if (focused && element.tabIndex >= 0) element.focus({ preventScroll: true });
    }
    this.#shown.set(row.key, { element, version: row.version });
    return element;
  }

  /** The first row in view, and where it stands. */
  #anchor(): Place | undefined {
    const { top } = this.#options.box.getBoundingClientRect();
    // The rows stand in order, so the first that ends in view is found by halving.
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bottomOf(middle) > top) high = middle;
      else low = middle + 1;
    }
    const row = this.#rows[low];
    if (low >= this.#end || row === undefined) return undefined;
    return { key: row.key, place: low, top: this.#topOf(low) };
  }

  #hold(anchor: Place | undefined): void {
    const element = anchor && this.#shown.get(anchor.key)?.element;
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

  #scrollTo(top: number): void {
    this.#options.box.scrollTop = top;
    this.#top = this.#options.box.scrollTop;
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

  #topOf(place: number): number {
    return this.#rectOf(place)?.top ?? 0;
  }

  #bottomOf(place: number): number {
    return this.#rectOf(place)?.bottom ?? 0;
  }

  #rectOf(place: number): DOMRect | undefined {
    return this.#shown.get(this.#rows[place]?.key ?? "")?.element.getBoundingClientRect();
  }
}
