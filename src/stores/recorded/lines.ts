import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";

const WINDOW_BYTES = 128 * 1024;
/** Most lines are short. */
const FIRST_SCAN_BYTES = 4 * 1024;
/** Longer lines are told without their bytes. */
const MOST_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A complete line; its bytes, without the line's end, are valid only while it is looked at. */
export interface WholeLine {
  readonly start: number;
  /** Behind the newline. */
  readonly end: number;
  /** Undefined when it is over 32 MiB. */
  readonly bytes: Buffer | undefined;
}

/**
 * Shows the complete lines of `source` that start at or behind `from` (where a line starts) and before `to`, until `look` says
 * that it has seen enough. Whether it did. Waits now and then so as not to hold up others.
 */
export async function walkLines(
  source: ByteSource,
  { from, to = source.size }: { readonly from: number; readonly to?: number },
  pool: BytePool,
  look: (line: WholeLine) => "enough" | undefined,
): Promise<boolean> {
  const breather = new Breather();
  const taken = pool.take(Math.max(1, Math.min(WINDOW_BYTES, source.size - from)));
  try {
    for (let base = from; base < to; ) {
      const held = taken.subarray(0, source.read(taken, base));
      let start = 0;
      for (let newline = held.indexOf(NEWLINE); newline >= 0; newline = held.indexOf(NEWLINE, start)) {
        const line = {
          start: base + start,
          end: base + newline + 1,
          bytes: withoutReturn(held.subarray(start, newline)),
        };
        if (line.start >= to) return false;
        start = newline + 1;
        if (look(line) === "enough") return true;
        if (breather.isDue) await breather.pause();
      }
      if (start === 0) {
        const line = await longLine(source, base, base + held.length, breather);
        if (line === undefined) return false;
        if (look(line) === "enough") return true;
        start = line.end - base;
      }
      base += start;
      await breather.pause();
    }
    return false;
  } finally {
    pool.give([taken]);
  }
}

/** Behind the first newline at or behind `place`; undefined when there is none. */
export async function behindNewline(
  source: ByteSource,
  place: number,
  breather = new Breather(),
): Promise<number | undefined> {
  let buffer = Buffer.allocUnsafe(FIRST_SCAN_BYTES);
  for (let at = place; at < source.size; ) {
    const newline = buffer.subarray(0, source.read(buffer, at)).indexOf(NEWLINE);
    if (newline >= 0) return at + newline + 1;
    at += buffer.length;
    if (buffer.length < WINDOW_BYTES) buffer = Buffer.allocUnsafe(WINDOW_BYTES);
    await breather.pause();
  }
  return undefined;
}

/** The line that starts at `start` and has no end before `searched`. */
async function longLine(
  source: ByteSource,
  start: number,
  searched: number,
  breather: Breather,
): Promise<WholeLine | undefined> {
  const end = await behindNewline(source, searched, breather);
  if (end === undefined) return undefined;
  const bytes = end - start > MOST_BYTES ? undefined : withoutReturn(readRange(source, start, end - 1));
  return { start, end, bytes };
}

/** A line's bytes without the `\r` that may end them. */
export function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
}
