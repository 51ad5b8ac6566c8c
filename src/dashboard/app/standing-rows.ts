import { h } from "./dom.ts";
import { reasonOf } from "./parts/states.ts";

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

interface Shown {
  readonly element: HTMLElement;
  version: unknown;
}

/** A row, and where it stands in the list and on the screen. */
export interface RowPlace {
  readonly key: string;
  readonly place: number;
  readonly top: number;
}

/** The rows of a list, of which those from `first` up to `end` stand in the page, and where on the screen they do. */
export class StandingRows {
  readonly #box: HTMLElement;
  readonly #list: HTMLElement;
  readonly #shown = new Map<string, Shown>();
  #rows: readonly WindowRow[] = [];
  #places = new Map<string, number>();
  #first = 0;
  #end = 0;

  /** `list` holds them, inside of `box`, which scrolls. */
  constructor(box: HTMLElement, list: HTMLElement) {
    this.#box = box;
    this.#list = list;
  }

  /** How many rows there are, in the page or not. */
  get length(): number {
    return this.#rows.length;
  }

  /** The place of the first row that stands in the page. */
  get first(): number {
    return this.#first;
  }

  /** The place after the last row that stands in the page. */
  get end(): number {
    return this.#end;
  }

  /** Makes `rows` those of the list; which of them stand in the page is said next. */
  take(rows: readonly WindowRow[]): void {
    this.#rows = rows;
    this.#places = new Map(rows.map((row, place) => [row.key, place]));
  }

  /** Makes the rows from `from` up to and without `to`, as far as there are such, those that stand in the page. */
  place(from: number, to: number): void {
    const first = Math.max(from, 0);
    const end = Math.min(to, this.#rows.length);
    const wanted = this.#rows.slice(first, end);
    const kept = new Set(wanted.map(({ key }) => key));
    for (const [key, { element }] of this.#shown) {
      if (kept.has(key)) continue;
      this.#shown.delete(key);
      element.remove();
    }
    let next = this.#list.firstElementChild;
    for (const row of wanted) {
      const before = this.#shown.get(row.key)?.element;
      const element = this.#elementFor(row);
      // What was made anew has taken the place of its earlier element.
      if (before === next && before !== element) next = element;
      if (element === next) next = next.nextElementSibling;
      else this.#list.insertBefore(element, next);
    }
    while (next !== null) {
      const left = next;
      next = next.nextElementSibling;
      left.remove();
    }
    this.#first = first;
    this.#end = end;
  }

  /** The place of a row in the list. */
  placeOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  /** The element of a row, while it stands in the page. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#shown.get(key)?.element;
  }

  /** The first row in view, and where it stands. */
  anchor(): RowPlace | undefined {
    const { top } = this.#box.getBoundingClientRect();
    // The rows stand in order, so the first that ends in view is found by halving.
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.bottomOf(middle) > top) high = middle;
      else low = middle + 1;
    }
    const row = this.#rows[low];
    if (low >= this.#end || row === undefined) return undefined;
    return { key: row.key, place: low, top: this.topOf(low) };
  }

  /** The rows in view and below it that stand in the page, and where: one of them will still be there when others come. */
  inView(): RowPlace[] {
    const anchor = this.anchor();
    if (anchor === undefined) return [];
    return this.#rows
      .slice(anchor.place, this.#end)
      .map(({ key }, index) => ({ key, place: anchor.place + index, top: this.topOf(anchor.place + index) }));
  }

  /** Where a row that stands in the page begins on the screen, and ends, in pixels. */
  topOf(place: number): number {
    return this.#rectOf(place)?.top ?? 0;
  }

  bottomOf(place: number): number {
    return this.#rectOf(place)?.bottom ?? 0;
  }

  #rectOf(place: number): DOMRect | undefined {
    return this.elementOf(this.#rows[place]?.key ?? "")?.getBoundingClientRect();
  }

  #elementFor(row: WindowRow): HTMLElement {
    const shown = this.#shown.get(row.key);
    if (shown !== undefined) {
      if (Object.is(shown.version, row.version)) return shown.element;
      if (isUpdated(row, shown.element)) {
        shown.version = row.version;
        return shown.element;
      }
    }
    const element = this.#made(row);
    if (shown !== undefined) {
      const focused = shown.element.contains(document.activeElement);
      shown.element.replaceWith(element);
      if (focused && element.tabIndex >= 0) element.focus({ preventScroll: true });
    }
    this.#shown.set(row.key, { element, version: row.version });
    return element;
  }

  /** A row that can't be made says so in its own place: the others are there all the same. */
  #made(row: WindowRow): HTMLElement {
    try {
      return row.make();
    } catch (error) {
      const isList = this.#list.getAttribute("role") === "list";
      return h(isList ? "li" : "div", { class: "fault" }, `This row can't be shown. ${reasonOf(error)}`);
    }
  }
}

/** One that fails at it is made anew. */
function isUpdated(row: WindowRow, element: HTMLElement): boolean {
  try {
    return row.update?.(element) === true;
  } catch {
    return false;
  }
}
