/**
 * What several sources yield, as it comes. When the loop over it is left, or a source fails, the others are left too: hand
 * over sources that end with a signal, and abort that when the loop is left, since a source that waits can't be woken.
 */
export async function* merged<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T, void, undefined> {
  const waiting = new Map<AsyncIterator<T>, Promise<{ from: AsyncIterator<T>; result: IteratorResult<T> }>>();
  const ask = (from: AsyncIterator<T>): void => {
    waiting.set(
      from,
      from.next().then((result) => ({ from, result })),
    );
  };
  for (const source of sources) ask(source[Symbol.asyncIterator]());
  try {
    while (waiting.size > 0) {
      const { from, result } = await Promise.race(waiting.values());
      if (result.done === true) waiting.delete(from);
      else {
        ask(from);
        yield result.value;
      }
    }
  } finally {
    for (const [from, next] of waiting) {
      next.catch(() => undefined);
      from.return?.()?.catch(() => undefined);
    }
  }
}
