import { readableLine } from "../../../transcript/printable.ts";
import { fill, h, setText } from "../dom.ts";
import { refill } from "../parts/refill.ts";
import { time } from "../parts/time.ts";
import { statusBadge } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { WindowRow } from "../standing-rows.ts";
import type { Run } from "../wire.ts";
import { facts } from "./parts.ts";
import { outcomeOf, titleOf } from "./run-facts.ts";

/** The row of a run in the list. */
export function runRow(run: Run, now: number): WindowRow {
  const { name } = run;
  return {
    key: name,
    version: run,
    make() {
      const link = h("a", { class: "go clamp", "data-row": name, href: hashOf({ view: "run", name }), dir: "auto" });
      const row = h("li", { class: "run-row entry" }, link, h("div", { class: "when" }), h("div", { class: "facts" }));
      update(row, run, now);
      return row;
    },
    update: (row) => update(row, run, now),
  };
}

/** The link stays the element it was, and keeps the focus. */
function update(row: HTMLElement, run: Run, now: number): boolean {
  const [link, when, what] = row.querySelectorAll<HTMLElement>(":scope > *");
  if (link === undefined || when === undefined || what === undefined) return false;
  setText(link, titleOf(run));
  fill(when, statusBadge(run.status), run.status !== "running" && run.startedAt > 0 && time(run.startedAt, now));
  const said = run.status === "running" ? readableLine(run.last) : outcomeOf(run);
  refill(what, [facts(run, now), said && h("p", { class: `run-last clip ${run.status}`, dir: "auto" }, said)], () =>
    link.focus({ preventScroll: true }),
  );
  return true;
}
