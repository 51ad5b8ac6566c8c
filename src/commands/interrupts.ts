import type { Bell } from "../platform/bell.ts";
import type { Interrupt } from "./interruption.ts";

/**
 * What a command is asked by Ctrl-C and its like, read as it comes: so none of them ends the process, however many there
 * are, while it has something to end itself.
 */
export class Interrupts {
  readonly #waiting: Interrupt[] = [];
  readonly #bell: Bell;
  #came: () => void = () => {};
  /** When the first has come. */
  readonly first: Promise<void>;

  /** The bell rings when one has come. `source` is read until it ends. */
  constructor(source: AsyncIterable<Interrupt>, bell: Bell) {
    this.#bell = bell;
    this.first = new Promise((resolve) => {
      this.#came = resolve;
    });
    void this.#read(source);
  }

  /** The oldest that was not taken yet. */
  take(): Interrupt | undefined {
    return this.#waiting.shift();
  }

  async #read(source: AsyncIterable<Interrupt>): Promise<void> {
    for await (const interrupt of source) {
      this.#waiting.push(interrupt);
      this.#came();
      this.#bell.ring();
    }
  }
}

/** What `work` gives; undefined when an interrupt comes first, and then what becomes of the work is nobody's concern. */
export async function unlessInterrupted<T>(interrupts: Interrupts, work: Promise<T>): Promise<T | undefined> {
  const interrupted = interrupts.first.then(() => undefined);
  work.catch(() => {});
  return Promise.race([work, interrupted]);
}
