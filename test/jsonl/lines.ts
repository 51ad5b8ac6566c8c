import fc from "fast-check";
import { type ByteOffset, FILE_START, type JsonlCursor } from "../../src/jsonl/cursor.ts";
import { type JsonlLine, pageBuffer, readPage, readPageBefore } from "../../src/jsonl/page.ts";
import type { ByteSource } from "../../src/jsonl/source.ts";

/** A line as tests compare it: `start-end text`, or `start-end oversized`. */
export type LineText = string;

/** What a page tells, as text; latin1, so that each byte is a character. */
export function texts(lines: readonly JsonlLine[]): LineText[] {
  return lines.map((line) => lineText(line.start, line.end, line.kind === "record" ? line.bytes : undefined));
}

function lineText(start: number, end: number, bytes: Buffer | undefined): LineText {
  return `${start}-${end} ${bytes === undefined ? "oversized" : JSON.stringify(bytes.toString("latin1"))}`;
}

/** The complete lines of `bytes` from `from` on that are not blank, found the simplest way. */
export function linesIn(bytes: Buffer, pageBytes: number, from = 0): LineText[] {
  const lines: LineText[] = [];
  let start = from;
  for (let newline = bytes.indexOf(10, start); newline >= 0; newline = bytes.indexOf(10, start)) {
    const end = newline + 1;
    const content = bytes.subarray(start, bytes[newline - 1] === 13 && newline > start ? newline - 1 : newline);
    if (content.length > 0) lines.push(lineText(start, end, end - start > pageBytes ? undefined : content));
    start = end;
  }
  return lines;
}

/** Everything that reading forward from `from` tells until nothing new comes. */
export async function readForward(source: ByteSource, pageBytes: number, from: JsonlCursor = FILE_START) {
  const lines: LineText[] = [];
  const cursors: JsonlCursor[] = [from];
  for (let cursor = from, reset = false; ; ) {
    const page = await readPage(source, cursor, pageBuffer(pageBytes));
    if (page.reset) {
      if (reset) throw new Error("reset twice");
      reset = true;
      lines.length = 0;
    }
    lines.push(...texts(page.lines));
    if (page.next.offset === cursor.offset && page.next.discarding === cursor.discarding) {
      return { lines, next: cursor, cursors, reset };
    }
    cursor = page.next;
    cursors.push(cursor);
  }
}

/** Everything that reading backward from `end` tells, in the order of the file. */
export async function readBackward(source: ByteSource, pageBytes: number, end: number) {
  const lines: LineText[] = [];
  for (let before: number | undefined = end, last = Number.POSITIVE_INFINITY; before !== undefined; ) {
    if (before >= last) throw new Error(`no progress at ${before}`);
    last = before;
    const page = await readPageBefore(source, before as ByteOffset, pageBuffer(pageBytes));
    lines.unshift(...texts(page.lines));
    before = page.prev;
  }
  return lines;
}

/** Bytes that look like a JSONL file after a hard life: records of all sizes, CRLF, NULs, cut characters, empty lines. */
export const hardBytes: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.nat({ max: 40 }).map((n) => `{"n":"${"é".repeat(n)}"}\n`) },
      { weight: 2, arbitrary: fc.integer({ min: 40, max: 300 }).map((n) => `{"long":"${"x".repeat(n)}"}\n`) },
      fc.constantFrom("\n", "\r\n", "{}\r\n", "\r", "\0\0\0\0", "\ud83d", "😀", '{"half":', "ünfinished\n"),
      fc.uint8Array({ maxLength: 12 }).map((part) => Buffer.from(part)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part))));
