import { readableLine } from "../../../transcript/printable.ts";
import { fill, h, setText } from "../dom.ts";
import { agentBadge, folder } from "../parts/agent.ts";
import { time } from "../parts/time.ts";
import { bdi, statusBadge } from "../parts/words.ts";
import { hashOf } from "../places.ts";
import type { NowRow } from "./now-rows.ts";
import type { LastWords } from "./words.ts";

const MINUTE = 60_000;

/** An empty element for something that goes on; `paintNowRow` fills it. */
export function nowElement({ key, place }: NowRow): HTMLLIElement {
  const title =
    place === undefined
      ? h("span", { class: "go clamp", dir: "auto" })
      : h("a", { class: "go clamp", dir: "auto", href: hashOf(place), "data-main": true });
  return h(
    "li",
    { class: "row now-row", "data-row": key, "data-link": place === undefined ? "" : hashOf(place) },
    h(
      "div",
      { class: "entry" },
      title,
      h("span", { class: "when" }),
      h("div", { class: "facts" }),
      h("p", { class: "doing quiet" }),
      h("p", { class: "ask", hidden: true }),
    ),
  );
}

/** Whether `element` can show `row`: its link can't become another. */
export function fits(element: HTMLElement, { place }: NowRow): boolean {
  return element.dataset.link === (place === undefined ? "" : hashOf(place));
}

/** Makes `element` show `row`, leaving its links where they are. */
export function paintNowRow(element: HTMLElement, row: NowRow, words: LastWords | undefined, now: number): void {
  element.dataset.status = row.status;
  const find = (selector: string) => element.querySelector<HTMLElement>(selector) ?? element;
  setText(find(".go"), readableLine(row.title) || "Untitled");
  fill(find(".when"), time(row.since, now, now - row.since < MINUTE ? "ago" : "since"));
  fill(
    find(".facts"),
    statusBadge(row.status, row.word),
    row.agent !== "" && agentBadge(row.agent),
    row.cwd !== "" && folder(row.cwd),
    row.model !== undefined && bdi(row.model, "quiet"),
  );
  paintDoing(find(".doing"), row, words, now);
  paintQuestion(find(".ask"), row);
}

/** The place for what it did last is kept while that is not known, so that nothing moves when it comes. */
function paintDoing(element: HTMLElement, row: NowRow, words: LastWords | undefined, now: number): void {
  element.hidden = row.question !== undefined || (row.last === undefined && row.chat === undefined);
  const text = readableLine(row.last ?? words?.text ?? "");
  fill(element, h("bdi", { class: "clip" }, text || "\u00a0"), row.last === undefined && words && time(words.at, now));
}

function paintQuestion(element: HTMLElement, { question, place, status }: NowRow): void {
  element.hidden = status !== "awaiting-input" || place === undefined;
  if (element.hidden || place === undefined) return;
  const title = readableLine(question?.title ?? "") || (question === undefined ? "It waits for you" : "Permission");
  const known = element.querySelector("a");
  if (known === null) {
    const words = question === undefined ? "Open" : "Answer";
    fill(
      element,
      h("bdi", { class: "wants clamp" }),
      h("a", { class: "button small main over", href: hashOf(place) }, words),
    );
  }
  setText(element.firstElementChild ?? element, title);
}
