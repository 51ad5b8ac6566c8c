import { printable } from "../printable.ts";
import { PUNCTUATION, unescaped } from "./entities.ts";

/** Where a link leads. */
export interface Target {
  target: string;
  title: string;
}

/** Something read out of a text, and where it ends. */
interface Read<T> {
  value: T;
  end: number;
}

/** `target` as it may be followed from a page of ours: a web or mail address without spaces and controls; else undefined. */
export function safeTarget(target: string): string | undefined {
  const address = printable(target.trim())
    .replace(/[\t\n]/g, "")
    .replace(/\s/g, encodeURIComponent);
  return /^(?:https?:\/\/[^\s/\\?#]|mailto:[^\s?])/i.test(address) ? address : undefined;
}

/** The `(target "title")` of a link, whose opening bracket stands at `at`. */
export function readInlineTarget(text: string, at: number): Read<Target> | undefined {
  if (text[at] !== "(") return undefined;
  const start = skipSpace(text, at + 1);
  const target = text[start] === ")" ? { value: "", end: start } : readDestination(text, start);
  if (target === undefined) return undefined;
  let end = skipSpace(text, target.end);
  const title = end > target.end ? readTitle(text, end) : undefined;
  if (title !== undefined) end = skipSpace(text, title.end);
  if (text[end] !== ")") return undefined;
  return { value: { target: target.value, title: title?.value ?? "" }, end: end + 1 };
}

/** The `[label]: target "title"` at `at`, where a line begins, and the start of the line after it. */
export function readDefinition(text: string, at: number): Read<Target & { label: string }> | undefined {
  const label = readLabel(text, at);
  if (label === undefined || text[label.end] !== ":" || label.value.trim() === "") return undefined;
  const target = readDestination(text, skipSpace(text, label.end + 1));
  if (target === undefined) return undefined;
  const space = skipSpace(text, target.end);
  const title = space > target.end ? readTitle(text, space) : undefined;
  const whole = title && lineEnd(text, title.end);
  const end = whole ?? lineEnd(text, target.end);
  if (end === undefined) return undefined;
  const titled = whole === undefined ? "" : (title?.value ?? "");
  return { value: { label: label.value, target: target.value, title: titled }, end };
}

/** The `[label]` at `at`, without its brackets and not yet normalised. */
export function readLabel(text: string, at: number): Read<string> | undefined {
  if (text[at] !== "[") return undefined;
  const end = closing(text, at + 1, "]", "[", at + 1 + LONGEST_LABEL);
  return end === undefined ? undefined : { value: text.slice(at + 1, end), end: end + 1 };
}

/** What a label is found by: case and the width of gaps make no difference. Empty when it can't be one. */
export function labelKey(label: string): string {
  if (label.length > LONGEST_LABEL) return "";
  return label.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();
}

const LONGEST_LABEL = 999;

/** How many brackets may stand in each other in a target. */
const MOST_BRACKETS = 32;

function readDestination(text: string, at: number): Read<string> | undefined {
  if (text[at] === "<") {
    const end = closing(text, at + 1, ">", "<\n", text.length);
    return end === undefined ? undefined : { value: unescaped(text.slice(at + 1, end)), end: end + 1 };
  }
  let depth = 0;
  let end = at;
  for (; end < text.length; end++) {
    const char = text.charAt(end);
    if (char <= " " || char === "\u007f") break;
    if (char === "\\" && PUNCTUATION.test(text.charAt(end + 1))) end++;
    else if (char === "(" && ++depth > MOST_BRACKETS) return undefined;
    else if (char === ")" && depth-- === 0) break;
  }
  if (end === at || depth > 0) return undefined;
  return { value: unescaped(text.slice(at, end)), end };
}

function readTitle(text: string, at: number): Read<string> | undefined {
  const quote = text.charAt(at);
  if (quote === "" || !"\"'(".includes(quote)) return undefined;
  const end =
    quote === "(" ? closing(text, at + 1, ")", "(", text.length) : closing(text, at + 1, quote, "", text.length);
  return end === undefined ? undefined : { value: unescaped(text.slice(at + 1, end)), end: end + 1 };
}

/** Where `close` stands first, before `most` and before any of `never`, and without a backslash. */
function closing(text: string, from: number, close: string, never: string, most: number): number | undefined {
  for (let at = from; at < text.length && at <= most; at++) {
    const char = text.charAt(at);
    if (char === close) return at;
    if (never.includes(char)) return undefined;
    if (char === "\\" && text[at + 1] !== "\n") at++;
  }
  return undefined;
}

function skipSpace(text: string, at: number): number {
  let end = at;
  while (end < text.length && " \t\n".includes(text.charAt(end))) end++;
  return end;
}

/** The start of the next line when nothing but space stands between. */
function lineEnd(text: string, at: number): number | undefined {
  let end = at;
  while (text[end] === " " || text[end] === "\t") end++;
  if (end >= text.length) return end;
  return text[end] === "\n" ? end + 1 : undefined;
}
