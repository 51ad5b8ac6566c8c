import type { EpochMs } from "../platform/clock.ts";
import { htmlText } from "../transcript/html-text.ts";
import { readable, readableLine } from "../transcript/printable.ts";
import { isoText, timeText } from "./words.ts";

/** `text`, readable, as the content of an element. */
export function escaped(text: string): string {
  const shown = readable(text);
  if (shown.length <= PIECE) return htmlText(shown);
  const pieces: string[] = [];
  for (let at = 0; at < shown.length; at += PIECE) pieces.push(htmlText(shown.slice(at, at + PIECE)));
  return pieces.join("");
}

/** Characters that are escaped at once: of millions of replacements in one go each takes several times as long. */
const PIECE = 65_536;

/** A foreign text on a line of ours: its direction is its own, whatever stands around it. "" when there is nothing to show. */
export function inlined(text: string | undefined): string {
  const line = readableLine(text ?? "");
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
