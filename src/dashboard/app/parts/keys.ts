import type { Place } from "../places.ts";

/** Keys, and what they do, for the list of all keys. */
export interface KeyHelp {
  /** As they stand on the keyboard, those to press one after the other with a space between: `g s`, `Esc`. */
  readonly keys: string;
  readonly does: string;
}

/** The keys of the page itself. */
export const PAGE_KEYS: readonly KeyHelp[] = [
  { keys: "g s", does: "Sessions" },
  { keys: "g r", does: "Runs" },
  { keys: "g a", does: "Agents" },
  { keys: "/", does: "Search" },
  { keys: "Esc", does: "Close what is open" },
  { keys: "?", does: "This list" },
];

/** The keys of a list of sessions or runs. */
export const LIST_KEYS: readonly KeyHelp[] = [
  { keys: "↓ ↑", does: "The next row and the one before (also j and k)" },
  { keys: "Enter", does: "Open it" },
  { keys: "Home End", does: "The first row and the last" },
];

/** The keys of a chat. */
export const CHAT_KEYS: readonly KeyHelp[] = [
  { keys: "Home", does: "The beginning" },
  { keys: "End", does: "The end, and follow it" },
  { keys: "[ ]", does: "The prompt before, and the next" },
  { keys: "E e", does: "The error before, and the next" },
];

/** How long after `g` the next key still counts. ms */
const PATIENCE_MS = 1_500;

const PLACES: { readonly [key: string]: Place } = { s: { view: "home" }, r: { view: "runs" }, a: { view: "agents" } };

/** The two keys that go to a view. */
export class GoKeys {
  #since: number | undefined;

  /** Takes a key pressed `at` ms: the place to go to, whether it is the first of the two, or undefined for any other key. */
  take(key: string, at: number): Place | "first" | undefined {
    const isSecond = this.#since !== undefined && at - this.#since < PATIENCE_MS;
    this.#since = undefined;
    if (isSecond && Object.hasOwn(PLACES, key)) return PLACES[key];
    if (key !== "g") return undefined;
    this.#since = at;
    return "first";
  }
}
