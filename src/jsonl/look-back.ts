import { LOOK_BACK_BYTES } from "../transcript/limits.ts";
import { type ByteOffset, byteOffsetOf } from "./cursor.ts";
import { type ByteSource, readRange } from "./source.ts";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Byte searches in what stands before a record: what a page needs to know of earlier records (the name of a tool, the
 * last time) without reading them all. Lives as long as one page is made; blocks that were read once are kept till then.
 */
export class LookBack {
  readonly #source: ByteSource;
  readonly #window: number;
  readonly #blocks = new Map<number, Buffer>();

  constructor(source: ByteSource, window: number = LOOK_BACK_BYTES) {
    this.#source = source;
    this.#window = window;
  }

  /**
   * Every place of `needle` that ends at or before `before`, from the last to the first, no further back than the
   * window. What is yielded is the offset of its first byte.
   */
  *places(needle: Buffer, before: ByteOffset): Generator<ByteOffset> {
    const lowest = Math.max(0, before - this.#window);
    // A block is searched with the first bytes of the next one behind it, so that a needle across the seam is found.
    for (
      let block = Math.floor(Math.max(0, before - 1) / BLOCK_BYTES);
      block * BLOCK_BYTES + BLOCK_BYTES > lowest;
      block--
    ) {
      if (block < 0) return;
      const base = block * BLOCK_BYTES;
      const bytes = this.#withSeam(block, needle.length - 1);
      let last = Math.min(base + BLOCK_BYTES - 1, before - needle.length) - base;
      while (last >= 0) {
        const at = bytes.lastIndexOf(needle, last);
        if (at < 0 || base + at < lowest) break;
        yield byteOffsetOf(base + at);
        last = at - 1;
      }
    }
  }

  /** The last place of `needle` before `before`, or undefined. */
  lastPlace(needle: Buffer, before: ByteOffset): ByteOffset | undefined {
    for (const place of this.places(needle, before)) return place;
    return undefined;
  }

  /** The complete line around `place`, without its newline, when it is at most `limit` bytes long; else undefined. */
  lineAround(place: ByteOffset, limit: number): { readonly start: ByteOffset; readonly bytes: Buffer } | undefined {
    const base = Math.max(0, place - limit);
    const bytes = this.slice(base, Math.min(this.#source.size, place + limit));
    // A negative index would count from the end.
    const start = place === base ? 0 : bytes.lastIndexOf(NEWLINE, place - base - 1) + 1;
    const end = bytes.indexOf(NEWLINE, place - base);
    if (end < 0 || end - start > limit || (start === 0 && base > 0)) return undefined;
    return { start: byteOffsetOf(base + start), bytes: bytes.subarray(start, end) };
  }

  /** The bytes from `start` to `end`. */
  slice(start: number, end: number): Buffer {
    const block = Math.floor(start / BLOCK_BYTES);
    const held = this.#blocks.get(block);
    const base = block * BLOCK_BYTES;
    if (held !== undefined && end <= base + held.length) return held.subarray(start - base, end - base);
    return readRange(this.#source, start, end);
  }

  #withSeam(block: number, seam: number): Buffer {
    const bytes = this.#block(block);
    const end = block * BLOCK_BYTES + bytes.length;
    if (seam === 0 || end >= this.#source.size) return bytes;
    return Buffer.concat([bytes, this.slice(end, Math.min(this.#source.size, end + seam))]);
  }

  #block(block: number): Buffer {
    const held = this.#blocks.get(block);
    if (held !== undefined) return held;
    const bytes = readRange(this.#source, block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    this.#blocks.set(block, bytes);
    return bytes;
  }
}
