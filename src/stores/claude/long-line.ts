import { setImmediate as turn } from "node:timers/promises";
import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import type { JsonlLine } from "../../jsonl/page.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";

const STEP_BYTES = 1024 * 1024;

/**
 * The line that starts at `start`, however long: whole up to `mostBytes`, else only where it ends. Undefined as long as it has
 * no end. Waits now and then so as not to hold up others.
 */
export async function readLongLine(
  source: ByteSource,
  start: ByteOffset,
  mostBytes: number,
): Promise<JsonlLine | undefined> {
  const buffer = Buffer.allocUnsafe(STEP_BYTES);
  for (let at = start as number; at < source.size; at += STEP_BYTES) {
    const newline = buffer.subarray(0, source.read(buffer, at)).indexOf(0x0a);
    if (newline >= 0) {
      const end = byteOffsetOf(at + newline + 1);
      if (end - start > mostBytes) return { kind: "oversized", start, end };
      return { kind: "record", start, end, bytes: readRange(source, start, end - 1) };
    }
    await turn();
  }
  return undefined;
}
