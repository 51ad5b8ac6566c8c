import { type ByteOffset, byteOffsetOf, FILE_START, type JsonlCursor } from "./cursor.ts";
import type { ByteSource } from "./source.ts";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A complete line. `bytes` is a view without the line's end, valid only until the page's buffer is used again. */
export interface RecordLine {
  readonly kind: "record";
  readonly start: ByteOffset;
  /** Behind the newline. */
  readonly end: ByteOffset;
  readonly bytes: Buffer;
}

/** A line that is longer than a page. */
export interface OversizedLine {
  readonly kind: "oversized";
  readonly start: ByteOffset;
  /** Behind the newline. */
  readonly end: ByteOffset;
}

/** A line of a page. */
export type JsonlLine = RecordLine | OversizedLine;

/** One read forward. Without anything new, `next` is the cursor that was given. */
export interface LinePage {
  readonly lines: readonly JsonlLine[];
  readonly next: JsonlCursor;
  /** The cursor lay beyond the end or not behind a newline, so the file is not the one it was made for. */
  readonly reset?: true;
}

/** One read backward. `prev` ends the page before this one; undefined at the start of the file. */
export interface LinePageBefore {
  readonly lines: readonly JsonlLine[];
  readonly prev: ByteOffset | undefined;
}

/** A buffer for pages of at most `pageBytes` bytes: one more, for the newline before the page. */
export function pageBuffer(pageBytes: number): Buffer {
  return Buffer.allocUnsafe(pageBytes + 1);
}

/**
 * The complete lines of `source` from `from` on that one positional read into `buffer` holds (see `pageBuffer`). A last
 * line without its newline waits. A line longer than the page is passed over, page by page, and told once, when its
 * newline is met; only then is its start looked for, which waits now and then so as not to hold up others.
 */
export async function readPage(source: ByteSource, from: JsonlCursor, buffer: Buffer): Promise<LinePage> {
  if (from.offset > source.size) return restart(source, buffer);
  const before = from.offset === 0 ? 0 : 1;
  const base = from.offset - before;
  const wanted = buffer.subarray(0, before + buffer.length - 1);
  const held = wanted.subarray(0, source.read(wanted, base));
  const startsLine = from.offset === 0 || held[0] === NEWLINE;
  if (!from.discarding && !startsLine) return restart(source, buffer);
  const discardedTo = from.discarding ? held.indexOf(NEWLINE, before) : -1;
  if (from.discarding && discardedTo < 0) return { lines: [], next: discarding(base + held.length) };
  const first = from.discarding ? discardedTo + 1 : before;
  const { lines, stop } = linesOf(held, first, base);
  const outgrown = !from.discarding && stop === first && held.length === wanted.length;
  const next = outgrown ? discarding(base + held.length) : lineCursor(base + stop);
  if (!from.discarding) return { lines, next };
  return { lines: [await oversizedLine(source, base + first), ...lines], next };
}

/**
 * The complete lines that end at or before `end`, as many as a page holds; bytes behind the last newline before `end`
 * are passed over. A line longer than a page is told alone.
 */
export async function readPageBefore(source: ByteSource, end: ByteOffset, buffer: Buffer): Promise<LinePageBefore> {
  const stop = await lineStart(source, Math.min(end, source.size));
  if (stop === 0) return { lines: [], prev: undefined };
  const base = Math.max(0, stop - buffer.length);
  const held = buffer.subarray(0, source.read(buffer.subarray(0, stop - base), base));
  const first = base === 0 ? 0 : held.indexOf(NEWLINE) + 1;
  if (base > 0 && first === held.length) {
    const line = await oversizedLine(source, stop);
    return { lines: [line], prev: line.start === 0 ? undefined : line.start };
  }
  const { lines } = linesOf(held, first, base);
  return { lines, prev: base + first === 0 ? undefined : byteOffsetOf(base + first) };
}

/** Whether a cursor at `offset` lies in `source` and behind a newline, as those of complete lines do. */
export function isLineStart(source: ByteSource, offset: ByteOffset): boolean {
  if (offset === 0) return true;
  const byte = Buffer.alloc(1);
  return offset <= source.size && source.read(byte, offset - 1) === 1 && byte[0] === NEWLINE;
}

const SCAN_BYTES = 1024 * 1024;

/** Where the line that holds the byte before `at` starts, when `at` is not itself behind a newline; else `at`. */
async function lineStart(source: ByteSource, at: number): Promise<ByteOffset> {
  const scratch = Buffer.allocUnsafe(Math.min(SCAN_BYTES, at));
  let end = at;
  while (end > 0) {
    const base = Math.max(0, end - (end === at ? Math.min(4096, scratch.length) : scratch.length));
    const held = scratch.subarray(0, source.read(scratch.subarray(0, end - base), base));
    const newline = held.lastIndexOf(NEWLINE);
    if (newline >= 0) return byteOffsetOf(base + newline + 1);
    if (end !== at) await new Promise(setImmediate);
    end = base;
  }
  return byteOffsetOf(0);
}

async function oversizedLine(source: ByteSource, end: number): Promise<OversizedLine> {
  return { kind: "oversized", start: await lineStart(source, end - 1), end: byteOffsetOf(end) };
}

async function restart(source: ByteSource, buffer: Buffer): Promise<LinePage> {
  return { ...(await readPage(source, FILE_START, buffer)), reset: true };
}

/** Splits `held` (which starts at `base` in the file) into its complete lines from index `first` on. */
function linesOf(held: Buffer, first: number, base: number): { lines: RecordLine[]; stop: number } {
  const lines: RecordLine[] = [];
  let start = first;
  for (let newline = held.indexOf(NEWLINE, start); newline >= 0; newline = held.indexOf(NEWLINE, start)) {
    const end = newline > start && held[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline;
    lines.push({
      kind: "record",
      start: byteOffsetOf(base + start),
      end: byteOffsetOf(base + newline + 1),
      bytes: held.subarray(start, end),
    });
    start = newline + 1;
  }
  return { lines, stop: start };
}

function lineCursor(offset: number): JsonlCursor {
  return { offset: byteOffsetOf(offset), discarding: false };
}

function discarding(offset: number): JsonlCursor {
  return { offset: byteOffsetOf(offset), discarding: true };
}
