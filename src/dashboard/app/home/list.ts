import { fill, h, setText } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { counted } from "../parts/measures.ts";
import { failure, loading } from "../parts/states.ts";
import { startOfDay } from "../parts/time.ts";
import type { HomeFilter } from "../places.ts";
import type { App } from "../view.ts";
import { projectKey } from "./lines.ts";
import { LinesView } from "./lines-view.ts";
import { keepSpot, type Spot, spotKept } from "./memory.ts";
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
  /** Its lines. */
  readonly rows: LinesView;
  readonly #options: SessionListOptions;
  readonly #end = h("div", { class: "list-end" });
  readonly #count = h("p", { class: "count quiet" });
  readonly #news = button("", () => this.#showNews(), "main news", { hidden: true });
  #sessions: Sessions;
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
    this.rows = new LinesView({
      box: options.box,
      nearEnd: () => this.#sessions.main.trouble === undefined && void this.#sessions.main.more(),
      moved: () => this.#moved(),
    });
    this.element = h("div", { class: "sessions" }, this.#news, this.rows.element, this.#end);
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
    return this.#sessions.refresh(() => this.rows.isReadingOn(), ids);
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

  /** Opens or closes the project that has the focus; closing works from each of its lines. Whether there was one. */
  fold(open: boolean): boolean {
    const line = this.rows.focusedLine;
    if (line === undefined) return false;
    const project = line.kind === "project" ? line.project.project : line.project;
    if (project === undefined || (open && line.kind !== "project")) return false;
    if (this.#sessions.isOpen(project) !== open) {
      this.rows.focusAt(this.rows.placeOf(projectKey(project)));
      this.#fold(project);
    }
    return true;
  }

  close(): void {
    clearTimeout(this.#rest);
    this.#sessions.close();
    this.rows.close();
  }

  #arrived(): void {
    const { ready, trouble } = this.#sessions.main;
    if (!ready && trouble === undefined) return;
    if (this.element.classList.contains("waiting")) {
      this.element.classList.remove("waiting");
      // What is narrowed anew is read from its start; the fields above it stay where they are.
      this.rows.keepTop();
    }
    this.#render();
  }

  #render(): void {
    const { now } = this.#options.app;
    const { main } = this.#sessions;
    this.rows.set(this.#sessions.lines(now()), {
      now,
      filter: this.filter,
      fold: (project) => this.#fold(project),
      more: (project) => void this.#moreOf(project),
    });
    this.rows.element.setAttribute("aria-busy", String(main.loading));
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
    this.rows.toStart();
    this.#options.box.scrollTop = 0;
    this.rows.focusAt(0);
  }

  /** The focus goes on to the first of what comes in place of the button that it was on. */
  async #moreOf(project: string): Promise<void> {
    const place = this.rows.focused;
    await this.#sessions.moreOf(project);
    const isLeft = document.activeElement === document.body || this.rows.focusedLine?.kind === "rest";
    if (place !== -1 && isLeft) this.rows.focusAt(place);
  }

  #fold(project: string): void {
    const isOpen = this.#sessions.fold(project);
    this.#options.app.announce(isOpen ? "Opened" : "Closed");
    this.#remember();
  }

  #moved(): void {
    if (this.#sessions.main.held > 0 && !this.rows.isReadingOn()) this.#sessions.main.apply();
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#remember(), REST_MS);
  }

  /** Writes down where one is, so that coming back leads there. */
  #remember(): void {
    clearTimeout(this.#rest);
    const { main, open } = this.#sessions;
    if (!main.ready || !this.element.isConnected || this.#spot !== undefined) return;
    keepSpot({ count: main.rows.length, open, ...this.rows.spot() });
  }

  /** Goes to where one was when the view was left. */
  #restore(): void {
    const spot = this.#spot;
    this.#spot = undefined;
    if (spot !== undefined) this.rows.goTo(spot);
  }
}

const TROUBLES = {
  first: "The sessions could not be listed.",
  more: "More sessions could not be listed.",
  news: "The list could not be brought up to date.",
};
