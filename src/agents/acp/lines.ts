const NEWLINE = 0x0a;

/** A line longer than this is passed over: bytes. */
export const LINE_LIMIT = 32 * 1024 * 1024;

/**
 * Makes lines of bytes that come in chunks cut anywhere, also inside a character. A line over the limit is thrown away up
 * to its newline, however long it grows: so no more than the limit is ever held.
 */
export class Lines {
  readonly #limit: number;
  readonly #tooLong: () => void;
  #parts: Buffer[] = [];
  #length = 0;
  #discarding = false;

  /** `tooLong` is called once for each line over `limit` bytes, as soon as it is. */
  constructor(tooLong: () => void, limit: number = LINE_LIMIT) {
    this.#tooLong = tooLong;
    this.#limit = limit;
  }

  /** The lines that end in `chunk`, without their newlines; damaged UTF-8 becomes U+FFFD. */
  *take(chunk: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      const line = this.#lineTo(bytes, from, end);
      from = end + 1;
      if (line !== undefined) yield line;
    }
    this.#keep(bytes.subarray(from));
  }

  /** What stands behind the last newline, when nothing more comes. */
  rest(): string | undefined {
    return this.#line();
  }

  #lineTo(bytes: Buffer, from: number, end: number): string | undefined {
    // Most lines lie in one chunk: nothing need be kept of them.
    const isWhole = this.#length === 0 && end - from <= this.#limit;
    if (isWhole) return from === end ? undefined : bytes.toString("utf8", from, end);
    this.#keep(bytes.subarray(from, end));
    return this.#line();
  }

  #keep(part: Buffer): void {
    if (this.#discarding || part.length === 0) return;
    this.#length += part.length;
    if (this.#length > this.#limit) {
      this.#parts = [];
      this.#discarding = true;
      this.#tooLong();
    } else {
      this.#parts.push(part);
    }
  }

  /** The line that ends here, if it is not one that was thrown away, and makes ready for the next. */
  #line(): string | undefined {
    const [parts, length, discarding] = [this.#parts, this.#length, this.#discarding];
    this.#parts = [];
    this.#length = 0;
    this.#discarding = false;
    if (discarding || length === 0) return undefined;
    return Buffer.concat(parts, length).toString();
  }
}
