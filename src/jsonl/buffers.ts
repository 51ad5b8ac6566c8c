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
