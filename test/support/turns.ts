import { setImmediate as turn } from "node:timers/promises";

/** Comes back when `condition` holds, asking once every turn of the event loop; a test's own time limit ends it otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** Lets everything that is ready run, some turns long. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** The next value of an iterator that must not have ended. */
export async function nextOf<T>(iterator: AsyncIterator<T>): Promise<T> {
  const { done, value } = await iterator.next();
  if (done) throw new Error("ended");
  return value;
}
