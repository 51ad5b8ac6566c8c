import type { DiffLine, Hunk } from "./changes.ts";
import { withMarks } from "./marks.ts";
import { type Kept, keptLines } from "./myers.ts";

/**
 * What changed from `before` to `after`, with `around` lines around each change; [] when nothing did. With `numbered`, both
 * are whole files, whose lines have numbers. Takes a bounded time: of texts that have too little in common, all is replaced.
 */
export function diffHunks(before: string, after: string, numbered: boolean, around = 3): Hunk[] {
  const a = splitLines(before);
  const b = splitLines(after);
  const same = (from: number, { old, new: own }: Kept, to: number): DiffLine[] =>
    range(from, to, (at) => ({
      kind: "same",
      ...textOf(a[old + at]),
      ...(numbered && { old: old + at + 1, new: own + at + 1 }),
    }));
  const hunks: DiffLine[][][] = [];
  const kept = keptIn(a, b);
  for (const [index, next] of kept.entries()) {
    const last = kept[index - 1];
    if (last === undefined) continue;
    const removed = range(last.old + last.count, next.old, (at): DiffLine => {
      return { kind: "removed", ...textOf(a[at]), ...(numbered && { old: at + 1 }) };
    });
    const added = range(last.new + last.count, next.new, (at): DiffLine => {
      return { kind: "added", ...textOf(b[at]), ...(numbered && { new: at + 1 }) };
    });
    if (removed.length + added.length === 0) continue;
    const isNear = hunks.length > 0 && last.count <= 2 * around;
    if (!isNear) hunks.push([same(Math.max(0, last.count - around), last, last.count)]);
    hunks.at(-1)?.push(withMarks([...removed, ...added]), same(0, next, Math.min(around, next.count)));
    // What stands between two changes that are near was told up to `around` lines.
    if (isNear) hunks.at(-1)?.splice(-2, 0, same(Math.min(around, last.count), last, last.count));
  }
  return hunks.map((parts) => ({ lines: parts.flat() }));
}

/** The lines that stay, from the beginning of both texts to their end. */
function keptIn(a: readonly string[], b: readonly string[]): Kept[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let rest = 0;
  while (rest < a.length - start && rest < b.length - start && a.at(-1 - rest) === b.at(-1 - rest)) rest++;
  const [endA, endB] = [a.length - rest, b.length - rest];
  return [
    { old: 0, new: 0, count: start },
    ...keptLines(a.slice(start, endA), b.slice(start, endB)).map((kept) => ({
      old: kept.old + start,
      new: kept.new + start,
      count: kept.count,
    })),
    { old: endA, new: endB, count: rest },
  ];
}

/** Lines with their newlines, so that a newline that comes or goes at the end is a change too. */
function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}

function textOf(line = ""): Pick<DiffLine, "text" | "noNewline"> {
  return line.endsWith("\n") ? { text: line.slice(0, -1) } : { text: line, noNewline: true };
}

function range<T>(from: number, to: number, make: (at: number) => T): T[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => make(from + index));
}
