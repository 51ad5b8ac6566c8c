import { fill, h } from "../dom.ts";
import { agentName } from "../parts/agent.ts";
import { choice, select } from "../parts/controls.ts";
import { refill } from "../parts/refill.ts";
import { searchField } from "../parts/search-field.ts";
import { bdi } from "../parts/words.ts";
import { hashOf, type RunsFilter } from "../places.ts";
import { AGENTS, STATUSES } from "../wire.ts";

/** The fields that narrow the list of runs. */
export interface Filters {
  readonly element: HTMLElement;
  /** Shows `filter`. Agents beside the known ones can be chosen when there are runs of theirs. */
  show(filter: RunsFilter, agents: readonly string[]): void;
  /** Sets the focus where one searches. */
  focus(): void;
  close(): void;
}

/** Makes the fields; `changed` gets what they say now, `down` is told when one goes on from them into the list. */
export function makeFilters(changed: (filter: RunsFilter) => void, down: () => void): Filters {
  let shown: RunsFilter = {};
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
  const search = searchField({ label: "Search runs", changed: (q) => change({ q }), down });
  const focus = (): void => search.element.focus();
  const job = h("span");
  return {
    element: h("div", { class: "run-filters", role: "search" }, job, search.element, status, agent),
    show(filter, agents) {
      shown = filter;
      offer(status, "Any status", STATUSES, filter.status ?? "");
      const known = new Set([...AGENTS, ...agents, ...(filter.agent ? [filter.agent] : [])]);
      offer(agent, "Any agent", [...known], filter.agent ?? "");
      search.show(filter.q);
      const href = hashOf({ view: "runs", ...filter, job: undefined });
      const cross = { class: "button small", href, title: "Of all jobs again" };
      refill(job, [filter.job && h("a", cross, bdi(filter.job), " ×")], focus);
    },
    focus,
    close: search.close,
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
