import { LOOK_BACK_BYTES } from "../transcript/limits.ts";
import { BytePool } from "./buffers.ts";
import { type ByteOffset, byteOffsetOf } from "./cursor.ts";
import type { ByteSource } from "./source.ts";

const BLOCK_BYTES = 64 * 1024;
/** Blocks that are held at a time: what stands just before a page. What lies further back is cheap to read again. */
const HELD_BLOCKS = 16;
const NEWLINE = 0x0a;

/**
 * Byte searches in what stands before a record: what a page needs to know of earlier records (the name of a tool, the
 * last time) without reading them all. Lives as long as one page is made; the blocks that were looked at last are held
 * till then, so that a second needle nearby costs no read, and a search through the whole window little memory.
 */
export class LookBack {
  readonly #source: ByteSource;
  readonly #window: number;
  readonly #pool: BytePool;
  /** From the one that was asked for longest ago to the last. */
  readonly #blocks = new Map<number, Buffer>();
  /** By the memory that they are views of. */
  readonly #taken = new Map<ArrayBufferLike, Buffer>();
  /** The memory that views have been told of, which must stay as it is. */
  readonly #shown = new Set<ArrayBufferLike>();

  constructor(source: ByteSource, window: number = LOOK_BACK_BYTES, pool: BytePool = new BytePool()) {
    this.#source = source;
    this.#window = window;
    this.#pool = pool;
  }

  /** Gives the bytes back to the pool: whatever this object has told of them must no longer be looked at. */
  close(): void {
    this.#blocks.clear();
    this.#pool.give(this.#taken.values());
    this.#taken.clear();
    this.#shown.clear();
  }

  /**
   * Every place of `needle` (of 1 byte to 64 KiB) that ends at or before `before`, from the last to the first, no
   * further back than the window (a narrower one may be given). What is yielded is the offset of its first byte.
   */
  *places(needle: Buffer, before: ByteOffset, window = this.#window): Generator<ByteOffset> {
    if (needle.length === 0 || needle.length > BLOCK_BYTES) return;
    const lowest = Math.max(0, before - window);
    const highest = before - needle.length;
    for (let block = blockOf(highest); block >= blockOf(lowest); block--) {
      const base = block * BLOCK_BYTES;
      const seam = before > base + BLOCK_BYTES ? this.#seam(block, needle.length - 1) : Buffer.alloc(0);
      yield* placesIn(() => seam, needle, base + BLOCK_BYTES - (needle.length - 1), lowest, highest);
      yield* placesIn(() => this.#block(block), needle, base, lowest, highest);
    }
  }

  /** The last place of `needle` before `before`, or undefined. */
  lastPlace(needle: Buffer, before: ByteOffset): ByteOffset | undefined {
    for (const place of this.places(needle, before)) return place;
    return undefined;
  }

  /** The complete line around `place`, without its newline, when it is at most `limit` bytes long; else undefined. */
  lineAround(place: ByteOffset, limit: number): { readonly start: ByteOffset; readonly bytes: Buffer } | undefined {
    const start = this.#lineStart(place, place - limit);
    if (start === undefined) return undefined;
    const end = this.#newlineFrom(place, start + limit);
    return end === undefined ? undefined : { start: byteOffsetOf(start), bytes: this.slice(start, end) };
  }

  /** The bytes from `start` to `end`, or to the end of the source. */
  slice(start: number, end: number): Buffer {
    const block = blockOf(start);
    const base = block * BLOCK_BYTES;
    const held = this.#blocks.get(block);
    if (held === undefined || end > base + held.length) return this.#shows(this.#read(start, end));
    return this.#shows(held.subarray(start - base, end - base));
  }

  /** Behind the last newline before `place`, when that is not before `lowest`. */
  #lineStart(place: number, lowest: number): number | undefined {
    for (let end = place; end > Math.max(0, lowest - 1); ) {
      const base = blockOf(end - 1) * BLOCK_BYTES;
      const newline = this.#block(blockOf(end - 1))
        .subarray(0, end - base)
        .lastIndexOf(NEWLINE);
      if (newline >= 0) return base + newline + 1 < lowest ? undefined : base + newline + 1;
      end = base;
    }
    return lowest <= 0 ? 0 : undefined;
  }

  /** The first newline at or behind `place`, when that is not behind `highest`. */
  #newlineFrom(place: number, highest: number): number | undefined {
    for (let start = place; start <= highest && start < this.#source.size; ) {
      const base = blockOf(start) * BLOCK_BYTES;
      const newline = this.#block(blockOf(start)).indexOf(NEWLINE, start - base);
      if (newline >= 0) return base + newline > highest ? undefined : base + newline;
      start = base + BLOCK_BYTES;
    }
    return undefined;
  }

  /** The last `width` bytes of a full block and the first of the next: where a needle lies that neither holds whole. */
  #seam(block: number, width: number): Buffer {
    const next = this.#block(block + 1).subarray(0, width);
    return Buffer.concat([this.#block(block).subarray(BLOCK_BYTES - width), next]);
  }

  /** To be asked for again after anything else was: its memory may serve another block by then. */
  #block(block: number): Buffer {
    const held = this.#blocks.get(block);
    if (held !== undefined) {
      this.#blocks.delete(block);
      this.#blocks.set(block, held);
      return held;
    }
    if (this.#blocks.size >= HELD_BLOCKS) this.#forgetOldest();
    const bytes = this.#read(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES);
    this.#blocks.set(block, bytes);
    return bytes;
  }

  #forgetOldest(): void {
    for (const [block, { buffer }] of this.#blocks) {
      this.#blocks.delete(block);
      const taken = this.#taken.get(buffer);
      if (taken !== undefined && !this.#shown.has(buffer)) {
        this.#taken.delete(buffer);
        this.#pool.give([taken]);
      }
      return;
    }
  }

  #shows(bytes: Buffer): Buffer {
    this.#shown.add(bytes.buffer);
    return bytes;
  }

  #read(start: number, end: number): Buffer {
    const length = Math.max(0, Math.min(end, this.#source.size) - start);
    const taken = this.#pool.take(length);
    this.#taken.set(taken.buffer, taken);
    const target = taken.subarray(0, length);
    return target.subarray(0, this.#source.read(target, start));
  }
}

function blockOf(offset: number): number {
  return Math.floor(offset / BLOCK_BYTES);
}

/** The places of `needle` in what `look` gives (which starts at `base`) from `highest` down to `lowest`. */
function* placesIn(
  look: () => Buffer,
  needle: Buffer,
  base: number,
  lowest: number,
  highest: number,
): Generator<ByteOffset> {
  // A negative index would count from the end.
  for (let last = Math.min(highest - base, look().length - 1); last >= 0; ) {
    const at = look().lastIndexOf(needle, last);
    if (at < 0 || base + at < lowest) return;
    yield byteOffsetOf(base + at);
    last = at - 1;
  }
}
