import type { Skipped } from "../store.ts";

/** Places that are remembered for one reason, so that reading the same row again does not count twice. */
const MOST_PLACES = 10_000;

/** What could not be shown, and why: for the report. */
export class Problems {
  readonly #places = new Map<string, Set<string>>();

  /** Notes that what lies at `place` is left out because of `reason`. */
  add(reason: string, place: string): void {
    const places = this.#places.get(reason) ?? new Set();
    if (places.size < MOST_PLACES) places.add(place);
    this.#places.set(reason, places);
  }

  /** Each reason with its count and one place. */
  skipped(): Skipped[] {
    return [...this.#places].map(([reason, places]) => {
      const [example = ""] = places;
      return { reason, count: places.size, example };
    });
  }
}
