import type { DiffLine, Hunk } from "./changes.ts";
import { withMarks } from "./marks.ts";
import { shortestScript } from "./myers.ts";

/** How many lines stand around a change. */
const AROUND = 3;

/**
 * What changed from `before` to `after`, with three lines around each change; [] when nothing did. With `numbered`, both are
 * whole files, whose lines have numbers. Takes a bounded time: of texts that have too little in common, all is replaced.
 */
export function diffHunks(before: string, after: string, numbered: boolean): Hunk[] {
  const lines = diffLines(before, after);
  return hunksOf(numbered ? lines : lines.map(({ old: _, new: __, ...line }) => line));
}

/** All lines of both texts, those that are removed before those that are added in their place. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = splitLines(before);
  const b = splitLines(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let rest = 0;
  while (rest < a.length - start && rest < b.length - start && a.at(-1 - rest) === b.at(-1 - rest)) rest++;
  const kept = shortestScript(a.slice(start, a.length - rest), b.slice(start, b.length - rest));
  const same = [
    ...range(start, (at): Pair => [at, at]),
    ...kept.map(([x, y]): Pair => [x + start, y + start]),
    ...range(rest, (at): Pair => [a.length - rest + at, b.length - rest + at]),
  ];
  return lined(a, b, same);
}

/** The number of a line in each text, from 0. */
type Pair = readonly [number, number];

function lined(a: readonly string[], b: readonly string[], same: readonly Pair[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [0, 0];
  for (const [nextX, nextY] of [...same, [a.length, b.length] as const]) {
    const changed: DiffLine[] = [];
    for (; x < nextX; x++) changed.push({ kind: "removed", ...textOf(a[x]), old: x + 1 });
    for (; y < nextY; y++) changed.push({ kind: "added", ...textOf(b[y]), new: y + 1 });
    for (const line of withMarks(changed)) lines.push(line);
    if (x < a.length) lines.push({ kind: "same", ...textOf(a[x]), old: ++x, new: ++y });
  }
  return lines;
}

/** The hunks among `lines`. */
function hunksOf(lines: readonly DiffLine[]): Hunk[] {
  const hunks: DiffLine[][] = [];
  let shownTo = -1;
  for (const [at, { kind }] of lines.entries()) {
    if (kind === "same") continue;
    const from = Math.max(at - AROUND, shownTo);
    const to = Math.min(at + AROUND + 1, lines.length);
    if (hunks.length === 0 || at - AROUND > shownTo) hunks.push([]);
    for (let next = Math.max(from, 0); next < to; next++) {
      const line = lines[next];
      if (next >= shownTo && line !== undefined) hunks.at(-1)?.push(line);
    }
    shownTo = Math.max(shownTo, to);
  }
  return hunks.map((hunk) => ({ lines: hunk }));
}

/** Lines with their newlines, so that a newline that comes or goes is a change too. */
function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function textOf(line = ""): Pick<DiffLine, "text" | "noNewline"> {
  return line.endsWith("\n") ? { text: line.slice(0, -1) } : { text: line, noNewline: true };
}

function range<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
