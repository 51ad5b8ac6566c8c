import type { DiffLine } from "./changes.ts";

/** Longer lines have no marks, nor have changes of more lines. */
const LONGEST = 2000;
const MOST_LINES = 200;

/**
 * The `lines` of one change, those that were removed before those that were added. Where one line stands for another and
 * much of it stayed, both have a mark at what did not.
 */
export function withMarks(lines: readonly DiffLine[]): DiffLine[] {
  const removed = lines.filter(({ kind }) => kind === "removed");
  const added = lines.filter(({ kind }) => kind === "added");
  if (removed.length !== added.length || removed.length > MOST_LINES) return [...removed, ...added];
  const marks = removed.map((line, index) => marksOf(line.text, added[index]?.text ?? ""));
  return [
    ...removed.map((line, index) => marked(line, marks[index]?.[0])),
    ...added.map((line, index) => marked(line, marks[index]?.[1])),
  ];
}

function marked(line: DiffLine, mark: DiffLine["mark"]): DiffLine {
  return mark === undefined || mark[0] === mark[1] ? line : { ...line, mark };
}

type Mark = readonly [from: number, to: number];

/** What differs between two lines, in whole words; undefined when little is the same. */
function marksOf(a: string, b: string): readonly [Mark, Mark] | undefined {
  if (a.length > LONGEST || b.length > LONGEST) return undefined;
  const x = a.match(WORDS) ?? [];
  const y = b.match(WORDS) ?? [];
  let start = 0;
  while (start < x.length && start < y.length && x[start] === y[start]) start++;
  let rest = 0;
  while (rest < x.length - start && rest < y.length - start && x.at(-1 - rest) === y.at(-1 - rest)) rest++;
  const lengthOf = (words: readonly string[]): number => words.join("").length;
  const head = lengthOf(x.slice(0, start));
  const tail = lengthOf(x.slice(x.length - rest));
  const isAlike = head + tail - (/^\s*/.exec(a)?.[0].length ?? 0) >= Math.max(a.trim().length, b.trim().length) / 3;
  if (!isAlike) return undefined;
  return [
    [head, a.length - tail],
    [head, b.length - tail],
  ];
}

/** Words, gaps, and what stands between them one by one. */
const WORDS = /[\p{L}\p{N}_]+|\s+|[\s\S]/gu;
