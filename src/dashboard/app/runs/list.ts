import { path, read, Unreachable } from "../api.ts";
import { fill, h, setText } from "../dom.ts";
import { empty, failure, loading } from "../parts/states.ts";
import { dayOf, startOfDay } from "../parts/time.ts";
import { hashOf, type RunsFilter } from "../places.ts";
import type { App } from "../view.ts";
import { WindowList, type WindowRow } from "../window-list.ts";
import type { Run, State } from "../wire.ts";
import { calmly } from "./calmly.ts";
import { filters } from "./filters.ts";
import { readRuns } from "./find-run.ts";
import { runRow, updateRow } from "./row.ts";
import { chosen, isNarrowed, kept, type Loaded, withPage, withStart } from "./run-list.ts";

/** Runs that scrolling loads at once, and those that loading all does. */
const PAGE = 100;
const LARGE_PAGE = 500;

/** The list of runs. */
export interface RunList {
  readonly element: HTMLElement;
  /** Every run that is loaded. */
  readonly runs: readonly Run[];
  /** Shows the list again, narrowed to `filter`. */
  show(filter: RunsFilter): void;
  /** Before the list is taken out of view: so it is where it was when it comes back. */
  hide(): void;
  key(event: KeyboardEvent): boolean;
  focus(): void;
  close(): void;
}

/** Opens the list of runs. */
export function openRunList(app: App): RunList {
  return new List(app);
}

class List implements RunList {
  readonly element: HTMLElement;
  readonly #app: App;
  readonly #filters = filters((filter) => this.#app.go({ view: "runs", ...filter }, { replace: true }));
  readonly #count = h("p", { class: "quiet" });
  readonly #state = h("div");
  readonly #list = h("ul", { role: "list" });
  readonly #box = h("div", { class: "list-box" }, this.#list);
  readonly #rows: WindowList;
  readonly #calm = calmly(() => this.#refresh());
  readonly #offs: (() => void)[];
  readonly #ended = new AbortController();
  #loaded: Loaded | undefined;
  #filter: RunsFilter = {};
  /** Names of runs that have changed since the last refresh; undefined: anything may have. */
  #changed: Set<string> | undefined;
  #loading = false;
  #loadingAll = false;
  #failed: unknown;
  #top: string | undefined;

  constructor(app: App) {
    this.#app = app;
    const head = h("header", { class: "runs-head" }, h("h1", {}, "Runs"), this.#count, this.#filters.element);
    this.element = h("main", { class: "runs" }, head, this.#state, this.#box);
    this.#rows = new WindowList({
      box: this.#box,
      list: this.#list,
      near: (end) => {
        if (end === "last" && !isNarrowed(this.#filter) && this.#failed === undefined) void this.#more(PAGE);
      },
    });
    this.#offs = [
      app.live.on("runs", ({ ids }) => {
        if (ids === undefined) this.#changed = undefined;
        else for (const id of ids) this.#changed?.add(id);
        this.#calm.ask();
      }),
    ];
    fill(this.#state, loading("Loading the runs"));
    this.#calm.ask();
  }

  get runs(): readonly Run[] {
    return [...(this.#loaded?.runs ?? []), ...(this.#loaded?.running ?? [])];
  }

  show(filter: RunsFilter): void {
    this.#app.title("Runs");
    const isAnother = hashOf({ view: "runs", ...filter }) !== hashOf({ view: "runs", ...this.#filter });
    this.#filter = filter;
    this.#draw();
    if (isAnother) this.#rows.toStart();
    else if (this.#top !== undefined) this.#rows.reveal(this.#top, "start");
    this.#top = undefined;
    if (isAnother && this.#loaded !== undefined) this.#app.announce(this.#count.textContent ?? "");
  }

  hide(): void {
    this.#top = this.#rows.topKey();
  }

  key(event: KeyboardEvent): boolean {
    if (event.key === "/") {
      this.#filters.search.focus();
      return true;
    }
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined) return false;
    return this.#step(step);
  }

  focus(): void {
    this.#list.querySelector<HTMLElement>("[data-row]")?.focus({ preventScroll: true });
  }

  close(): void {
    this.#ended.abort();
    this.#calm.close();
    for (const off of this.#offs) off();
    this.#rows.close();
  }

  /** Moves the focus by a row. */
  #step(step: number): boolean {
    const { running, ended } = chosen(this.#loaded ?? NOTHING, this.#filter);
    const names = [...running, ...ended].map(({ name }) => name);
    const focused = document.activeElement?.closest(".run-row")?.querySelector<HTMLElement>("[data-row]");
    const at = focused == null ? -1 : names.indexOf(focused.dataset.row ?? "");
    const name = names[at < 0 ? 0 : at + step];
    if (name === undefined) return names.length > 0;
    this.#rows.reveal(name)?.querySelector<HTMLElement>("[data-row]")?.focus({ preventScroll: true });
    return true;
  }

  async #refresh(): Promise<void> {
    const changed = this.#changed === undefined ? undefined : [...this.#changed];
    this.#changed = new Set();
    try {
      const state = await read<State>(path("state"), {}, this.#ended.signal);
      const start = { runs: state.runs, running: state.running, next: state.runsNext, total: state.runsTotal };
      const before = this.#loaded;
      const now = before === undefined ? start : withStart(before, start, changed);
      this.#loaded = now ?? kept(before, await this.#reread(start, before?.runs.length ?? 0));
      this.#failed = undefined;
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      // Nothing is known of what has changed since, so the next time all of it is asked for.
      this.#changed = undefined;
      // Of a server that is gone the page tells above, and this goes on by itself when it is back.
      this.#failed = error instanceof Unreachable && this.#loaded !== undefined ? undefined : error;
    }
    this.#draw();
  }

  /** `start` with as many runs as `count` are, or more. */
  async #reread(start: Loaded, count: number): Promise<Loaded> {
    let loaded = start;
    while (loaded.next !== null && loaded.runs.length < count) {
      loaded = withPage(loaded, await readRuns(loaded.next, Math.min(count - loaded.runs.length, LARGE_PAGE)));
    }
    return loaded;
  }

  /** Loads the next page. */
  async #more(limit: number): Promise<void> {
    const next = this.#loaded?.next;
    if (this.#loading || next == null) return;
    this.#loading = true;
    try {
      const page = await readRuns(next, limit);
      // A refresh meanwhile may have gone further, or less far: then this page does not follow what is loaded.
      if (this.#loaded?.next === next) this.#loaded = withPage(this.#loaded, page);
      this.#failed = undefined;
    } catch (error) {
      this.#failed = error;
      this.#loadingAll = false;
    }
    this.#loading = false;
    if (this.#ended.signal.aborted) return;
    this.#draw();
    if (this.#loadingAll) await this.#all();
  }

  async #all(): Promise<void> {
    this.#loadingAll = this.#loaded?.next != null && isNarrowed(this.#filter);
    if (this.#loadingAll) await this.#more(LARGE_PAGE);
  }

  readonly #again = (): void => {
    this.#failed = undefined;
    this.#draw();
    this.#calm.ask();
  };

  #draw(): void {
    const loaded = this.#loaded;
    if (loaded === undefined) {
      if (this.#failed !== undefined) fill(this.#state, failure("The runs can't be shown.", this.#failed, this.#again));
      return;
    }
    const { running, ended } = chosen(loaded, this.#filter);
    this.#filters.show(this.#filter, new Set(this.runs.flatMap(({ agent }) => agent ?? [])));
    this.#head(loaded, running.length + ended.length);
    const now = this.#app.now();
    const rows: WindowRow[] = running.length === 0 ? [] : [heading("Running")];
    for (const run of running) rows.push(this.#row(run));
    let day: number | undefined;
    for (const run of ended) {
      const its = run.startedAt > 0 ? startOfDay(run.startedAt) : 0;
      if (its !== day) rows.push(heading(its === 0 ? "Start not known" : dayOf(run.startedAt, now)));
      day = its;
      rows.push(this.#row(run));
    }
    this.#rows.set(rows);
  }

  #row(run: Run): WindowRow {
    return {
      key: run.name,
      version: run,
      make: () => runRow(run, this.#app.now()),
      update: (element) => updateRow(element, run, this.#app.now()),
    };
  }

  /** Says how many there are, how far they were searched, and what can't be shown. */
  #head({ runs, next, total }: Loaded, shown: number): void {
    const filter = this.#filter;
    const isPart = isNarrowed(filter) && next !== null && filter.status !== "running";
    const count = isNarrowed(filter)
      ? `${shown} ${isPart ? `of the ${runs.length} loaded` : `of ${total}`}`
      : `${total}`;
    setText(this.#count, count);
    this.element.classList.toggle("none", shown === 0);
    if (this.#failed !== undefined) {
      fill(this.#state, failure("The list may not be up to date.", this.#failed, this.#again));
    } else if (total === 0) fill(this.#state, noRuns());
    else if (isPart) fill(this.#state, this.#searchAll(runs.length, total, shown));
    else fill(this.#state, shown === 0 && empty("No run is like this.", this.#showAll()));
  }

  #searchAll(loaded: number, total: number, shown: number): HTMLElement {
    const click = (): void => {
      this.#loadingAll = true;
      this.#draw();
      void this.#all();
    };
    const words = this.#loadingAll ? `Loading … ${loaded} of ${total}` : `Load all ${total}`;
    const button = h(
      "button",
      { type: "button", class: "button small", disabled: this.#loadingAll, on: { click } },
      words,
    );
    const none = shown === 0 ? "None of them is like this. " : "";
    return h(
      "p",
      { class: "runs-part quiet" },
      `${none}Only the ${loaded} newest runs are loaded and searched. `,
      button,
    );
  }

  #showAll(): HTMLElement {
    return h("p", {}, h("a", { href: hashOf({ view: "runs" }) }, "All runs"));
  }
}

const NOTHING: Loaded = { runs: [], running: [], next: null, total: 0 };

function heading(text: string): WindowRow {
  return { key: `/${text}`, make: () => h("li", { class: "run-day" }, h("h2", {}, text)) };
}

function noRuns(): HTMLElement {
  const command = h("code", {}, "agent-bridge run claude -- Say hello");
  const more = "One comes to be with each prompt of an agent session, and with a command like this:";
  return empty("There are no runs yet.", h("p", {}, more), h("p", {}, command));
}
