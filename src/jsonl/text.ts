/** What `toString` calls, at half the cost: these are asked of every line. */
interface SliceableBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  latin1Slice(start: number, end: number): string;
}

/** The text of a line; damaged UTF-8 becomes U+FFFD. */
export function utf8Of(line: Buffer): string {
  return (line as SliceableBuffer).utf8Slice(0, line.length);
}

/** The first `most` bytes of a line (or all of it), a character each: enough to look for keys and plain values in. */
export function latin1Head(line: Buffer, most: number): string {
  return (line as SliceableBuffer).latin1Slice(0, Math.min(line.length, most));
}
