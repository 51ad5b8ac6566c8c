/** Bytes that are sent at once: what a pipe holds, so that it shows whether a long line is being taken. */
const PIECE_BYTES = 65_536;

/** Sends lines one after the other, until `end`: then nothing more is waited for. */
export class Outbox {
  readonly #take: (piece: Uint8Array) => Promise<void>;
  readonly #end: AbortSignal;
  #last: Promise<void> = Promise.resolve();
  #leave = (): void => {};
  /** The piece that waits to be taken. */
  waiting: Uint8Array | undefined;

  /** `take`: comes back when the piece is taken. */
  constructor(take: (piece: Uint8Array) => Promise<void>, end: AbortSignal) {
    this.#take = take;
    this.#end = end;
    end.addEventListener("abort", () => this.#leave(), { once: true });
  }

  /** Comes back when the line is taken, or at the end. @throws what taking it throws */
  send(line: string): Promise<void> {
    const sent = this.#last.then(() => this.#pieces(Buffer.from(line)));
    this.#last = sent.catch(() => {});
    return sent;
  }

  async #pieces(line: Buffer): Promise<void> {
    for (let at = 0; at < line.length && !this.#end.aborted; at += PIECE_BYTES) {
      const piece = line.subarray(at, at + PIECE_BYTES);
      this.waiting = piece;
      await new Promise<void>((resolve, reject) => {
        this.#leave = resolve;
        this.#take(piece).then(resolve, reject);
      });
      this.waiting = undefined;
    }
  }
}
