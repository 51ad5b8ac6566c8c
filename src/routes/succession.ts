import type { Bell } from "../platform/bell.ts";
import type { Timer } from "../platform/timer.ts";

/** How often a chat that may give way to another is asked for that one: ms. */
const ASK_MS = 500;

/** Rings now and then for a chat that may give way to another, which is asked for then: seldom, however often others ring. */
export class Succession<Successor> {
  readonly #find: (() => Promise<Successor | undefined>) | undefined;
  readonly #ring: () => void;
  readonly #timer: Timer;
  #isDue = false;
  #cancel: (() => void) | undefined;

  /** Never rings without `find`. */
  constructor(find: (() => Promise<Successor | undefined>) | undefined, bell: Bell, timer: Timer) {
    this.#find = find;
    this.#timer = timer;
    this.#ring = () => {
      this.#isDue = true;
      bell.ring();
    };
    this.#wait();
  }

  /** The one that has taken the chat's place, when it is time to ask for it. @throws what finding it throws */
  async due(): Promise<Successor | undefined> {
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    const successor = await this.#find?.();
    this.#wait();
    return successor;
  }

  /** Rings no more. */
  end(): void {
    this.#cancel?.();
  }

  #wait(): void {
    if (this.#find !== undefined) this.#cancel = this.#timer.after(ASK_MS, this.#ring);
  }
}
