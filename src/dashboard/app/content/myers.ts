/** How many changes are looked for, and how many comparisons are made, before two texts are said to differ altogether. */
const MOST_CHANGES = 1500;
const MOST_STEPS = 8_000_000;

/** Neighbouring lines that stay: where they begin in the old and in the new text, from 0, and how many they are. */
export interface Kept {
  readonly old: number;
  readonly new: number;
  readonly count: number;
}

/** The lines that stay from `a` to `b`, as many as can be (the algorithm of Myers); [] when that would take too long. */
export function keptLines(a: readonly string[], b: readonly string[]): Kept[] {
  if (a.length === 0 || b.length === 0) return [];
  const ids = new Map<string, number>();
  const numbered = (lines: readonly string[]): Int32Array => {
    const numbers = new Int32Array(lines.length);
    for (const [at, line] of lines.entries()) {
      const id = ids.get(line) ?? ids.size;
      if (id === ids.size) ids.set(line, id);
      numbers[at] = id;
    }
    return numbers;
  };
  const trace = search(numbered(a), numbered(b));
  return trace === undefined ? [] : keptOf(trace, a.length, b.length);
}

/**
 * How far each diagonal reaches, for each number of changes up to one less than what leads to the end; undefined when there
 * are too many. The diagonal k after d changes stands at k + d + 1.
 */
function search(a: Int32Array, b: Int32Array): Int32Array[] | undefined {
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  const trace: Int32Array[] = [];
  let reach = new Int32Array(1);
  for (let changes = 0, steps = 0; changes <= most && steps < MOST_STEPS; changes++) {
    const next = new Int32Array(2 * changes + 3);
    for (let k = -changes; k <= changes; k += 2) {
      let x = begin(reach, k, changes);
      steps -= x - 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      steps += x;
      next[k + changes + 1] = x;
      if (x >= a.length && x - k >= b.length) return trace;
    }
    trace.push(next);
    reach = next;
  }
  return undefined;
}

/** Where the diagonal `k` begins with one more change than `reach` tells of. */
function begin(reach: Int32Array, k: number, changes: number): number {
  if (changes === 0) return 0;
  return isDown(reach, k, changes) ? (reach[k + 1 + changes] ?? 0) : (reach[k - 1 + changes] ?? 0) + 1;
}

/** Whether a line of the new text leads to the diagonal `k`; else one of the old is gone. */
function isDown(reach: Int32Array, k: number, changes: number): boolean {
  return k === -changes || (k !== changes && (reach[k - 1 + changes] ?? 0) < (reach[k + 1 + changes] ?? 0));
}

/** The lines that stay, told backwards from the end. */
function keptOf(trace: readonly Int32Array[], aLength: number, bLength: number): Kept[] {
  const kept: Kept[] = [];
  let [x, y] = [aLength, bLength];
  for (let changes = trace.length; changes >= 0; changes--) {
    const k = x - y;
    const reach = trace[changes - 1] ?? new Int32Array(1);
    const start = begin(reach, k, changes);
    const count = x - start;
    x = start;
    y -= count;
    if (count > 0) kept.push({ old: x, new: y, count });
    if (changes === 0) break;
    if (isDown(reach, k, changes)) y--;
    else x--;
  }
  return kept.reverse();
}
