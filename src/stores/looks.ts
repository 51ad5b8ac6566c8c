import type { ListEffort } from "./store.ts";

/** The looks that a store takes at what it holds: one after another; who asks while one waits for its turn shares it. */
export class Looks<T> {
  readonly #look: (effort: ListEffort) => Promise<T>;
  readonly #waiting = new Map<ListEffort, Promise<T>>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(look: (effort: ListEffort) => Promise<T>) {
    this.#look = look;
  }

  /** What a look that begins from now on finds. Fails as the look does; the next one begins nevertheless. */
  take(effort: ListEffort): Promise<T> {
    const waiting = this.#waiting.get(effort);
    if (waiting !== undefined) return waiting;
    const look = this.#turn.then(() => {
      this.#waiting.delete(effort);
      return this.#look(effort);
    });
    this.#waiting.set(effort, look);
    this.#turn = look.catch(() => undefined);
    return look;
  }
}
