import { fill, h, setText } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { failure, loading } from "../parts/states.ts";
import { startOfDay } from "../parts/time.ts";
import type { HomeFilter } from "../places.ts";
import type { WindowRow } from "../standing-rows.ts";
import type { App } from "../view.ts";
import { WindowList } from "../window-list.ts";
import { type Line, projectKey, versionOf } from "./lines.ts";
import { keepSpot, type Spot, spotKept } from "./memory.ts";
import { counted, lineElement, paintLine, type RowContext } from "./row.ts";
import { Sessions } from "./sessions.ts";

/** What the list needs of the view around it. */
export interface SessionListOptions {
  readonly app: App;
  /** What scrolls: the whole view. */
  readonly box: HTMLElement;
  /** What stands where there is no session at all, or none that the filter passes. */
  nothing(filter: HomeFilter): HTMLElement;
  /** Rows are there for the first time. */
  ready(): void;
}

/** How long the view must rest before where it is is written down: ms. */
const REST_MS = 200;

/** The list of sessions: only the rows near the view stand in the page. */
export class SessionList {
  readonly element: HTMLElement;
  readonly #options: SessionListOptions;
  readonly #list = h("div", { class: "rows", role: "list", "aria-label": "Sessions" });
  readonly #end = h("div", { class: "list-end" });
  readonly #count = h("p", { class: "count quiet" });
  readonly #news = button("", () => this.#showNews(), "main news", { hidden: true });
  readonly #window: WindowList;
  #sessions: Sessions;
  #lines: readonly Line[] = [];
  #shownEnd: unknown;
  #spot: Spot | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  /** The first rows were there. */
  #isReady = false;
  /** The list was narrowed, and it has not been said to what. */
  #isToldOf = true;
  #day: number;

  constructor(filter: HomeFilter, options: SessionListOptions) {
    this.#options = options;
    this.#day = startOfDay(options.app.now());
    // Before the window looks: what it would hold in view is no longer what one looks at.
    options.box.addEventListener("scroll", () => this.#jumped(), { passive: true });
    this.#window = new WindowList({
      box: options.box,
      list: this.#list,
      near: (end) => end === "last" && this.#sessions.main.trouble === undefined && void this.#sessions.main.more(),
      moved: () => this.#moved(),
    });
    this.element = h("div", { class: "sessions" }, this.#news, this.#list, this.#end);
    this.element.addEventListener("focusin", () => this.#remember());
    this.element.addEventListener("click", () => this.#remember(), { capture: true });
    this.#sessions = new Sessions(filter, () => this.#render());
    this.#spot = spotKept();
    void this.#sessions.start(this.#spot?.count, this.#spot?.open).then(() => this.#restore());
  }

  /** Says how many there are. */
  get count(): HTMLElement {
    return this.#count;
  }

  get filter(): HomeFilter {
    return this.#sessions.filter;
  }

  /** Narrows the list to `filter`; what is shown stays until the answer is there. */
  show(filter: HomeFilter): void {
    const old = this.#sessions;
    old.close();
    // Back leads to where one was; a choice has no such place.
    this.#spot = spotKept();
    this.#isToldOf = false;
    this.element.classList.add("waiting");
    const sessions = new Sessions(filter, () => this.#sessions === sessions && this.#arrived());
    this.#sessions = sessions;
    void sessions.start(this.#spot?.count, this.#spot?.open).then(() => this.#sessions === sessions && this.#restore());
  }

  /** Brings the list up to date; `ids` are the sessions that have changed, undefined when it may be any. */
  refresh(ids: ReadonlySet<string> | undefined): Promise<void> {
    return this.#sessions.refresh(() => this.isReadingOn(), ids);
  }

  /** Goes on from a place that could not be read, once that may be possible again. */
  retry(): void {
    const { main } = this.#sessions;
    if (main.trouble?.of === "more") void main.more();
    else if (main.ready) void this.refresh(undefined);
    else void main.start();
  }

  /** Says anew what depends on the day, and on what the view knows of the stores. */
  renew(): void {
    const day = startOfDay(this.#options.app.now());
    if (day !== this.#day || this.#sessions.main.total === 0) {
      this.#day = day;
      this.#shownEnd = undefined;
      this.#render();
    }
  }

  /** Does `change` above the list without moving what is read. */
  keeping(change: () => void): void {
    const { box } = this.#options;
    const top = this.#list.getBoundingClientRect().top;
    const isRead = this.isReadingOn();
    change();
    if (isRead) box.scrollTop += this.#list.getBoundingClientRect().top - top;
  }

  /** How many lines there are. */
  get length(): number {
    return this.#lines.length;
  }

  /** The lines that a page of the view holds. */
  pageLength(): number {
    return this.#window.pageLength();
  }

  /** Sets the focus into the line at `place`, or the last when there is none so far down; false where there is none. */
  focusAt(place: number): boolean {
    const line = this.#lines[Math.min(place, this.#lines.length - 1)];
    if (line === undefined || place < 0) return false;
    const element = this.#window.reveal(line.key);
    mainOf(element)?.focus({ preventScroll: true });
    return element !== undefined;
  }

  /** The place of the line that has the focus; -1 when none has. */
  get focused(): number {
    return this.#focused();
  }

  /** Sets the focus into the first line in view. */
  focusInView(): boolean {
    const top = this.#lines.findIndex(({ key }) => key === this.#window.topKey());
    // What stands at the very top may be half covered.
    return this.focusAt(top + 1);
  }

  /** Shows the first lines, and what stands above them. */
  toStart(): void {
    this.#window.toStart();
  }

  /** Opens or closes the project that has the focus; closing works from each of its lines. Whether there was one. */
  fold(open: boolean): boolean {
    const line = this.#lines[this.#focused()];
    if (line === undefined) return false;
    const project = line.kind === "project" ? line.project.project : line.project;
    if (project === undefined || (open && line.kind !== "project")) return false;
    if (this.#sessions.isOpen(project) !== open) {
      const place = this.#lines.findIndex(({ key }) => key === projectKey(project));
      this.focusAt(place);
      this.#fold(project);
    }
    return true;
  }

  close(): void {
    clearTimeout(this.#rest);
    this.#sessions.close();
    this.#window.close();
  }

  #arrived(): void {
    const { ready, trouble } = this.#sessions.main;
    if (!ready && trouble === undefined) return;
    if (this.element.classList.contains("waiting")) {
      this.element.classList.remove("waiting");
      // What is narrowed anew is read from its start; the fields above it stay where they are.
      this.keepTop();
    }
    this.#render();
  }

  /** Brings the start of the list into view, where that is above it. */
  keepTop(): void {
    const { box } = this.#options;
    if (!this.isReadingOn()) return;
    this.#window.toStart();
    box.scrollTop = 0;
    box.scrollTop = Math.max(this.#gap(), 0);
  }

  #render(): void {
    const { app, box } = this.#options;
    const { main } = this.#sessions;
    const isAtTop = !this.isReadingOn();
    const top = box.scrollTop;
    const focused = this.#lines[this.#focused()]?.key;
    this.#lines = this.#sessions.lines(app.now());
    const context: RowContext = {
      now: app.now,
      filter: this.filter,
      fold: (project) => this.#fold(project),
      more: (project) => void this.#moreOf(project),
    };
    this.#window.set(this.#lines.map((line) => windowRow(line, context)));
    // At the top, what is new pushes down what is there.
    if (isAtTop && box.scrollTop !== top) box.scrollTop = top;
    // An element that has moved has lost the focus.
    if (focused !== undefined && this.#focused() === -1 && document.activeElement === document.body) {
      mainOf(this.#window.elementOf(focused))?.focus({ preventScroll: true });
    }
    this.#list.setAttribute("aria-busy", String(main.loading));
    this.#paintEnd();
    this.#paintCount();
    this.#paintNews();
    if (main.ready && !this.#isReady) {
      this.#isReady = true;
      this.#options.ready();
    }
  }

  #paintEnd(): void {
    const { ready, loading: isLoading, total, trouble, hasMore } = this.#sessions.main;
    const state = trouble ?? (!ready || (isLoading && hasMore) ? "loading" : total === 0 ? this.filter : "end");
    if (state === this.#shownEnd) return;
    this.#shownEnd = state;
    const again = (): void => this.retry();
    if (state === "loading") fill(this.#end, loading());
    else if (state === "end") fill(this.#end);
    else if (trouble === undefined) fill(this.#end, this.#options.nothing(this.filter));
    else fill(this.#end, failure(TROUBLES[trouble.of], trouble.error, again));
  }

  #paintCount(): void {
    const { ready, total } = this.#sessions.main;
    if (!ready) return;
    const words = counted(total, this.#sessions.unit);
    setText(this.#count, words);
    if (!this.#isToldOf) this.#options.app.announce(words);
    this.#isToldOf = true;
  }

  #paintNews(): void {
    const { held } = this.#sessions.main;
    this.#news.hidden = held === 0;
    if (held > 0) setText(this.#news, `${held.toLocaleString()} updated · Show`);
  }

  #showNews(): void {
    this.#sessions.main.apply();
    this.#window.toStart();
    this.#options.box.scrollTop = 0;
    this.focusAt(0);
  }

  /** The focus goes on to the first of what comes in place of the button that it was on. */
  async #moreOf(project: string): Promise<void> {
    const place = this.#focused();
    await this.#sessions.moreOf(project);
    const isLeft = document.activeElement === document.body || this.#lines[this.#focused()]?.kind === "rest";
    if (place !== -1 && isLeft) this.focusAt(place);
  }

  #fold(project: string): void {
    const isOpen = this.#sessions.fold(project);
    this.#options.app.announce(isOpen ? "Opened" : "Closed");
    this.#remember();
  }

  /** The first line is above the view: what is read must not move. */
  isReadingOn(): boolean {
    return this.#gap() < 0;
  }

  /** How far the list begins below the top of the view, and what sticks there. */
  #gap(): number {
    const { box } = this.#options;
    const room = Number.parseFloat(getComputedStyle(box).scrollPaddingTop) || 0;
    return Math.round(this.#list.getBoundingClientRect().top - box.getBoundingClientRect().top - room);
  }

  #focused(): number {
    const row = document.activeElement?.closest<HTMLElement>("[data-key]");
    if (!row || !this.#list.contains(row)) return -1;
    return this.#lines.findIndex(({ key }) => key === row.dataset.key);
  }

  /** Whoever is at once where the list begins is to see its first rows there, not those that stood in the page. */
  #jumped(): void {
    if (this.#window.shown.first === 0 || this.isReadingOn()) return;
    const { box } = this.#options;
    const top = box.scrollTop;
    this.#window.toStart();
    box.scrollTop = top;
  }

  #moved(): void {
    if (this.#sessions.main.held > 0 && !this.isReadingOn()) this.#sessions.main.apply();
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#remember(), REST_MS);
  }

  /** Writes down where one is, so that coming back leads there. */
  #remember(): void {
    clearTimeout(this.#rest);
    const { main, open } = this.#sessions;
    if (!main.ready || !this.element.isConnected || this.#spot !== undefined) return;
    const top = this.isReadingOn() ? this.#window.topKey() : undefined;
    const element = top === undefined ? undefined : this.#window.elementOf(top);
    const offset = element && element.getBoundingClientRect().top - this.#options.box.getBoundingClientRect().top;
    const focus = this.#lines[this.#focused()]?.key;
    keepSpot({
      count: main.rows.length,
      open,
      ...(top !== undefined && { top }),
      ...(offset !== undefined && { offset }),
      ...(focus !== undefined && { focus }),
    });
  }

  /** Goes to where one was when the view was left. */
  #restore(): void {
    const spot = this.#spot;
    this.#spot = undefined;
    if (spot === undefined) return;
    const { box } = this.#options;
    const element = spot.top === undefined ? undefined : this.#window.reveal(spot.top, "start");
    if (element !== undefined) {
      const offset = element.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTop += offset - (spot.offset ?? 0);
    }
    // Bringing it into view could move what was in view then.
    const focus = spot.focus === undefined ? undefined : this.#window.elementOf(spot.focus);
    mainOf(focus)?.focus({ preventScroll: true });
  }
}

const TROUBLES = {
  first: "The sessions could not be listed.",
  more: "More sessions could not be listed.",
  news: "The list could not be brought up to date.",
};

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

function mainOf(element: HTMLElement | undefined): HTMLElement | undefined {
  return element?.querySelector<HTMLElement>("[data-main]") ?? undefined;
}
