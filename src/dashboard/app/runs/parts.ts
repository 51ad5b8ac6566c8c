import { readableLine } from "../../../transcript/printable.ts";
import { h } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { duration, time } from "../parts/time.ts";
import { hashOf } from "../places.ts";
import type { Run, RunStatus } from "../wire.ts";
import { askerOf, tookMs } from "./run-facts.ts";

/** How a run stands, in a word and its colour. */
export function statusBadge(status: RunStatus): HTMLElement {
  return h("span", { class: "status", "data-status": status }, status);
}

/** A link to the runs of the job that a run is of; undefined where it is of none. */
export function jobChip({ job }: Run): HTMLElement | undefined {
  if (!job) return undefined;
  const title = `All runs of the job ${readableLine(job)}`;
  return h("a", { class: "chip", href: hashOf({ view: "runs", job }), title }, "job ", bdi(job));
}

/** What is to be known of where a run's record is. */
export function marks({ recovered, archived }: Run): HTMLElement[] {
  const said: (readonly [string, string])[] = [];
  if (recovered)
    said.push(["log lost; from the saved job", "Its log is gone. This is what the saved job tells of it."]);
  if (archived) said.push(["archived", "Its files lie in the archive."]);
  return said.map(([words, title]) => h("span", { class: "mark", title }, words));
}

/** Who did it, with what, where, and for whom. */
export function actors(run: Run, now: number): HTMLElement[] {
  const by = askerOf(run);
  const took = tookMs(run);
  const parts = [
    run.agent !== null && agentBadge(readableLine(run.agent)),
    run.model && h("span", { class: "quiet" }, bdi(run.model)),
    run.workdir && folder(readableLine(run.workdir)),
    by !== undefined && h("span", { class: "quiet" }, "by ", bdi(by)),
    took !== undefined && h("span", { class: "quiet" }, `took ${duration(took)}`),
    run.status === "running" && h("span", { class: "quiet" }, "for ", time(run.startedAt, now, "since")),
  ];
  return parts.filter((part) => part instanceof HTMLElement);
}

/** Foreign text on one line, which turns nothing around it. */
export function bdi(text: string): HTMLElement {
  return h("bdi", {}, readableLine(text));
}
