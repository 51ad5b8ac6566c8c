/** How many different notes are kept for a slow reader. */
const MOST_NOTES = 16;

/**
 * What a reader is told and has not yet taken. A slow reader has no growing queue: equal notes are one, and more than a
 * few different ones become the one that stands for anything, undefined. Ends with its signal, or when its loop is left.
 */
export class Subscription<T> implements AsyncIterableIterator<T | undefined> {
  readonly #pending = new Set<T | undefined>();
  readonly #signal: AbortSignal;
  readonly #left: () => void;
  #waiting: ((result: IteratorResult<T | undefined>) => void)[] = [];
  #ended = false;

  /** `left` is called once, when it ends. */
  constructor(signal: AbortSignal, left: () => void) {
    this.#signal = signal;
    this.#left = left;
    if (signal.aborted) this.#end();
    else signal.addEventListener("abort", this.#end, { once: true });
  }

  /** Whether its signal has aborted or its loop was left. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Hands `note` to the reader that waits, or keeps it for the next time it asks; undefined stands for anything. */
  tell(note: T | undefined): void {
    if (this.#ended) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) waiting({ done: false, value: note });
    else if (!this.#pending.has(undefined)) this.#keep(note);
  }

  next(): Promise<IteratorResult<T | undefined>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    for (const note of this.#pending) {
      this.#pending.delete(note);
      return Promise.resolve({ done: false, value: note });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T | undefined>> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.removeEventListener("abort", this.#end);
    this.#pending.clear();
    for (const waiting of this.#waiting) waiting({ done: true, value: undefined });
    this.#waiting = [];
    this.#left();
  };

  #keep(note: T | undefined): void {
    const all = note === undefined || (this.#pending.size >= MOST_NOTES && !this.#pending.has(note));
    if (all) this.#pending.clear();
    this.#pending.add(all ? undefined : note);
  }
}
