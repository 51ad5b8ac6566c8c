/**
 * Bytes that can be read at a position: an open file, or the joined ranges of a chain of files. A source is as long as
 * it was when it was opened; what is appended later belongs to the next one.
 */
export interface ByteSource {
  /** Bytes. */
  readonly size: number;
  /** Copies bytes from `position` on into `target`; how many, which is fewer only at the end. @throws the system's error */
  read(target: Uint8Array, position: number): number;
}

/** The bytes of `source` from `start` up to `end` (or its end), in a buffer of their own. */
export function readRange(source: ByteSource, start: number, end: number): Buffer {
  const target = Buffer.allocUnsafe(Math.max(0, Math.min(end, source.size) - start));
  return target.subarray(0, source.read(target, start));
}

/** A source over bytes in memory. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read(target, position) {
      const part = bytes.subarray(position, position + target.length);
      target.set(part);
      return part.length;
    },
  };
}
