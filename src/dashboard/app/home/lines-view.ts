import { h } from "../dom.ts";
import type { WindowRow } from "../standing-rows.ts";
import { WindowList } from "../window-list.ts";
import { type Line, versionOf } from "./lines.ts";
import type { Spot } from "./memory.ts";
import { lineElement, paintLine, type RowContext } from "./row.ts";

/** What the lines need of the view around them. */
export interface LinesViewOptions {
  /** What scrolls: the whole view. */
  readonly box: HTMLElement;
  /** The end of the lines comes near. */
  nearEnd(): void;
  /** Something else is in view. */
  moved(): void;
}

/** The lines of the list of sessions, below other things in the same box: what is in view of them, and has the focus. */
export class LinesView {
  readonly element = h("div", { class: "rows", role: "list", "aria-label": "Sessions" });
  readonly #box: HTMLElement;
  readonly #window: WindowList;
  #lines: readonly Line[] = [];

  constructor({ box, nearEnd, moved }: LinesViewOptions) {
    this.#box = box;
    // Before the window looks: what it would hold in view is no longer what one looks at.
    box.addEventListener("scroll", () => this.#jumped(), { passive: true });
    this.#window = new WindowList({ box, list: this.element, near: (end) => end === "last" && nearEnd(), moved });
  }

  close(): void {
    this.#window.close();
  }

  /** How many lines there are. */
  get length(): number {
    return this.#lines.length;
  }

  /** The place of the line that has the focus; -1 when none has. */
  get focused(): number {
    const row = document.activeElement?.closest<HTMLElement>("[data-key]");
    return row && this.element.contains(row) ? this.placeOf(row.dataset.key) : -1;
  }

  /** The line that has the focus. */
  get focusedLine(): Line | undefined {
    return this.#lines[this.focused];
  }

  /** The place of the line `key`; -1 when there is none. */
  placeOf(key: string | undefined): number {
    return this.#lines.findIndex((line) => line.key === key);
  }

  /** How many lines a page of the view holds. */
  pageLength(): number {
    return this.#window.pageLength();
  }

  /** Makes `lines` those that are shown; what is read, and what has the focus, stays. */
  set(lines: readonly Line[], context: RowContext): void {
    const isAtTop = !this.isReadingOn();
    const top = this.#box.scrollTop;
    const focused = this.focusedLine?.key;
    this.#lines = lines;
    this.#window.set(lines.map((line) => windowRow(line, context)));
    // At the top, what is new pushes down what is there.
    if (isAtTop && this.#box.scrollTop !== top) this.#box.scrollTop = top;
    // An element that has moved has lost the focus.
    if (focused !== undefined && this.focused === -1 && document.activeElement === document.body) this.#focus(focused);
  }

  /** Sets the focus into the line at `place`, or the last when there is none so far down; false where there is none. */
  focusAt(place: number): boolean {
    const line = this.#lines[Math.min(place, this.#lines.length - 1)];
    if (line === undefined || this.#window.reveal(line.key) === undefined) return false;
    this.#focus(line.key);
    return true;
  }

  /** Sets the focus into the first line in view. */
  focusInView(): boolean {
    // What stands at the very top may be half covered.
    return this.focusAt(this.placeOf(this.#window.topKey()) + 1);
  }

  /** Shows the first lines, and what stands above them. */
  toStart(): void {
    this.#window.toStart();
  }

  /** Brings the start of the list into view, where that is above it. */
  keepTop(): void {
    if (!this.isReadingOn()) return;
    this.#window.toStart();
    this.#box.scrollTop = Math.max(this.#gap(), 0);
  }

  /** Does `change` above the list without moving what is read. */
  keeping(change: () => void): void {
    const { top } = this.element.getBoundingClientRect();
    const isRead = this.isReadingOn();
    change();
    if (isRead) this.#box.scrollTop += this.element.getBoundingClientRect().top - top;
  }

  /** The first line is above the view: what is read must not move. */
  isReadingOn(): boolean {
    return this.#gap() < 0;
  }

  /** What is in view, and what has the focus. */
  spot(): Pick<Spot, "top" | "offset" | "focus"> {
    const top = this.isReadingOn() ? this.#window.topKey() : undefined;
    const element = top === undefined ? undefined : this.#window.elementOf(top);
    return { top, offset: element && this.#offsetOf(element), focus: this.focusedLine?.key };
  }

  /** Brings into view what was there, and sets the focus where it was. */
  goTo({ top, offset = 0, focus }: Spot): void {
    const element = top === undefined ? undefined : this.#window.reveal(top, "start");
    if (element !== undefined) this.#box.scrollTop += this.#offsetOf(element) - offset;
    // Bringing it into view could move what was in view then.
    if (focus !== undefined) this.#focus(focus);
  }

  #focus(key: string): void {
    this.#window.elementOf(key)?.querySelector<HTMLElement>("[data-main]")?.focus({ preventScroll: true });
  }

  #offsetOf(element: HTMLElement): number {
    return element.getBoundingClientRect().top - this.#box.getBoundingClientRect().top;
  }

  /** How far the list begins below the top of the view, and what sticks there. */
  #gap(): number {
    const room = Number.parseFloat(getComputedStyle(this.#box).scrollPaddingTop) || 0;
    return Math.round(this.#offsetOf(this.element) - room);
  }

  /** Whoever is at once where the list begins is to see its first rows there, not those that stood in the page. */
  #jumped(): void {
    if (this.#window.shown.first === 0 || this.isReadingOn()) return;
    const top = this.#box.scrollTop;
    this.#window.toStart();
    this.#box.scrollTop = top;
  }
}

function windowRow(line: Line, context: RowContext): WindowRow {
  return {
    key: line.key,
    // Asked for only while the row is near the view.
    get version() {
      return versionOf(line) + JSON.stringify(context.filter);
    },
    make() {
      const element = lineElement(line);
      element.dataset.key = line.key;
      paintLine(element, line, context);
      return element;
    },
    update(element) {
      paintLine(element, line, context);
      return true;
    },
  };
}
