/**
 * Yields what any of `sources` yields, as it comes; ends when all have ended. Leaving it leaves all of them.
 * @throws what a source throws
 */
export async function* merge<T>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T, void, undefined> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const next = async (index: number): Promise<{ index: number; result: IteratorResult<T> }> => {
    const iterator = iterators[index];
    if (iterator === undefined) return { index, result: { done: true, value: undefined } };
    return { index, result: await iterator.next() };
  };
  const pending = new Map(iterators.map((_, index) => [index, next(index)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      if (result.done === true) pending.delete(index);
      else {
        pending.set(index, next(index));
        yield result.value;
      }
    }
  } finally {
    for (const iterator of iterators) iterator.return?.().catch(() => undefined);
  }
}
