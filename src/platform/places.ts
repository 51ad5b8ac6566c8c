/** Lets in only so many at a time; others wait, in the order in which they came. */
export class Places {
  #free: number;
  readonly #mostWaiting: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number, mostWaiting = Number.POSITIVE_INFINITY) {
    this.#free = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Whether one more should not even wait. */
  get isFull(): boolean {
    return this.#free === 0 && this.#waiting.size >= this.#mostWaiting;
  }

  /** Comes back when there is a place, with what gives it back. @throws the signal's reason when that aborts first */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack();
      isTaken = false;
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const come = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.delete(come);
        reject(signal.reason);
      };
      this.#waiting.add(come);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
