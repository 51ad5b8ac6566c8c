import { setTimeout as pause } from "node:timers/promises";

/** Calls `each` with 1, 2, … `rate` times a second for so many seconds, some each turn, and `turn` after each turn's; how often. */
export async function atRate(
  rate: number,
  seconds: number,
  each: (count: number) => void,
  turn: () => Promise<void>,
): Promise<number> {
  const start = performance.now();
  const all = rate * seconds;
  let count = 0;
  while (count < all) {
    const due = Math.min(all, Math.floor(((performance.now() - start) * rate) / 1000));
    while (count < due) each(++count);
    await turn();
    await pause(1);
  }
  return count;
}
