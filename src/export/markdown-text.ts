import { readable, readableLine } from "../transcript/printable.ts";

/**
 * A block that shows `text` to the letter (readable): no line of it can close the fence, which is longer than any run of
 * backticks inside. `language` is ours. "" when there is nothing to show.
 */
export function fenced(text: string | undefined, language = ""): string {
  const shown = readable(text ?? "");
  if (shown === "") return "";
  const fence = "`".repeat(Math.max(3, longestTicks(shown) + 1));
  return `${fence}${language}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}`;
}

/**
 * `text` on one line, readable, such that it renders as that very text, also at the start of a line: plain when all of it
 * is words, else a code span. Escapes would not do: renderers look for addresses, and sites for names and numbers to link,
 * in the text that is left when escapes are resolved.
 */
export function inline(text: string): string {
  const line = readableLine(text);
  if (WORDS.test(line) && !REFERENCE.test(line)) return line;
  const ticks = "`".repeat(longestTicks(line) + 1);
  // One space at both ends is not part of a span; without it, the text's own backticks would make its ends longer.
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return line === "" ? "" : `${ticks}${space}${line}${space}${ticks}`;
}

/**
 * Letters, digits and what stands between words: no character that is Markdown's, a full stop or a colon only at a word's
 * end (`example.com`, `a:b`), and no beginning that is a list's (`1. `). Beyond ASCII nothing means anything to Markdown.
 */
const WORDS = /^(?!\d+[.)])(?:[A-Za-z0-9]|[^ -~])(?:[A-Za-z0-9 ,;?!'"()-]|[^ -~]|[.:](?= |$))*$/;

/** What GitHub takes for an issue (`GH-1`) or a commit. */
const REFERENCE = /\bgh-\d|[0-9a-f]{7}/i;

/** How many backticks stand side by side in `text` at most. */
function longestTicks(text: string): number {
  let longest = 0;
  let end = 0;
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", end)) {
    end = at + 1;
    while (text.charCodeAt(end) === 0x60) end++;
    longest = Math.max(longest, end - at);
  }
  return longest;
}
