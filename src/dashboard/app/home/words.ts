import { readableLine } from "../../../transcript/printable.ts";
import type { Item } from "../wire.ts";

/** What a session did last, on one line, and when. */
export interface LastWords {
  readonly text: string;
  readonly at: number;
}

/** As many as a line of any width can hold. */
const MOST_CHARACTERS = 300;

/** What the last of `items` that says something says: what a call does, rather than what came of it. */
export function lastWords(items: readonly Item[]): LastWords | undefined {
  for (const item of items.toReversed()) {
    const text = wordsOf(item);
    if (text !== "") return { text: text.slice(0, MOST_CHARACTERS), at: item.at };
  }
  return undefined;
}

function wordsOf({ kind, text = "", tool = "", summary = "", subagent }: Item): string {
  if (kind === "subagent") return readableLine(`Subagent: ${subagent?.title ?? ""}`);
  if (kind === "tool") return summary === "" ? "" : readableLine(`${tool}: ${summary}`);
  const words = readableLine(text.slice(0, 4 * MOST_CHARACTERS));
  return kind === "user" && words !== "" ? `You: ${words}` : words;
}
