import type { Bell } from "../../platform/bell.ts";

/** What has come out of a tap; no value at the end. */
export interface Poured<T> {
  readonly value: T | undefined;
}

/** What an iterator gives, one at a time and only when asked for, so that several can be waited for with one bell. */
export class Tap<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #bell: Bell;
  #asked = false;
  #come: Poured<T> | { readonly error: unknown } | undefined;

  /** The bell rings when something has come. */
  constructor(source: AsyncIterable<T>, bell: Bell) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#bell = bell;
  }

  /** What has come, if something has; else it is asked for. @throws what the iterator threw */
  take(): Poured<T> | undefined {
    if (!this.#asked) void this.#ask();
    const come = this.#come;
    if (come === undefined) return undefined;
    this.#asked = false;
    this.#come = undefined;
    if ("error" in come) throw come.error;
    return come;
  }

  async #ask(): Promise<void> {
    this.#asked = true;
    try {
      const { done, value } = await this.#iterator.next();
      this.#come = { value: done ? undefined : value };
    } catch (error) {
      this.#come = { error };
    }
    this.#bell.ring();
  }
}
