import type { OpenFile } from "../platform/files.ts";
import { type LogEnd, type LogHead, lastEntryIn, logEnd, logHead } from "./log.ts";

/** What lists show of a log. */
export interface LogFacts extends LogHead, LogEnd {}

/** A part of a log, as `GET /api/runs/<name>` answers it. */
export interface LogChunk {
  readonly text: string;
  /** The byte offset where the next read starts. */
  readonly next: number;
  /** Bytes of the whole log. */
  readonly size: number;
}

/** Bytes that one read of a log gives at most. */
export const CHUNK_BYTES = 128 * 1024;

const HEAD_BYTES = 16 * 1024;
const END_BYTES = 4 * 1024;
/** How far back the last entry is looked for: an answer can be long. */
const LOOK_BACK_BYTES = 8 * 1024 * 1024;

/** Reads a log's head and end, never the whole of a long one. */
export function readLogFacts(file: OpenFile): LogFacts {
  const head = bytesOf(file, 0, HEAD_BYTES);
  const end = file.size <= head.length ? endIn(head, true) : endOf(file);
  return { ...logHead(characters(head)), ...(end ?? { last: "" }) };
}

/**
 * The bytes from `from` on as text. A character is never cut: one that is not whole yet waits for the next read, and of
 * one that `from` lies inside the rest is passed over. Behind the end there is nothing. `isOver`: nobody writes it any
 * more, so what is not whole at its end never will be, and is shown as U+FFFD.
 */
export function readLogChunk(file: OpenFile, from: number, isOver: boolean): LogChunk {
  const { size } = file;
  if (from >= size) return { text: "", next: size, size };
  const bytes = bytesOf(file, from, CHUNK_BYTES);
  const start = from === 0 ? 0 : strayBytes(bytes);
  const isEnd = isOver && from + bytes.length >= size;
  const end = isEnd ? bytes.length : Math.max(start, bytes.length - openBytes(bytes));
  return { text: bytes.toString("utf8", start, end), next: from + end, size };
}

function endOf(file: OpenFile): LogEnd | undefined {
  for (let length = END_BYTES; ; length *= 8) {
    const bytes = bytesOf(file, Math.max(0, file.size - length), length);
    const whole = length >= file.size;
    const end = endIn(bytes, whole);
    if (end !== undefined || whole || length >= LOOK_BACK_BYTES) return end;
  }
}

/** The last entry in the last bytes of a log; `whole`: they are all of it. */
function endIn(bytes: Buffer, whole: boolean): LogEnd | undefined {
  const line = whole ? 0 : bytes.indexOf(0x0a) + 1;
  if (!whole && line === 0) return undefined;
  const index = lastEntryIn(bytes.subarray(line));
  if (index < 0) return undefined;
  const end = logEnd(characters(bytes.subarray(line + index, line + index + END_BYTES)));
  // The header is told by itself.
  return whole && index === 0 && end.outcome === undefined ? { last: "" } : end;
}

function bytesOf(file: OpenFile, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, file.size - from)));
  return bytes.subarray(0, file.read(bytes, from));
}

/** The text of bytes that may end inside a character. */
function characters(bytes: Buffer): string {
  return bytes.toString("utf8", 0, bytes.length - openBytes(bytes));
}

/** How many bytes at the start belong to a character that began before: three at most. */
function strayBytes(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && count < bytes.length && isContinuation(bytes[count])) count++;
  return count;
}

/** How many bytes at the end are a character that is not whole. */
function openBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (isContinuation(byte)) continue;
    return byte >= 0xc2 && byte <= 0xf4 && count < (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4) ? count : 0;
  }
  return 0;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
