import { readable } from "../../../transcript/printable.ts";
import { h } from "../dom.ts";
import { linked } from "./links.ts";
import { longText } from "./long-text.ts";
import type { Limit } from "./pieces.ts";

/** What of a text is shown at first. */
const FIRST: Limit = { lines: 40, characters: 4000 };

/** `text` as it was written, line by line, with its addresses as links; a long one is folded. */
export function plain(text: string): HTMLElement {
  const shown = readable(text).replace(/\s+$/, "");
  const into = h("div", { class: "plain-text", dir: "auto" });
  const more = longText({ text: shown, first: FIRST, into, render: (from, to) => linked(shown.slice(from, to)) });
  return h("div", { class: "plain" }, into, more);
}
