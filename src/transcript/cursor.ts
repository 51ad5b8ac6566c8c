import { Failure } from "../platform/failure.ts";
import { CURSOR_CHARACTERS } from "./limits.ts";
import type { AgentName } from "./names.ts";

declare const cursor: unique symbol;

/** A place in a chat, as its store writes it: opaque to everyone but that store. `0` is the start. */
export type Cursor = string & { readonly [cursor]: true };

/** The start of every chat. */
export const START = "0" as Cursor;

/** What stands in place of a cursor where the last page is meant; nowhere else is it a place in a chat. */
export const TAIL = "tail";

/**
 * `text` as a cursor that a store has yet to check. @throws Failure bad-request: empty, too long, not printable ASCII, or
 * `tail`, which a store would take for the chat's end.
 */
export function cursorOf(text: string): Cursor {
  if (text.length > CURSOR_CHARACTERS || !/^[!-~]+$/.test(text) || text === TAIL) throw badCursor();
  return text as Cursor;
}

/** Whether `cursor` is of the kind that the chats of `agent` have. Whether it fits the chat, its store says. */
export function fitsAgent(cursor: Cursor, agent: AgentName): boolean {
  return cursor === START || KINDS[agent].test(cursor);
}

const LINES = /^j:\d{1,16}:[01](?::[0-9a-f]{8})?$/;
const KINDS: { readonly [agent in AgentName]: RegExp } = {
  claude: LINES,
  codex: LINES,
  daemon: LINES,
  opencode: /^o:\d{1,16}:./,
  hermes: /^h:\d{1,16}$/,
};

/** The failure of a cursor that no store could have written, or that another kind of store wrote. */
export function badCursor(): Failure {
  return new Failure("bad-request", "this cursor is not one of this chat; leave it out to start at the beginning");
}
