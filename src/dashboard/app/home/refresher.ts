/** What a refresher needs to know of the page. */
export interface Page {
  /** Nobody sees the page. */
  isHidden(): boolean;
  /** Calls when that changes; ends with what it returns. */
  onVisibility(told: () => void): () => void;
}

/**
 * Does a work whenever it is wanted, but one at a time, with at least `gap` ms between one and the next, and not while the
 * page is hidden; what was wanted meanwhile is done at once when it is shown again.
 */
export class Refresher {
  readonly #work: () => Promise<void>;
  readonly #gap: number;
  readonly #page: Page;
  readonly #off: () => void;
  #wanted = false;
  #busy = false;
  #closed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(work: () => Promise<void>, gap: number, page: Page) {
    this.#work = work;
    this.#gap = gap;
    this.#page = page;
    this.#off = page.onVisibility(() => this.#turn());
  }

  /** The work is wanted, with what is known from now on. */
  want(): void {
    this.#wanted = true;
    this.#turn();
  }

  close(): void {
    this.#off();
    clearTimeout(this.#timer);
    this.#closed = true;
  }

  #turn(): void {
    if (this.#closed || !this.#wanted || this.#busy || this.#page.isHidden()) return;
    this.#wanted = false;
    this.#busy = true;
    const rest = (): void => {
      this.#timer = setTimeout(() => {
        this.#busy = false;
        this.#turn();
      }, this.#gap);
    };
    this.#work().then(rest, rest);
  }
}
