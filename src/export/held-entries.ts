import { asArray, asObject } from "../platform/read.ts";
import type { Entry } from "../transcript/entry.ts";

/** Characters of entries that wait for what may yet replace them: more than the 8 MiB that stores look back. */
const MOST_HELD = 12 * 1024 * 1024;
/** What an entry counts besides its texts. */
const ENTRY_CHARACTERS = 300;
/** Ids that are remembered of entries that were let go. */
const MOST_GONE = 100_000;

/**
 * Entries on their way, in the order of the chat. Stores that update records in place (or put several together to one item)
 * tell an entry again as it grows: it takes the place of the earlier one. Only what is far behind is let go.
 */
export class HeldEntries {
  readonly #mostHeld: number;
  #held: Entry[] = [];
  /** How many were let go: the number of the first that is held. */
  #base = 0;
  #characters = 0;
  readonly #numbers = new Map<string, number>();
  readonly #gone = new Set<string>();

  constructor(mostHeld = MOST_HELD) {
    this.#mostHeld = mostHeld;
  }

  /** Takes in the entries of a page. */
  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const key = keyOf(entry);
      const number = key === undefined ? undefined : this.#numbers.get(key);
      if (key !== undefined && this.#gone.has(key)) continue;
      if (number === undefined) {
        if (key !== undefined) this.#numbers.set(key, this.#base + this.#held.length);
        this.#held.push(entry);
      } else {
        const before = this.#held[number - this.#base];
        if (before !== undefined) this.#characters -= weightOf(before);
        this.#held[number - this.#base] = entry;
      }
      this.#characters += weightOf(entry);
    }
  }

  /** Those that nothing will replace any more; all that is held when nothing `more` will come. */
  take(more: "more" | "end"): readonly Entry[] {
    // Of stores that update nothing in place: what is held long costs much more to be let go.
    if (this.#numbers.size === 0) return this.#all();
    if (more === "more" && this.#characters <= this.#mostHeld) return [];
    let count = 0;
    for (const most = more === "end" ? -1 : this.#mostHeld / 2; this.#characters > most; count++) {
      const entry = this.#held[count];
      if (entry === undefined) break;
      this.#characters -= weightOf(entry);
      const key = keyOf(entry);
      if (key !== undefined) this.#leave(key);
    }
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    this.#base += count;
    return taken;
  }

  #all(): readonly Entry[] {
    const all = this.#held;
    this.#held = [];
    this.#base += all.length;
    this.#characters = 0;
    return all;
  }

  #leave(key: string): void {
    this.#numbers.delete(key);
    this.#gone.add(key);
    if (this.#gone.size <= MOST_GONE) return;
    for (const oldest of this.#gone) {
      this.#gone.delete(oldest);
      return;
    }
  }
}

/** What chats replace an item by: a subagent's is its own. */
function keyOf(entry: Entry): string | undefined {
  if (entry.id === undefined) return undefined;
  return entry.kind === "subagent" ? `sub-${entry.subagent.id}` : entry.id;
}

function weightOf(entry: Entry): number {
  const text = "text" in entry ? (entry.text?.length ?? 0) : 0;
  if (entry.kind !== "tool-call") return text + ENTRY_CHARACTERS;
  return (entry.output?.length ?? 0) + textsIn(entry.input, 3) + ENTRY_CHARACTERS;
}

/** Characters of the texts in a value, as far as `levels` reach into it. */
function textsIn(value: unknown, levels: number): number {
  if (typeof value === "string") return value.length;
  const parts = levels === 0 ? [] : Object.values(asObject(value) ?? asArray(value) ?? {});
  return parts.reduce((sum: number, part) => sum + textsIn(part, levels - 1), 0);
}
