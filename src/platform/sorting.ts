import type { Breather } from "./breather.ts";

/** So many are sorted at a stretch: a millisecond or two. */
const AT_ONCE = 2_048;

/** `items` in the order of `compare`, sorted in pieces, so that tens of thousands do not hold up others. */
export async function sortedInPieces<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  breather: Breather,
): Promise<readonly T[]> {
  let pieces: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    pieces.push(items.slice(start, start + AT_ONCE).sort(compare));
    await breather.pause();
  }
  while (pieces.length > 1) {
    const pairs: (readonly T[])[] = [];
    for (let i = 0; i < pieces.length; i += 2) {
      pairs.push(await merged(pieces[i] ?? [], pieces[i + 1] ?? [], compare, breather));
    }
    pieces = pairs;
  }
  return pieces[0] ?? [];
}

async function merged<T>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T, b: T) => number,
  breather: Breather,
): Promise<readonly T[]> {
  const all: T[] = [];
  let next = 0;
  for (const item of a) {
    for (let other = b[next]; next < b.length && compare(other as T, item) < 0; other = b[next]) {
      all.push(other as T);
      next++;
    }
    all.push(item);
    if (all.length % AT_ONCE === 0) await breather.pause();
  }
  return all.concat(b.slice(next));
}
