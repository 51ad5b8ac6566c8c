import { Failure } from "../platform/failure.ts";
import { badCursor, type Cursor, cursorOf } from "../transcript/cursor.ts";
import type { Item } from "../transcript/item.ts";

/** An item of a page: the how-manieth of those that its record gives there. */
export interface Mark {
  readonly ref: Cursor;
  readonly nth: number;
}

/** Where a chat is read on. A page of a store may be more than one answer holds: `mark` is the item up to which it was told. */
export type Place =
  | { readonly way: "on"; readonly at: Cursor; readonly mark?: Mark | undefined }
  | { readonly way: "back"; readonly at: Cursor | "tail"; readonly mark?: Mark | undefined }
  /** In the texts of one record. */
  | { readonly way: "record"; readonly at: Cursor; readonly offset: number };

const WAYS = { on: "f", back: "b", record: "r" } as const;

/** The cursor of a place, as models are given it. */
export function placeText(place: Place): string {
  const rest = place.way === "record" ? `~${place.offset}` : place.mark ? `~${place.mark.nth}~${place.mark.ref}` : "";
  return `${WAYS[place.way]}${place.at}${rest}`;
}

/** The place of a cursor. @throws Failure bad-request: it was never given out, or is another chat's */
export function placeOf(text: string): Place {
  try {
    return parsedPlace(text);
  } catch (error) {
    throw wrongCursor(error);
  }
}

/** `error`, or that the argument is wrong, in the API's words, when it is the store that takes no such cursor. */
export function wrongCursor(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== "bad-request") return error;
  return new Failure("bad-request", badCursor().message.replace(/^this cursor/, "cursor"), error);
}

function parsedPlace(text: string): Place {
  const [, way, at = "", number, ref] = /^([fbr])([^~]+)(?:~(\d{1,15})(?:~([^~]+))?)?$/.exec(text) ?? [];
  if (way === undefined) throw badCursor();
  if (way === "r") return { way: "record", at: cursorOf(at), offset: Number(number ?? 0) };
  const mark = ref === undefined ? undefined : { ref: cursorOf(ref), nth: Number(number) };
  if (way === "f") return { way: "on", at: cursorOf(at), mark };
  return { way: "back", at: at === "tail" ? at : cursorOf(at), mark };
}

/** The mark of the item at `index`. */
export function markAt(items: readonly Item[], index: number): Mark | undefined {
  const ref = items[index]?.ref;
  if (ref === undefined) return undefined;
  return { ref, nth: items.slice(0, index).filter((item) => item.ref === ref).length };
}

/** Where the marked item stands; -1 when it is not there (any more). */
export function indexOf(items: readonly Item[], { ref, nth }: Mark): number {
  let seen = 0;
  return items.findIndex((item) => item.ref === ref && seen++ === nth);
}
