import type { EpochMs } from "../platform/clock.ts";
import { printable, printableLine } from "../transcript/printable.ts";
import { isoText, timeText } from "./words.ts";

/** `text`, printable, as the content of an element. */
export function escaped(text: string): string {
  return printable(text).replace(/[&<>]/g, (character) => ENTITIES[character] ?? "");
}

const ENTITIES: { readonly [character: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A foreign text on a line of ours: its direction is its own, whatever stands around it. "" when there is nothing to show. */
export function inlined(text: string | undefined): string {
  const line = printableLine(text ?? "");
  return line === "" ? "" : `<bdi lang="">${escaped(line)}</bdi>`;
}

/** A text as it was typed or printed. "" when there is nothing to show. */
export function preformatted(text: string | undefined): string {
  const shown = escaped(text ?? "");
  // The first newline in a `pre` is not part of it.
  return shown === "" ? "" : `<pre lang="" dir="auto">\n${shown}</pre>`;
}

/** When it was; "" when that is not known. */
export function timed(at: EpochMs | undefined): string {
  const iso = at === undefined ? "" : isoText(at);
  return at === undefined || iso === "" ? "" : `<time datetime="${iso}">${timeText(at)}</time>`;
}

/** `content`, folded under a line that stands alone when there is nothing to unfold. Both are HTML. */
export function folded(kind: string, line: string, content: string): string {
  return content === ""
    ? `<div class="fold ${kind}"><div class="line">${line}</div></div>`
    : `<details class="fold ${kind}"><summary class="line">${line}</summary>${content}</details>`;
}
