/** The one of `words` that `word` is most likely a slip of, or undefined when none is near. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const most = word.length < 5 ? 1 : 2;
  const near = words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate ?? words.find((candidate) => word.length >= 4 && candidate.startsWith(word));
}

/** How many letters must be put in, taken out, replaced or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          replaced,
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? Number.POSITIVE_INFINITY;
}
