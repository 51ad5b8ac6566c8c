import { badCursor, type Cursor } from "../../transcript/cursor.ts";

/** The cursor of the place before row `id`: what is read from there begins with that row. */
export function hermesCursor(id: number): Cursor {
  return `h:${id}` as Cursor;
}

/** The id of the row at which a read from `cursor` begins; 0 is the start. @throws Failure bad-request */
export function parseHermesCursor(cursor: Cursor): number {
  if (cursor === "0") return 0;
  const id = Number(/^h:(0|[1-9]\d{0,15})$/.exec(cursor)?.[1]);
  if (!Number.isSafeInteger(id)) throw badCursor();
  return id;
}
