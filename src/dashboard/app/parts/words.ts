import { readableLine } from "../../../transcript/printable.ts";
import { type Child, h } from "../dom.ts";
import { standing, statusWord } from "./standing.ts";

/** Foreign text on one line, which turns nothing around it; `looks` are its classes. */
export function bdi(text: string, looks?: string): HTMLElement {
  return h("bdi", { class: looks }, readableLine(text));
}

/** Words that matter less. */
export function quiet(...words: readonly Child[]): HTMLElement {
  return h("span", { class: "quiet" }, words);
}

/** How something stands, with the mark and the colour of that. */
export function statusBadge(status: string, word = statusWord(status)): HTMLElement {
  return h("span", { class: "status", "data-status": status }, readableLine(word));
}

/** What a live session of another program does, as far as it says so. */
export function activityBadge(activity: string | undefined): HTMLElement {
  const { status, word } = standing(activity);
  return statusBadge(status, word);
}
