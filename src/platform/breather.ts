/** How long one piece of work may hold the event loop: ms. */
const HOLD_MS = 4;

/** Lets others have their turn during long work: call `pause` between its steps. */
export class Breather {
  #since = performance.now();

  /** Gives up the turn when this work has held it for some milliseconds; otherwise goes on at once. */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < HOLD_MS) return;
    await new Promise(setImmediate);
    this.#since = performance.now();
  }
}
