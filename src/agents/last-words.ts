import { clip } from "../transcript/clip.ts";
import { printableLine } from "../transcript/printable.ts";

/** So much of the end is kept: bytes. */
const KEPT = 8 * 1024;
/** Characters of a line that is told. */
const LINE = 300;

/** The end of what a process says on its standard error: the best there is to say of why it failed. */
export class LastWords {
  #kept: Buffer = Buffer.alloc(0);

  /** Reads `source` to its end. */
  constructor(source: AsyncIterable<Uint8Array>) {
    this.#read(source).catch(() => undefined);
  }

  /** The last line that says something, made printable; undefined when there is none. */
  line(): string | undefined {
    const lines = this.#kept
      .toString("utf8")
      .split(/[\r\n]+/)
      .map(printableLine);
    const last = lines.findLast((line) => line !== "");
    return last === undefined ? undefined : clip(last, LINE).text;
  }

  async #read(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const part of source) {
      const both = part.length >= KEPT ? Buffer.from(part) : Buffer.concat([this.#kept, part]);
      this.#kept = both.subarray(-KEPT);
    }
  }
}
