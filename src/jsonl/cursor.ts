import { badCursor, type Cursor } from "../transcript/cursor.ts";

declare const byteOffset: unique symbol;

/** A number of bytes from the start of a file (or of the joined ranges of a chain of files). */
export type ByteOffset = number & { readonly [byteOffset]: true };

/** A place in a JSONL file: `j:<offset>:<0|1>`, with a third part where a chat is joined from several files. */
export interface JsonlCursor {
  readonly offset: ByteOffset;
  /** Inside an oversized line, whose rest is to be passed over. */
  readonly discarding: boolean;
  /** 8 hex digits that name the chain of files. */
  readonly chain?: string;
}

const FORM = /^j:(0|[1-9]\d{0,15}):([01])(?::([0-9a-f]{8}))?$/;

/** The start of a file. */
export const FILE_START: JsonlCursor = { offset: 0 as ByteOffset, discarding: false };

/** `offset` as a byte offset. */
export function byteOffsetOf(offset: number): ByteOffset {
  return offset as ByteOffset;
}

/** Reads a cursor; `0` is the start. @throws Failure bad-request: malformed, beyond 2^53, or of another store's kind. */
export function parseJsonlCursor(text: string): JsonlCursor {
  if (text === "0") return FILE_START;
  const match = FORM.exec(text);
  const offset = Number(match?.[1]);
  if (match === null || !Number.isSafeInteger(offset)) throw badCursor();
  const chain = match[3];
  return { offset: byteOffsetOf(offset), discarding: match[2] === "1", ...(chain !== undefined && { chain }) };
}

/** Writes a cursor. */
export function formatJsonlCursor(cursor: JsonlCursor): Cursor {
  const chain = cursor.chain === undefined ? "" : `:${cursor.chain}`;
  return `j:${cursor.offset}:${cursor.discarding ? 1 : 0}${chain}` as Cursor;
}
