import { pageBuffer } from "./page.ts";

/** Buffers that are kept for the next page. */
const KEPT = 4;

/** Lends buffers for pages: each to one read at a time, since a read may wait, and no more are made than are in use. */
export class PageBuffers {
  readonly #free: Buffer[] = [];

  /** Calls `use` with a buffer for pages of `bytes` bytes. What it returns must not hold on to the buffer. */
  async lend<T>(bytes: number, use: (buffer: Buffer) => Promise<T>): Promise<T> {
    const size = pageBuffer(0).length + bytes;
    const index = this.#free.findIndex((buffer) => buffer.length === size);
    const buffer = index < 0 ? pageBuffer(bytes) : this.#free.splice(index, 1)[0];
    if (buffer === undefined) throw new Error("a buffer that was there is not");
    try {
      return await use(buffer);
    } finally {
      this.#free.push(buffer);
      if (this.#free.length > KEPT) this.#free.shift();
    }
  }
}

/** Smaller reads are not worth keeping a buffer for. */
const LEAST_BYTES = 16 * 1024;
/** The sizes in which buffers are kept: a power of two, so that few fit many. */
const SMALLEST_KEPT_BYTES = 64 * 1024;
/** What is kept of each size: the blocks of a look back, and a long line or two that it tells of. */
const KEPT_BYTES = 1024 * 1024;

/**
 * Bytes for reads that last as long as one answer is made, taken one by one and given back together. Without it each
 * page would leave megabytes outside the JavaScript heap, which its collector is slow to see.
 */
export class BytePool {
  readonly #free = new Map<number, Buffer[]>();

  /** A buffer of at least `length` bytes, whose content is whatever stood there. */
  take(length: number): Buffer {
    if (length < LEAST_BYTES) return Buffer.allocUnsafe(length);
    const size = Math.max(SMALLEST_KEPT_BYTES, 2 ** Math.ceil(Math.log2(length)));
    return this.#free.get(size)?.pop() ?? Buffer.allocUnsafeSlow(size);
  }

  /** Takes back buffers that nobody looks at any more. */
  give(buffers: Iterable<Buffer>): void {
    for (const buffer of buffers) {
      if (buffer.length < SMALLEST_KEPT_BYTES || buffer.length > KEPT_BYTES) continue;
      const kept = this.#free.get(buffer.length);
      if (kept === undefined) this.#free.set(buffer.length, [buffer]);
      else if ((kept.length + 1) * buffer.length <= KEPT_BYTES) kept.push(buffer);
    }
  }
}
