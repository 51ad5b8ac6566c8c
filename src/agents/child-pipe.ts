import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What a child prints on one of its streams, as it comes. Not read, it waits. For one reader. */
export class ChildPipe implements AsyncIterable<Uint8Array> {
  readonly #stream: Socket;
  readonly #closed: Promise<void>;
  #isRead = false;

  constructor(stream: Socket) {
    this.#stream = stream;
    // A failed read ends the output as its end does.
    stream.on("error", () => {});
    // Without it, what nobody reads yet would be thrown away as soon as the child ends.
    stream.on("readable", () => {});
    this.#closed = new Promise((done) => stream.once("close", () => done()));
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    this.#isRead = true;
    try {
      yield* this.#stream;
    } catch {
      // It was closed before its end: nothing more comes.
    }
  }

  /**
   * Comes back when what the child printed before it ended, just now, is given out. Another process may hold the stream
   * open; half a second later that one's output is cut off, and nobody waits for a reader that has stopped.
   */
  async drained(): Promise<void> {
    const stream = this.#stream;
    const start = performance.now();
    const readAtEnd = stream.bytesRead;
    let seen = "";
    let changedAt = start;
    while (!stream.closed) {
      await Promise.race([this.#closed, sleep(LOOK_MS)]);
      const now = performance.now();
      const state = `${stream.bytesRead} ${stream.readableLength}`;
      const isStill = state === seen;
      if (!isStill) changedAt = now;
      seen = state;
      if (now - start < PATIENCE_MS) continue;
      const isGivenOut = this.#isRead && isStill && stream.readableLength === 0;
      if (isGivenOut || stream.bytesRead - readAtEnd > MOST_ON_ITS_WAY) return this.close();
      if (now - changedAt < PATIENCE_MS) continue;
      // What waits can still be read, but does not keep us here.
      stream.unref();
      return;
    }
  }

  /** Gives up what nobody has begun to read. */
  closeUnread(): void {
    if (!this.#isRead) this.close();
  }

  close(): void {
    this.#stream.destroy();
  }
}

/** How long another process may keep a stream open that its parent had, and a reader may rest: ms. */
const PATIENCE_MS = 500;
const LOOK_MS = 20;
/** More than the system holds of what was printed and not yet read: bytes. What comes after that is another's. */
const MOST_ON_ITS_WAY = 1024 * 1024;
