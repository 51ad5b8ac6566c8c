import { readableLine } from "../../../transcript/printable.ts";
import { fill, h } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import type { RunsFilter } from "../places.ts";
import { AGENTS, type RunStatus } from "../wire.ts";

const STATUSES: readonly RunStatus[] = ["running", "done", "failed", "interrupted"];
/** How long one has to stop typing. */
const TYPED_MS = 200;

/** The fields that narrow the list of runs. */
export interface Filters {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  /** Shows `filter`; `agents` are those that can be chosen beside the known ones. */
  show(filter: RunsFilter, agents: Iterable<string>): void;
}

/** Makes the fields; `changed` gets what they say now. */
export function filters(changed: (filter: RunsFilter) => void): Filters {
  let shown: RunsFilter = {};
  let typing: ReturnType<typeof setTimeout> | undefined;
  const change = (part: RunsFilter): void => changed({ ...shown, ...part });
  const status = select("Status", (value) => change({ status: STATUSES.find((name) => name === value) }));
  const agent = select("Agent", (value) => change({ agent: value || undefined }));
  const typed = (): void => {
    clearTimeout(typing);
    typing = undefined;
    change({ q: search.value.trim() || undefined });
  };
  const input = (): void => {
    clearTimeout(typing);
    typing = setTimeout(typed, TYPED_MS);
  };
  const search = h("input", {
    type: "search",
    placeholder: "Title, prompt, folder …",
    "aria-label": "Text in the runs",
    on: { input, change: typed },
  });
  const job = h("span", { class: "run-job" });
  const element = h("form", { class: "run-filters", role: "search", on: { submit: stay } }, search, status, agent, job);
  return {
    element,
    search,
    show(filter, agents) {
      shown = filter;
      options(status, "Any status", STATUSES, filter.status);
      const names = new Set<string>([...AGENTS, ...agents, ...(filter.agent === undefined ? [] : [filter.agent])]);
      options(agent, "Any agent", [...names], filter.agent, agentName);
      if (typing === undefined && search.value.trim() !== (filter.q ?? "")) search.value = filter.q ?? "";
      const name = filter.job && readableLine(filter.job);
      const click = (): void => {
        change({ job: undefined });
        search.focus();
      };
      const title = `No longer only the job ${name}`;
      const off = h("button", { type: "button", class: "chip", "aria-label": title, title, on: { click } });
      if (job.textContent === (name ? `job ${name} ×` : "")) return;
      fill(off, "job ", h("bdi", {}, name), " ×");
      fill(job, name && off);
    },
  };
}

function stay(event: Event): void {
  event.preventDefault();
}

function select(label: string, changed: (value: string) => void): HTMLSelectElement {
  const element = h("select", { "aria-label": label });
  element.addEventListener("change", () => changed(element.value));
  return element;
}

function options(
  element: HTMLSelectElement,
  any: string,
  values: readonly string[],
  value: string | undefined,
  name: (value: string) => string = (text) => text,
): void {
  if (element.options.length !== values.length + 1) {
    fill(
      element,
      h("option", { value: "" }, any),
      values.map((text) => h("option", { value: text }, readableLine(name(text)))),
    );
  }
  element.value = value ?? "";
}
