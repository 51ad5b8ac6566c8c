/** What several watchers tell, for one loop to take: what waits under the same key is told once. */
export class Mailbox<T> {
  readonly #waiting = new Map<string, T>();
  #failed: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  put(key: string, value: T): void {
    if (!this.#waiting.has(key)) this.#waiting.set(key, value);
    this.#wake?.();
  }

  /** Ends the loop with `error`, after what was put before. */
  fail(error: unknown): void {
    this.#failed ??= { error };
    this.#wake?.();
  }

  /** What was put, in order, and then what will be; ends with the signal. */
  async *take(signal: AbortSignal): AsyncGenerator<T, void, undefined> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener("abort", wake);
    try {
      while (!signal.aborted) {
        for (const [key, value] of this.#waiting) {
          this.#waiting.delete(key);
          yield value;
          if (signal.aborted) return;
        }
        if (this.#failed !== undefined) throw this.#failed.error;
        if (this.#waiting.size === 0 && !signal.aborted) await this.#put();
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #put(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** Runs loops over several sources beside each other until they are stopped, and tells the first failure. */
export class Pumps {
  readonly #all = new AbortController();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Hands everything that `source` yields to `take`. What is returned stops it. */
  run<T>(source: (signal: AbortSignal) => AsyncIterable<T>, take: (value: T) => void): () => void {
    const one = new AbortController();
    const signal = AbortSignal.any([this.#all.signal, one.signal]);
    const pump = async (): Promise<void> => {
      for await (const value of source(signal)) {
        if (signal.aborted) return;
        take(value);
      }
    };
    pump().catch((error: unknown) => {
      if (!signal.aborted) this.#failed(error);
    });
    return () => one.abort();
  }

  /** Stops all of them. */
  close(): void {
    this.#all.abort();
  }
}
