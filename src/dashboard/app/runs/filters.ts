import { fill, h } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { choice, select } from "../parts/controls.ts";
import { bdi } from "../parts/words.ts";
import { hashOf, type RunsFilter } from "../places.ts";
import { AGENTS, STATUSES } from "../wire.ts";

/** How long one has to stop typing. */
const TYPED_MS = 200;

/** The fields that narrow the list of runs. */
export interface Filters {
  readonly element: HTMLElement;
  /** Shows `filter`. Agents beside the known ones can be chosen when there are runs of theirs. */
  show(filter: RunsFilter, agents: readonly string[]): void;
}

/** Makes the fields; `changed` gets what they say now. */
export function makeFilters(changed: (filter: RunsFilter) => void): Filters {
  let shown: RunsFilter = {};
  let typing: ReturnType<typeof setTimeout> | undefined;
  const change = (part: RunsFilter): void => changed({ ...shown, ...part });
  const status: HTMLSelectElement = select(
    {
      "aria-label": "Status",
      on: { change: () => change({ status: STATUSES.find((name) => name === status.value) }) },
    },
    [],
  );
  const agent: HTMLSelectElement = select(
    { "aria-label": "Agent", on: { change: () => change({ agent: agent.value || undefined }) } },
    [],
  );
  const input = (): void => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      typing = undefined;
      change({ q: search.value.trim() || undefined });
    }, TYPED_MS);
  };
  const search = h("input", {
    type: "search",
    "data-search": true,
    placeholder: "Filter …",
    "aria-label": "Text in runs",
    on: { input },
  });
  const job = h("span");
  return {
    element: h("div", { class: "run-filters", role: "search" }, job, search, status, agent),
    show(filter, agents) {
      shown = filter;
      offer(status, "Any status", STATUSES, filter.status ?? "");
      const known = new Set([...AGENTS, ...agents, ...(filter.agent ? [filter.agent] : [])]);
      offer(agent, "Any agent", [...known], filter.agent ?? "");
      // What is being typed is newer than what is shown.
      if (typing === undefined && search.value.trim() !== (filter.q ?? "")) search.value = filter.q ?? "";
      const href = hashOf({ view: "runs", ...filter, job: undefined });
      fill(
        job,
        filter.job && h("a", { class: "button small", href, title: "Of all jobs again" }, bdi(filter.job), " ×"),
      );
    },
  };
}

function offer(element: HTMLSelectElement, any: string, values: readonly string[], value: string): void {
  if (element.length !== values.length + 1) {
    fill(
      element,
      choice(["", any]),
      values.map((text) => choice([text, agentName(text)])),
    );
  }
  element.value = value;
}
