import type { Skipped } from "../store.ts";

/** Places that are remembered for one reason. */
const PLACES = 1_000;

/** Remembers what could not be shown, so that a report can say so: each place once, however often it is met. */
export class Trouble {
  readonly #places = new Map<string, Set<string>>();

  /** `place` was left out for `reason`. */
  note(reason: string, place: string): void {
    const places = this.#places.get(reason) ?? new Set<string>();
    if (places.size < PLACES) places.add(place);
    this.#places.set(reason, places);
  }

  /** What was left out so far, by reason. */
  skipped(): Skipped[] {
    return [...this.#places].map(([reason, places]) => {
      const [example = ""] = places;
      return { reason, count: places.size, example };
    });
  }
}
