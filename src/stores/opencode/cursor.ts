import { createHash } from "node:crypto";
import { badCursor, type Cursor, START } from "../../transcript/cursor.ts";
import { CURSOR_CHARACTERS } from "../../transcript/limits.ts";

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
      /**
       * Where more was updated within five seconds than a page holds: the last update that was told beyond `since`, up to
       * which all are told once more when they are old enough: `o:<ms>:<row id>:2:<ms>:<row id>`.
       */
      readonly ahead?: { readonly since: number; readonly id: string };
    };

/** The start of every chat. */
export const HISTORY_START: OpenCodeCursor = { phase: "history", id: undefined, since: 0, revert: undefined };

const FORM =
  /^o:(0|[1-9]\d{0,15}):([\w-]{1,128})(?::(?:([01])|2:(0|[1-9]\d{0,15}):([\w-]{1,128}))(?::([0-9a-f]{8}))?)?$/;
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
  const [matched, time, row = "", phase, aheadTime, aheadId, revert] = FORM.exec(text) ?? [];
  const since = Number(time);
  const ahead = aheadId === undefined ? undefined : { since: Number(aheadTime), id: aheadId };
  const times = ahead === undefined ? [since] : [since, ahead.since];
  if (matched === undefined || !times.every(Number.isSafeInteger)) throw badCursor();
  const id = row === NO_ROW ? undefined : row;
  if (phase === "1") return { phase: "history", id, since, revert };
  return { phase: "updates", id, since, revert, ...(ahead && { ahead }) };
}

/** Writes a cursor. Where ids are so long that it would be no cursor any more, it does not say what was told ahead. */
export function formatOpenCodeCursor(cursor: OpenCodeCursor): Cursor {
  const { phase, id, since, revert } = cursor;
  if (phase === "history" && id === undefined && since === 0) return START;
  const place = `o:${since}:${id ?? NO_ROW}`;
  const tag = revert === undefined ? "" : `:${revert}`;
  if (phase === "history") return `${place}:1${tag}` as Cursor;
  if (cursor.ahead !== undefined) {
    const long = `${place}:2:${cursor.ahead.since}:${cursor.ahead.id}${tag}`;
    if (long.length <= CURSOR_CHARACTERS) return long as Cursor;
  }
  return `${place}${tag && `:0${tag}`}` as Cursor;
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
