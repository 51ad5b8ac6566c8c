import { labelKey, readDefinition, type Target } from "./links.ts";

/** What a text defines for its links: `[label]: target`. */
export class References {
  readonly #targets = new Map<string, Target>();
  #left: number;

  /** For a text of `length`: what its links repeat of its definitions may not be many times as long. */
  constructor(length: number) {
    this.#left = Math.max(length, LEAST_REPEATED);
  }

  /** Takes the definitions that a paragraph begins with, and gives the rest of it. The first one of a label counts. */
  takeFrom(paragraph: string): string {
    let at = 0;
    while (at < paragraph.length) {
      const read = readDefinition(paragraph, at);
      if (read === undefined) break;
      const { label, target, title } = read.value;
      const key = labelKey(label);
      if (!this.#targets.has(key)) this.#targets.set(key, { target, title });
      at = read.end;
    }
    return paragraph.slice(at);
  }

  /** Where a link with this label leads, if that is defined. */
  find(label: string): Target | undefined {
    const key = labelKey(label);
    const found = key === "" ? undefined : this.#targets.get(key);
    if (found === undefined) return undefined;
    this.#left -= found.target.length + found.title.length;
    return this.#left < 0 ? undefined : found;
  }
}

const LEAST_REPEATED = 100_000;
