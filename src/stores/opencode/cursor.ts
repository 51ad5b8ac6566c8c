import { createHash } from "node:crypto";
import { badCursor, type Cursor, START } from "../../transcript/cursor.ts";

/** A place in an OpenCode chat, of which there are two kinds. */
export type OpenCodeCursor =
  | {
      /** In the history, which is read in conversation order: `o:<ms>:<row id>:1`. */
      readonly phase: "history";
      /** The row that is read next; undefined is the first one. */
      readonly id: string | undefined;
      /** Updates after this time are still to be told when the history is read; 0 while reading has not begun. */
      readonly since: number;
      readonly revert: string | undefined;
    }
  | {
      /** Behind the history, where updates are followed in the order of their times: `o:<update ms>:<row id>`. */
      readonly phase: "updates";
      /** The last update that was told: its time, and the row; the row is undefined when there was none at that time. */
      readonly since: number;
      readonly id: string | undefined;
      readonly revert: string | undefined;
    };

/** The start of every chat. */
export const HISTORY_START: OpenCodeCursor = { phase: "history", id: undefined, since: 0, revert: undefined };

const FORM = /^o:(0|[1-9]\d{0,15}):([A-Za-z0-9_-]{1,128})(?::([01])(?::([0-9a-f]{8}))?)?$/;
const ROW_ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Stands where no row is named. */
const NO_ROW = "0";

/** Whether a row's id can stand in a cursor. */
export function isRowId(id: unknown): id is string {
  return typeof id === "string" && ROW_ID.test(id) && id !== NO_ROW;
}

/** Reads a cursor; `0` is the start. @throws Failure bad-request: malformed, beyond 2^53, or of another store's kind. */
export function parseOpenCodeCursor(text: string): OpenCodeCursor {
  if (text === START) return HISTORY_START;
  const match = FORM.exec(text);
  const since = Number(match?.[1]);
  if (match === null || !Number.isSafeInteger(since)) throw badCursor();
  const id = match[2] === NO_ROW ? undefined : match[2];
  return { phase: match[3] === "1" ? "history" : "updates", id, since, revert: match[4] };
}

/** Writes a cursor. */
export function formatOpenCodeCursor({ phase, id, since, revert }: OpenCodeCursor): Cursor {
  const history = phase === "history";
  if (history && id === undefined && since === 0) return START;
  const tail = revert === undefined ? (history ? ":1" : "") : `:${history ? 1 : 0}:${revert}`;
  return `o:${since}:${id ?? NO_ROW}${tail}` as Cursor;
}

/** The position of a row: a cursor at which reading begins with it. */
export function positionOf(id: string): Cursor {
  return formatOpenCodeCursor({ phase: "history", id, since: 0, revert: undefined });
}

/**
 * Names the state of a session whose last turns are taken back (`session.revert`), so that a cursor tells whether what it
 * stands behind is still what is shown.
 */
export function revertTag(message: string, part: string | undefined): string {
  return createHash("sha256")
    .update(`${message}\0${part ?? ""}`)
    .digest("hex")
    .slice(0, 8);
}
