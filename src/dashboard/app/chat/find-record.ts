import type { Cursor, Item } from "../wire.ts";
import { type ChatSource, readBefore, readFrom } from "./source.ts";

/** Which way a chat is looked through. */
export type Direction = "up" | "down";

/**
 * The ref of the nearest item above or below `from` that is `wanted`; undefined when there is none. Reads page by page and
 * holds none, until the signal ends it. @throws Refused, Unreachable
 */
export async function findRecord(
  source: ChatSource,
  from: Cursor,
  direction: Direction,
  wanted: (item: Item) => boolean,
  signal: AbortSignal,
): Promise<Cursor | undefined> {
  let at: Cursor | null = from;
  while (at !== null && !signal.aborted) {
    const { items, prev, next }: Awaited<ReturnType<typeof readFrom>> =
      direction === "up" ? await readBefore(source, at, signal) : await readFrom(source, at, signal);
    const found = direction === "up" ? items.findLast(wanted) : items.find(wanted);
    if (found !== undefined) return found.ref;
    const beyond: Cursor | null = direction === "up" ? (prev ?? null) : (next ?? null);
    at = beyond === at ? null : beyond;
  }
  return undefined;
}
