/** How long one piece of work may hold the event loop: ms. */
const HOLD_MS = 4;

/** Lets others have their turn during long work: call `pause` between its steps, or, in tight loops, when `isDue`. */
export class Breather {
  #since = performance.now();

  /** Whether this work has held the turn for some milliseconds. */
  get isDue(): boolean {
    return performance.now() - this.#since >= HOLD_MS;
  }

  /** Gives up the turn when that is due; otherwise goes on at once. */
  async pause(): Promise<void> {
    if (!this.isDue) return;
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}
