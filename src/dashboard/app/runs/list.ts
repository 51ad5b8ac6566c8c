import { Unreachable } from "../api.ts";
import { type Child, fill, h, setText } from "../dom.ts";
import { placeAfter } from "../parts/list-keys.ts";
import { refetching } from "../parts/refetch.ts";
import { refill } from "../parts/refill.ts";
import { readState } from "../parts/sound-run.ts";
import { empty, failure, loading } from "../parts/states.ts";
import { dayOf } from "../parts/time.ts";
import { hashOf, type RunsFilter } from "../places.ts";
import type { WindowRow } from "../standing-rows.ts";
import type { App } from "../view.ts";
import { WindowList } from "../window-list.ts";
import type { Run } from "../wire.ts";
import { makeFilters } from "./filters.ts";
import { readRuns } from "./find-run.ts";
import { runRow } from "./row.ts";
import { chosen, isNarrowed, kept, type Loaded, withPage, withStart } from "./run-list.ts";

/** Runs that scrolling loads at once, and those that loading all does. */
const PAGE = 100;
const LARGE_PAGE = 500;

/** The list of runs. */
export interface RunList {
  readonly element: HTMLElement;
  /** Every run that is loaded. */
  runs(): readonly Run[];
  /** Shows the list, narrowed to `filter`, where it was when it was hidden. */
  show(filter: RunsFilter): void;
  /** Before the list is taken out of the page. */
  hide(): void;
  key(event: KeyboardEvent): boolean;
  close(): void;
}

/** Opens the list of runs. */
export function openRunList(app: App): RunList {
  const fields = makeFilters(
    (to) => app.go({ view: "runs", ...to }, { replace: true }),
    () => focus(names[0]),
  );
  const count = h("p", { class: "quiet" });
  const state = h("div", {}, loading("Loading the runs"));
  const list = h("ul", { role: "list" });
  const box = h("div", { class: "list-box" }, list);
  const head = h("header", { class: "runs-head" }, h("h1", {}, "Runs"), count, fields.element);
  let loaded: Loaded | undefined;
  let filter: RunsFilter = {};
  /** Runs that have changed since the last refresh; undefined: any may have. */
  let changed: Set<string> | undefined;
  let failed: unknown;
  let more: Promise<void> | undefined;
  let isLoadingAll = false;
  let left: string | undefined;
  let names: readonly string[] = [];
  /** Counts the keys: whoever presses another one does not go on to where an earlier one leads. */
  let keys = 0;

  const rows = new WindowList({
    box,
    list,
    near(end) {
      if (end === "last" && !isNarrowed(filter) && failed === undefined) void loadMore(PAGE);
    },
  });

  const refetch = refetching(
    async (signal) => {
      const since = changed && [...changed];
      changed = new Set();
      const now = await readState(signal);
      const start = { runs: now.runs, running: now.running, next: now.runsNext, total: now.runsTotal };
      const same = loaded === undefined ? start : withStart(loaded, start, since);
      loaded = same ?? kept(loaded, await reread(start, loaded?.runs.length ?? 0));
      failed = undefined;
      draw();
    },
    {
      failed(error) {
        changed = undefined;
        // Of a server that is gone the page tells above.
        if (!(error instanceof Unreachable) || loaded === undefined) failed = error;
        draw();
      },
    },
  );

  /** `start` with as many runs as `most` are, or more. */
  const reread = async (start: Loaded, most: number): Promise<Loaded> => {
    let now = start;
    while (now.next !== null && now.runs.length < most) now = withPage(now, await readRuns(now.next, LARGE_PAGE));
    return now;
  };

  const loadMore = async (limit: number): Promise<void> => {
    const next = loaded?.next;
    if (next == null) return;
    more ??= (async () => {
      try {
        const page = await readRuns(next, limit);
        // After a refresh meanwhile that went further, or less far, this page does not follow what is loaded.
        if (loaded?.next === next) loaded = withPage(loaded, page);
      } catch (error) {
        failed = error;
      }
    })().finally(() => {
      more = undefined;
      draw();
    });
    return more;
  };

  const loadAll = async (): Promise<void> => {
    if (isLoadingAll) return;
    isLoadingAll = true;
    // Says so.
    draw();
    while (loaded?.next != null && isNarrowed(filter) && failed === undefined) await loadMore(LARGE_PAGE);
    isLoadingAll = false;
    draw();
  };

  const again = (): void => {
    failed = undefined;
    refetch.ask();
  };

  const draw = (): void => {
    if (loaded === undefined) {
      if (failed !== undefined) fill(state, failure("The runs can't be shown.", failed, again));
      return;
    }
    const now = app.now();
    const { running, ended } = chosen(loaded, filter);
    const drawn: WindowRow[] = [];
    let day = "";
    for (const run of [...running, ...ended]) {
      const its = run.status === "running" ? "Running" : run.startedAt > 0 ? dayOf(run.startedAt, now) : "No date";
      if (its !== day) drawn.push(heading(its));
      day = its;
      drawn.push(runRow(run, now));
    }
    names = [...running, ...ended].map(({ name }) => name);
    fields.show(
      filter,
      runs().flatMap(({ agent }) => agent ?? []),
    );
    rows.set(drawn);
    const { total } = loaded;
    // All that run are known from the start.
    const isPart = isNarrowed(filter) && loaded.next !== null && filter.status !== "running";
    const of = isPart ? `${loaded.runs.length} loaded` : total;
    setText(count, isNarrowed(filter) ? `${names.length} of ${of}` : `${total}`);
    box.hidden = names.length === 0;
    refill(state, [said(isPart, loaded)], anywhere);
  };

  const said = (isPart: boolean, { runs, total }: Loaded): Child => {
    if (failed !== undefined) return failure("The list may not be up to date.", failed, again);
    if (total === 0) return noRuns();
    if (isPart) {
      const on = { click: () => void loadAll() };
      const words = isLoadingAll ? "Loading …" : `Load all ${total}`;
      // It keeps the focus while it loads, so it is not disabled.
      const button = h("button", { class: "button small", "aria-disabled": isLoadingAll && "true", on }, words);
      return h("p", { class: "runs-part quiet" }, `Searched the newest ${runs.length}. `, button);
    }
    return names.length === 0 && empty("No run is like this.", h("a", { href: hashOf({ view: "runs" }) }, "All runs"));
  };

  const focus = (name: string | undefined): void => {
    if (name !== undefined) rows.reveal(name)?.querySelector("a")?.focus({ preventScroll: true });
  };

  /** What had the focus is gone: one goes on at the first run, or where one searches. */
  const anywhere = (): void => {
    if (names[0] === undefined) fields.focus();
    else focus(names[0]);
  };

  /** To the very last run, also where only the newest are loaded. */
  const toLast = async (): Promise<void> => {
    const pressed = keys;
    while (pressed === keys && loaded?.next != null && !isNarrowed(filter) && failed === undefined) {
      await loadMore(LARGE_PAGE);
    }
    if (pressed === keys && box.isConnected) focus(names.at(-1));
  };

  /** Where the keys go on from: the run that has the focus, else the first in view. */
  const place = (): number => names.indexOf(focusedName() ?? (box.scrollTop > 0 ? rows.topKey() : undefined) ?? "");

  const runs = (): readonly Run[] => [...(loaded?.runs ?? []), ...(loaded?.running ?? [])];

  const off = app.live.on("runs", ({ ids }) => {
    if (ids === undefined) changed = undefined;
    for (const id of ids ?? []) changed?.add(id);
    refetch.ask();
  });
  refetch.ask();
  return {
    element: h("main", { class: "runs" }, head, state, box),
    runs,
    show(to) {
      app.title("Runs");
      const isAnother = hashOf({ view: "runs", ...to }) !== hashOf({ view: "runs", ...filter });
      filter = to;
      const hadFocus = list.contains(document.activeElement);
      draw();
      if (isAnother) {
        rows.toStart();
        if (hadFocus && !list.contains(document.activeElement)) anywhere();
        app.announce(`${count.textContent} runs`);
      } else focus(left);
      left = undefined;
    },
    hide: () => {
      left = focusedName() ?? rows.topKey();
    },
    key({ key }) {
      const to = placeAfter(key, place(), names.length, rows.pageLength());
      keys++;
      if (to !== undefined) focus(names[to]);
      if (to !== undefined && key === "End") void toLast();
      return to !== undefined;
    },
    close() {
      fields.close();
      refetch.close();
      off();
      rows.close();
    },
  };
}

function focusedName(): string | undefined {
  return document.activeElement?.closest(".run-row")?.querySelector("a")?.dataset.row;
}

function heading(text: string): WindowRow {
  return { key: `/${text}`, make: () => h("li", {}, h("h2", { class: "day" }, text)) };
}

function noRuns(): HTMLElement {
  return empty(
    "There are no runs yet.",
    h("p", {}, "Each prompt to an agent session that is started here makes one, and so does this:"),
    h("p", {}, h("code", {}, "agent-bridge run claude -- Say hello")),
  );
}
