import { fill, h } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { button, choice, select } from "../parts/controls.ts";
import type { HomeFilter } from "../places.ts";
import { AGENTS, type Project } from "../wire.ts";
import { folderNames } from "./lines.ts";
import { isNarrowed, withAgent, withState } from "./narrow.ts";

/** What the filters tell. */
export interface FiltersOptions {
  /** Someone chose; `typing` while more is likely to come. */
  changed(filter: HomeFilter, typing: boolean): void;
  /** From the search field down into the list. */
  down(): void;
}

/** How long nothing must be typed before the list is asked. */
const TYPING_MS = 150;

/** The fields that narrow the list, and how it is grouped. */
export class Filters {
  readonly element: HTMLElement;
  readonly #options: FiltersOptions;
  readonly #search = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search titles and folders",
    "aria-label": "Search titles and folders",
    maxlength: 1000,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
    "data-search": true,
  });
  readonly #agent = select({ "aria-label": "Agent" }, [
    ["", "All agents"],
    ...AGENTS.map((name) => [name, agentName(name)] as const),
  ]);
  readonly #project = select({ "aria-label": "Project" }, [["", "All projects"]]);
  readonly #state = select({ "aria-label": "State" }, [
    ["", "Live and ended"],
    ["live", "Live"],
    ["ended", "Ended"],
  ]);
  readonly #byDay = this.#group("By day", "day");
  readonly #byProject = this.#group("By project", "project");
  readonly #clear = button("Clear", () => this.clear(), "plain", { hidden: true });
  #filter: HomeFilter;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(filter: HomeFilter, options: FiltersOptions) {
    this.#options = options;
    this.#filter = filter;
    this.#search.addEventListener("input", this.#typed);
    this.#search.addEventListener("keydown", this.#searchKey);
    this.#agent.addEventListener("change", () => this.#choose(withAgent(this.#filter, this.#agent.value)));
    this.#state.addEventListener("change", () => this.#choose(withState(this.#filter, this.#state.value)));
    this.#project.addEventListener("change", () => {
      const { project: _, by: __, ...rest } = this.#filter;
      this.#choose(this.#project.value === "" ? rest : { ...rest, project: this.#project.value });
    });
    this.element = h(
      "form",
      { class: "filters", role: "search", "aria-label": "Sessions", on: { submit: (event) => event.preventDefault() } },
      this.#search,
      this.#agent,
      this.#project,
      this.#state,
      h("div", { class: "group", role: "group", "aria-label": "Group" }, this.#byDay, this.#byProject),
      this.#clear,
    );
    this.show(filter);
  }

  /** Shows `filter` in the fields. */
  show(filter: HomeFilter): void {
    this.#filter = filter;
    const q = filter.q ?? "";
    // Text that is being typed stays as it is: spaces at its end are no part of what is searched for.
    if (this.#search.value.trim() !== q) this.#search.value = q;
    this.#agent.value = filter.agent ?? "";
    this.#state.value = filter.state ?? "";
    this.#chooseProject();
    const byProject = filter.by === "project" && filter.project === undefined;
    this.#byDay.setAttribute("aria-pressed", String(!byProject));
    this.#byProject.setAttribute("aria-pressed", String(byProject));
    this.#clear.hidden = !isNarrowed(filter);
  }

  /** Offers `projects`. */
  offer(projects: readonly Project[]): void {
    const paths = projects.map(({ project }) => project).filter((path) => path !== "");
    const names = folderNames(paths);
    const options = paths.map((path) => choice([path, names.get(path) ?? path, path]));
    fill(this.#project, choice(["", "All projects"]), options);
    this.#chooseProject();
  }

  /** Takes away all that narrows the list. */
  clear(): void {
    this.#search.value = "";
    this.#choose(this.#filter.by === undefined ? {} : { by: this.#filter.by });
    this.#search.focus();
  }

  close(): void {
    clearTimeout(this.#typing);
  }

  readonly #typed = (): void => {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#ask(true), TYPING_MS);
  };

  readonly #searchKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Enter") this.#ask(false);
    else if (event.key === "ArrowDown") this.#options.down();
    else if (event.key === "Escape" && this.#search.value !== "") {
      this.#search.value = "";
      this.#ask(false);
    } else return;
    event.preventDefault();
  };

  #ask(typing: boolean): void {
    clearTimeout(this.#typing);
    const q = this.#search.value.trim();
    if (q === (this.#filter.q ?? "")) return;
    const { q: _, ...rest } = this.#filter;
    this.#options.changed(q === "" ? rest : { ...rest, q }, typing);
  }

  #choose(filter: HomeFilter): void {
    this.#options.changed(filter, false);
  }

  #group(name: string, by: "day" | "project"): HTMLButtonElement {
    const choose = (): void => {
      const { by: _, project, ...rest } = this.#filter;
      if (by === "project") this.#choose({ ...rest, by });
      else this.#choose(project === undefined ? rest : { ...rest, project });
    };
    return button(name, choose, "");
  }

  #chooseProject(): void {
    const { project = "" } = this.#filter;
    const isOffered = [...this.#project.options].some(({ value }) => value === project);
    if (!isOffered) {
      const name = folderNames([project]).get(project);
      this.#project.append(choice([project, name ?? project, project]));
    }
    this.#project.value = project;
  }
}
