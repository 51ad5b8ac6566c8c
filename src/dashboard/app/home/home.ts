import { read } from "../api.ts";
import { h } from "../dom.ts";
import { button } from "../parts/controls.ts";
import { LIST_KEYS } from "../parts/keys.ts";
import { refetching } from "../parts/refetch.ts";
import { empty } from "../parts/states.ts";
import { type HomeFilter, hashOf, type Place } from "../places.ts";
import type { App, View } from "../view.ts";
import type { ProjectPage, State } from "../wire.ts";
import { type Filters, makeFilters } from "./filters.ts";
import { homeKeys } from "./keys.ts";
import { SessionList } from "./list.ts";
import { isNarrowed } from "./narrow.ts";
import { Now } from "./now.ts";

type HomePlace = Extract<Place, { readonly view: "home" }>;

const DAY_CHECK_MS = 60_000;
/** Projects that the field offers: the newest. */
const OFFERED = 200;

/** The view of all sessions: what goes on now, then every session that the filter in `place` passes. */
export function openHome(place: HomePlace, app: App): View {
  app.title("Sessions");
  let state: State | undefined;
  const box = h("div", { class: "list-box" });
  const heading = h("h1", { tabindex: -1 }, "Sessions");
  const filters = makeFilters({
    changed: (filter, typing) => app.go({ view: "home", ...filter }, { replace: typing }),
    down: () => void list.rows.focusAt(0),
  });
  filters.show(filterOf(place));
  const nothing = (filter: HomeFilter): HTMLElement =>
    isNarrowed(filter) ? noMatch(() => filters.clear()) : noSessions(state);
  const list = new SessionList(filterOf(place), { app, box, nothing, ready: () => void offerProjects(filters) });
  const now = new Now({
    app,
    keeping: (change) => list.rows.keeping(change),
    told(read) {
      state = read;
      list.renew();
    },
  });
  box.append(
    heading,
    now.element,
    h(
      "div",
      { class: "list-bar" },
      h("div", { class: "bar-top" }, h("h2", {}, "All sessions"), list.count),
      filters.element,
    ),
    list.element,
  );
  const news = follow(app, list);
  const minutes = setInterval(() => list.renew(), DAY_CHECK_MS);
  return {
    element: h("main", { class: "home" }, box),
    move(to) {
      if (to.view !== "home") return false;
      const filter = filterOf(to);
      filters.show(filter);
      if (hashOf({ view: "home", ...filter }) !== hashOf({ view: "home", ...list.filter })) list.show(filter);
      return true;
    },
    key: homeKeys(list, now),
    keys: [...LIST_KEYS, { keys: "→ ←", does: "Unfold a project, and fold it" }],
    focus: () => heading.focus({ preventScroll: true }),
    close() {
      clearInterval(minutes);
      news();
      filters.close();
      now.close();
      list.close();
    },
  };
}

/** Brings the list up to date when the server tells that it changed. */
function follow(app: App, list: SessionList): () => void {
  let ids: Set<string> | undefined = new Set();
  const refetch = refetching(() => {
    const named = ids;
    ids = new Set();
    return list.refresh(named);
  });
  const off = app.live.on("transcripts", (change) => {
    if (change.ids === undefined) ids = undefined;
    for (const id of change.ids ?? []) ids?.add(id);
    refetch.ask();
  });
  return () => {
    off();
    refetch.close();
  };
}

/** What was chosen stays chosen where the projects can't be had; the search finds folders too. */
async function offerProjects(filters: Filters): Promise<void> {
  const page = await read<ProjectPage>("/api/projects", { limit: OFFERED }).catch(() => undefined);
  if (page !== undefined) filters.offer(page.projects);
}

function filterOf({ view: _, ...filter }: HomePlace): HomeFilter {
  return filter;
}

function noMatch(clear: () => void): HTMLElement {
  return empty("No session matches.", h("p", {}, button("Clear the filter", clear, "")));
}

/** Where sessions were looked for, so that one can see what is amiss. */
function noSessions(state: State | undefined): HTMLElement {
  const roots = state?.stores.flatMap((store) => store.roots) ?? [];
  return empty(
    "There are no sessions yet.",
    h("p", {}, "Start an agent in any folder, and its session appears here by itself."),
    roots.length > 0 && [
      h("p", {}, "These places were looked in:"),
      h(
        "ul",
        { class: "roots", role: "list" },
        roots.map(({ path, found }) => h("li", {}, h("code", {}, path), found ? " is there" : " is not there")),
      ),
    ],
    h("p", {}, "If there should be some, ", h("code", {}, "agent-bridge doctor"), " says what it finds."),
  );
}
