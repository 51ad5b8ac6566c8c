import { Bell } from "../platform/bell.ts";
import type { SessionId } from "../transcript/names.ts";

/** Ids that one notice names. */
const MOST_IDS = 100;
/** Changes that are remembered for readers that fall behind. */
const MOST_CHANGES = 64;

/** That a list (of sessions, unless said otherwise) is another one now. */
export interface ListChange<Id extends string = SessionId> {
  /** Grows with every change. */
  readonly generation: number;
  /** What was added, removed or is shown differently, at most 100. */
  readonly ids: readonly Id[];
  /** There are more than `ids` names: list again. */
  readonly more?: true;
}

/** The last changes of a list. Each reader gets what came since its last reading as one notice, however slow it is. */
export class ChangeLog<Id extends string = SessionId> {
  #generation = 0;
  #changes: ListChange<Id>[] = [];
  readonly #bells = new Set<Bell>();

  /** Grows with every change; 0 before the first. */
  get generation(): number {
    return this.#generation;
  }

  /** Adds a change and wakes the readers. */
  add(ids: readonly Id[]): void {
    this.#generation++;
    const more = ids.length > MOST_IDS && { more: true as const };
    this.#changes.push({ generation: this.#generation, ids: ids.slice(0, MOST_IDS), ...more });
    if (this.#changes.length > MOST_CHANGES) this.#changes.shift();
    for (const bell of this.#bells) bell.ring();
  }

  /** What changes after generation `since`; ends with the signal. */
  async *follow(signal: AbortSignal, since: number): AsyncGenerator<ListChange<Id>, void> {
    const bell = new Bell();
    this.#bells.add(bell);
    try {
      for (let seen = since; ; ) {
        while (this.#generation <= seen && !signal.aborted) await bell.listen(signal);
        if (signal.aborted) return;
        const change = this.#since(seen);
        seen = change.generation;
        yield change;
      }
    } finally {
      this.#bells.delete(bell);
    }
  }

  /** Everything after `seen` as one change, the latest ids first. */
  #since(seen: number): ListChange<Id> {
    const changes = this.#changes.filter((change) => change.generation > seen).reverse();
    const ids = new Set(changes.flatMap((change) => change.ids));
    const forgotten = changes.length < this.#generation - seen;
    const more = forgotten || ids.size > MOST_IDS || changes.some((change) => change.more);
    return {
      generation: this.#generation,
      ids: [...ids].slice(0, MOST_IDS),
      ...(more && { more: true as const }),
    };
  }
}
