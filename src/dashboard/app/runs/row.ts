import { readableLine } from "../../../transcript/printable.ts";
import { fill, h, setText } from "../dom.ts";
import { time } from "../parts/time.ts";
import { hashOf } from "../places.ts";
import type { Run } from "../wire.ts";
import { actors, jobChip, marks, statusBadge } from "./parts.ts";
import { outcomeOf, titleOf } from "./run-facts.ts";

/** The row of a run. */
export function runRow(run: Run, now: number): HTMLElement {
  const link = h("a", {
    class: "run-title",
    "data-row": run.name,
    href: hashOf({ view: "run", name: run.name }),
    dir: "auto",
  });
  const row = h("li", { class: "run-row" }, link, h("div", { class: "run-when" }), h("div", { class: "run-facts" }));
  updateRow(row, run, now);
  return row;
}

/** Brings a row up to date. Its link stays the element it was, and keeps the focus. */
export function updateRow(row: HTMLElement, run: Run, now: number): boolean {
  const [link, when, facts] = row.children;
  if (link === undefined || when === undefined || facts === undefined) return false;
  const refocus = facts.contains(document.activeElement);
  setText(link, titleOf(run));
  fill(when, statusBadge(run.status), run.startedAt > 0 && time(run.startedAt, now));
  const said = run.status === "running" ? readableLine(run.last) : outcomeOf(run);
  const last = said ? h("p", { class: `run-last ${run.status}`, dir: "auto" }, said) : undefined;
  fill(facts, actors(run, now), jobChip(run), marks(run), last);
  if (refocus) facts.querySelector("a")?.focus({ preventScroll: true });
  return true;
}
