import type { Piece } from "./log-window.ts";

/** An entry of a log, or a part of a long one. */
export interface LogRow {
  readonly key: string;
  /** The time of day that it begins with. */
  readonly time?: string;
  readonly text: string;
  /** `more` has no time of its own: it goes on with the row before. */
  readonly kind: "more" | "step" | "answer" | "waiting" | "done" | "failed" | "interrupted";
}

/** What a row holds at most: lines, and characters. */
const LINES = 80;
const CHARACTERS = 16_000;

/** The rows of a piece: one for each entry, more for one that is long. */
export function rowsOf({ from, text }: Piece): readonly LogRow[] {
  const rows: LogRow[] = [];
  let start = 0;
  let lines: string[] = [];
  let length = 0;
  const end = (next: number): void => {
    if (lines.length > 0) rows.push(rowOf(`${from}.${start}`, lines));
    lines = [];
    length = 0;
    start = next;
  };
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const next = Math.min(newline < 0 ? text.length : newline + 1, partEnd(text, at));
    const line = text.slice(at, next).replace(/\n$/, "");
    if (STAMPED.test(line) || lines.length >= LINES || length + line.length > CHARACTERS) end(at);
    lines.push(line);
    length += line.length;
    at = next;
  }
  end(text.length);
  return rows;
}

/** What a run was asked to do; `cut` when that is not all of it. */
export interface Prompt {
  readonly prompt: string;
  readonly cut: boolean;
}

/** The prompt in the first entry of a log; `cut` when its end is not in `text`. Undefined when there is none. */
export function promptIn(text: string): Prompt | undefined {
  const [first = "", ...rest] = text.split(/\r?\n/);
  if (!STAMPED.test(first)) return undefined;
  const next = rest.findIndex((line) => STAMPED.test(line));
  const lines = rest.slice(0, next < 0 ? undefined : next).map(unindented);
  // A prompt may hold a line of dashes itself.
  const dashes = lines.lastIndexOf("---");
  const prompt = (dashes < 0 ? lines : lines.slice(0, dashes)).join("\n").trimEnd();
  return prompt === "" ? undefined : { prompt, cut: dashes < 0 };
}

const STAMPED = /^(\d\d:\d\d:\d\d) /;
/** How far further lines of an entry are indented. */
const INDENT = " ".repeat(9);

function rowOf(key: string, lines: readonly string[]): LogRow {
  const [first = "", ...rest] = lines;
  const time = STAMPED.exec(first)?.[1];
  const own = time === undefined ? unindented(first) : first.slice(INDENT.length);
  const text = [own, ...rest.map(unindented)].join("\n");
  return { key, text, kind: time === undefined ? "more" : kindOf(own), ...(time !== undefined && { time }) };
}

function kindOf(line: string): LogRow["kind"] {
  if (line.startsWith("answer: ")) return "answer";
  if (/^\d+s · still running$/.test(line)) return "waiting";
  const [, outcome] = /^finished after \S+ · (.*)$/.exec(line.trimEnd()) ?? [];
  if (outcome === undefined) return "step";
  if (outcome === "done") return "done";
  return outcome === "interrupted" || outcome === "cancelled" ? "interrupted" : "failed";
}

function unindented(line: string): string {
  return line.startsWith(INDENT) ? line.slice(INDENT.length) : line;
}

/** Where the part of a very long line that begins at `at` ends: never between the halves of a character. */
function partEnd(text: string, at: number): number {
  const end = at + CHARACTERS;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
