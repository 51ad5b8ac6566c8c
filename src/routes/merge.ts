import { Bell } from "../platform/bell.ts";

/** Something a source gave, until it is taken. */
interface Offer<T> {
  readonly value: T;
  readonly take: () => void;
}

/**
 * What several sources give, as it comes, as one. A source is read on only when what it gave before was taken, so a slow
 * reader holds up the sources and at most one value of each waits. Ends when all have ended, or with the signal; sources must end with it too.
 * @throws the first error of a source
 */
export async function* merged<T>(sources: readonly AsyncIterable<T>[], signal: AbortSignal): AsyncGenerator<T, void> {
  const bell = new Bell();
  const offers: Offer<T>[] = [];
  const failed: unknown[] = [];
  let open = sources.length;
  let left = false;
  const offer = async (source: AsyncIterable<T>): Promise<void> => {
    try {
      for await (const value of source) {
        if (left) return;
        await new Promise<void>((take) => {
          offers.push({ value, take });
          bell.ring();
        });
        if (left) return;
      }
    } catch (error) {
      failed.push(error);
    } finally {
      open--;
      bell.ring();
    }
  };
  for (const source of sources) offer(source);
  try {
    while (!signal.aborted && failed.length === 0 && (open > 0 || offers.length > 0)) {
      for (let next = offers.shift(); next !== undefined && !signal.aborted; next = offers.shift()) {
        next.take();
        yield next.value;
      }
      if (open > 0 && failed.length === 0) await bell.listen(signal);
    }
    if (failed.length > 0 && !signal.aborted) throw failed[0];
  } finally {
    left = true;
    for (const { take } of offers) take();
  }
}
