import { type Attributes, fill, h } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { button, type Choice, choice, select } from "../parts/controls.ts";
import { folderName, folderNames } from "../parts/folders.ts";
import { searchField } from "../parts/search-field.ts";
import type { HomeFilter } from "../places.ts";
import { AGENTS, type Project } from "../wire.ts";
import { isByProject, isNarrowed } from "./narrow.ts";

/** What the filters tell. */
export interface FiltersOptions {
  /** Someone chose; `typing` while more is likely to come. */
  changed(filter: HomeFilter, typing: boolean): void;
  /** From the search field down into the list. */
  down(): void;
}

/** The fields that narrow the list, and how it is grouped. */
export interface Filters {
  readonly element: HTMLElement;
  /** Shows `filter` in the fields. */
  show(filter: HomeFilter): void;
  /** Offers `projects`. */
  offer(projects: readonly Project[]): void;
  /** Takes away all that narrows the list. */
  clear(): void;
  close(): void;
}

const ALL_PROJECTS: Choice = ["", "All projects"];

/** Makes the fields. */
export function makeFilters({ changed, down }: FiltersOptions): Filters {
  let shown: HomeFilter = {};
  const choose = (part: HomeFilter): void => changed({ ...shown, ...part }, false);
  const chosen = (change: () => void): Attributes["on"] => ({ change });

  const search = searchField({
    label: "Search titles and folders",
    changed: (q, typing) => changed({ ...shown, q }, typing),
    down,
  });
  const agent: HTMLSelectElement = select(
    { "aria-label": "Agent", on: chosen(() => choose({ agent: AGENTS.find((name) => name === agent.value) })) },
    [["", "All agents"], ...AGENTS.map((name): Choice => [name, agentName(name)])],
  );
  const project: HTMLSelectElement = select(
    { "aria-label": "Project", on: chosen(() => choose({ by: undefined, project: project.value || undefined })) },
    [ALL_PROJECTS],
  );
  const states = ["live", "ended"] as const;
  const state: HTMLSelectElement = select(
    { "aria-label": "State", on: chosen(() => choose({ state: states.find((name) => name === state.value) })) },
    [
      ["", "Live and ended"],
      ["live", "Live"],
      ["ended", "Ended"],
    ],
  );
  const byDay = button("By day", () => choose({ by: undefined }), "");
  const byProject = button("By project", () => choose({ by: "project", project: undefined }), "");
  const clear = (): void => {
    changed({ by: shown.by }, false);
    search.element.focus();
  };
  const clears = button("Clear", clear, "plain", { hidden: true });

  /** A project that is not among those that are offered is offered, too. */
  const showProject = (): void => {
    const path = shown.project ?? "";
    const isOffered = [...project.options].some(({ value }) => value === path);
    if (!isOffered) project.append(choice([path, folderName(path), path]));
    project.value = path;
  };
  return {
    element: h(
      "form",
      { class: "filters", role: "search", "aria-label": "Sessions", on: { submit: (event) => event.preventDefault() } },
      search.element,
      agent,
      project,
      state,
      h("div", { class: "group", role: "group", "aria-label": "Group" }, byDay, byProject),
      clears,
    ),
    show(filter) {
      shown = filter;
      search.show(filter.q);
      agent.value = filter.agent ?? "";
      state.value = filter.state ?? "";
      showProject();
      byDay.setAttribute("aria-pressed", String(!isByProject(filter)));
      byProject.setAttribute("aria-pressed", String(isByProject(filter)));
      clears.hidden = !isNarrowed(filter);
    },
    offer(projects) {
      const paths = projects.map((each) => each.project).filter(Boolean);
      const names = folderNames(paths);
      fill(
        project,
        choice(ALL_PROJECTS),
        paths.map((path) => choice([path, names.get(path) ?? path, path])),
      );
      showProject();
    },
    clear,
    close: search.close,
  };
}
