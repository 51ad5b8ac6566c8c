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
  /** The cursor lay beyond the end, not behind a newline, or not in an oversized line: it was made for another file. */
  readonly reset?: true;
}

/** One read backward. `prev` ends the page before this one; undefined at the start of the file. */
export interface LinePageBefore {
  readonly lines: readonly JsonlLine[];
  /** Behind the newline that this page ends with: where what follows it starts. */
  readonly end: ByteOffset;
  readonly prev: ByteOffset | undefined;
}

/** Lines in one page, blank ones not counted: of the tiniest lines half a megabyte would keep others waiting. */
const MOST_LINES = 4096;

/**
 * A buffer for pages of at most `pageBytes` bytes: one more, for the newline before the page. It serves one read at a
 * time, from the call until its lines have been used; two reads that share one would overwrite each other's lines.
 */
export function pageBuffer(pageBytes: number): Buffer {
  return Buffer.allocUnsafe(pageBytes + 1);
}

/**
 * The complete lines of `source` from `from` on that one positional read into `buffer` holds (see `pageBuffer`). A last
 * line without its newline waits. A line longer than the page is passed over, page by page, and told once, when its
 * newline is met; only then is its start looked for, which waits now and then so as not to hold up others.
 */
export async function readPage(source: ByteSource, from: JsonlCursor, buffer: Buffer): Promise<LinePage> {
  if (from.offset > source.size) return restart(source, from, buffer);
  const before = from.offset === 0 ? 0 : 1;
  const base = from.offset - before;
  const wanted = buffer.subarray(0, before + pageBytesOf(buffer));
  const held = wanted.subarray(0, source.read(wanted, base));
  const behindNewline = from.offset === 0 || held[0] === NEWLINE;
  // What is being discarded has begun before the cursor, so that one may not stand behind a newline.
  if (held.length < before || from.discarding === behindNewline) return restart(source, from, buffer);
  if (from.discarding) return pageAfterOversized(source, from, buffer, held);
  const { lines, stop } = linesOf(held, before, base);
  const outgrown = stop === before && held.length === wanted.length;
  return { lines, next: outgrown ? at(from, base + held.length, true) : at(from, base + stop, false) };
}

/** Goes on discarding, or tells the oversized line that ends in `held` (from one byte before `from`) and what follows. */
async function pageAfterOversized(
  source: ByteSource,
  from: JsonlCursor,
  buffer: Buffer,
  held: Buffer,
): Promise<LinePage> {
  const base = from.offset - 1;
  const newline = held.indexOf(NEWLINE, 1);
  if (newline < 0) return { lines: [], next: at(from, base + held.length, true) };
  const oversized = await oversizedLine(source, base + newline + 1);
  // A line that fits in a page is not the one whose discarding was begun.
  if (oversized.end - oversized.start <= pageBytesOf(buffer)) return restart(source, from, buffer);
  const { lines, stop } = linesOf(held, newline + 1, base);
  return { lines: [oversized, ...lines], next: at(from, base + stop, false) };
}

/**
 * The complete lines that end at or before `end`, as many as a page holds; bytes behind the last newline before `end`
 * are passed over. A line longer than a page is told alone.
 */
export async function readPageBefore(source: ByteSource, end: ByteOffset, buffer: Buffer): Promise<LinePageBefore> {
  const stop = await lineStart(source, Math.min(end, source.size));
  if (stop === 0) return { lines: [], end: stop, prev: undefined };
  const lowest = Math.max(0, stop - pageBytesOf(buffer));
  const base = Math.max(0, lowest - 1);
  const held = buffer.subarray(0, source.read(buffer.subarray(0, stop - base), base));
  // Cut short in this very moment: nothing of what stood here is left to be told.
  if (held.length < stop - base) return { lines: [], end: byteOffsetOf(base), prev: undefined };
  const whole = lowest === 0 ? 0 : held.indexOf(NEWLINE) + 1;
  if (whole === held.length) {
    const line = await oversizedLine(source, stop);
    return { lines: [line], end: stop, prev: previous(line.start) };
  }
  const first = startOfLast(held, whole);
  return { lines: linesOf(held, first, base).lines, end: stop, prev: previous(base + first) };
}

/** Whether a cursor at `offset` lies in `source` and behind a newline, as those of complete lines do. */
export function isLineStart(source: ByteSource, offset: ByteOffset): boolean {
  if (offset === 0) return true;
  const byte = Buffer.alloc(1);
  return offset <= source.size && source.read(byte, offset - 1) === 1 && byte[0] === NEWLINE;
}

/** How much is looked at for the start of a line: at first little, since most lines are short. */
const FIRST_SCAN_BYTES = 4096;
/** Then as much as stays in a processor's cache between being copied and being searched: that is twice as fast. */
const SCAN_BYTES = 128 * 1024;
/** How much is looked through in one go before others get their turn. */
const SCAN_STRETCH_BYTES = 4 * 1024 * 1024;

/** Where the line that holds the byte before `end` starts, when `end` is not itself behind a newline; else `end`. */
async function lineStart(source: ByteSource, end: number): Promise<ByteOffset> {
  let scratch = Buffer.allocUnsafe(Math.min(FIRST_SCAN_BYTES, end));
  for (let stop = end; stop > 0; ) {
    const base = Math.max(0, stop - scratch.length);
    const held = scratch.subarray(0, source.read(scratch.subarray(0, stop - base), base));
    const newline = held.lastIndexOf(NEWLINE);
    if (newline >= 0) return byteOffsetOf(base + newline + 1);
    if (scratch.length < SCAN_BYTES) scratch = Buffer.allocUnsafe(Math.min(SCAN_BYTES, base));
    else if (Math.floor(base / SCAN_STRETCH_BYTES) !== Math.floor(stop / SCAN_STRETCH_BYTES))
      await new Promise(setImmediate);
    stop = base;
  }
  return byteOffsetOf(0);
}

async function oversizedLine(source: ByteSource, end: number): Promise<OversizedLine> {
  return { kind: "oversized", start: await lineStart(source, end - 1), end: byteOffsetOf(end) };
}

async function restart(source: ByteSource, from: JsonlCursor, buffer: Buffer): Promise<LinePage> {
  return { ...(await readPage(source, { ...from, ...FILE_START }, buffer)), reset: true };
}

/**
 * Splits `held` (which starts at `base` in the file) into its complete lines from index `first` on, as many as a page
 * may have; blank ones are passed over. `stop` is behind the last one.
 */
function linesOf(held: Buffer, first: number, base: number): { lines: RecordLine[]; stop: number } {
  const lines: RecordLine[] = [];
  let start = behindBlank(held, first);
  for (let newline = held.indexOf(NEWLINE, start); newline >= 0; newline = held.indexOf(NEWLINE, start)) {
    const end = held[newline - 1] === CARRIAGE_RETURN ? newline - 1 : newline;
    if (end > start) {
      if (lines.length === MOST_LINES) break;
      lines.push({
        kind: "record",
        start: byteOffsetOf(base + start),
        end: byteOffsetOf(base + newline + 1),
        bytes: held.subarray(start, end),
      });
    }
    start = behindBlank(held, newline + 1);
  }
  return { lines, stop: start };
}

/** Behind the empty lines that stand at `start`: half a megabyte of them is too many to search for one by one. */
function behindBlank(held: Buffer, start: number): number {
  let at = start;
  while (held[at] === NEWLINE) at++;
  return at;
}

/** Where, at or behind `first`, the last lines of `held` start that a page may have. */
function startOfLast(held: Buffer, first: number): number {
  let lines = 0;
  let start = held.length;
  while (start > first) {
    while (start - 2 >= first && held[start - 2] === NEWLINE) start--;
    // The newline that ends this line stands right before `start`; the one before it begins the line.
    const newline = start < 2 ? -1 : held.lastIndexOf(NEWLINE, start - 2);
    const begin = Math.max(first, newline + 1);
    const blank = start - begin <= 1 || (start - begin === 2 && held[begin] === CARRIAGE_RETURN);
    if (!blank && lines++ === MOST_LINES) return start;
    start = begin;
  }
  return first;
}

function pageBytesOf(buffer: Buffer): number {
  return buffer.length - 1;
}

/** `offset` in the same chain of files as `cursor`. */
function at(cursor: JsonlCursor, offset: number, discarding: boolean): JsonlCursor {
  return { ...cursor, offset: byteOffsetOf(offset), discarding };
}

function previous(start: number): ByteOffset | undefined {
  return start === 0 ? undefined : byteOffsetOf(start);
}
