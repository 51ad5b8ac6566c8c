import type { ByteSource } from "../../jsonl/source.ts";

/** Bytes at a file's start and at its end that are remembered of it, as one number. */
const MARK_BYTES = 256;
const bytes = Buffer.allocUnsafeSlow(2 * MARK_BYTES);

/**
 * A number made of the first bytes of `source` and of the last before `size`. A file that was only appended to since it had
 * `size` bytes still has it; one that was written anew in place mostly has another. Not for telling who means harm.
 */
export function markAt(source: ByteSource, size: number): number {
  const first = source.read(bytes.subarray(0, Math.min(MARK_BYTES, size)), 0);
  const wanted = bytes.subarray(first, first + Math.min(MARK_BYTES, size));
  const last = source.read(wanted, size - wanted.length);
  let mark = 0x811c9dc5;
  for (let at = 0; at < first + last; at++) mark = Math.imul(mark ^ (bytes[at] ?? 0), 0x01000193);
  return mark;
}
