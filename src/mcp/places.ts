/** Lets so many at once do their work; the others wait, up to a number. */
export class Places {
  readonly #most: number;
  readonly #mostWaiting: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Whether one more could not even wait. */
  get isFull(): boolean {
    return this.#taken >= this.#most && this.#waiting.length >= this.#mostWaiting;
  }

  /** Does `work` when there is a place for it, or at once when the signal aborts: the work then sees to that itself. */
  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#most || !(await this.#handedOn(signal))) this.#taken++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  /** Waits for the place of another; false when the signal aborts before there is one. */
  #handedOn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const take = (): void => {
        signal.removeEventListener("abort", leave);
        resolve(true);
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(take), 1);
        resolve(false);
      };
      this.#waiting.push(take);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
