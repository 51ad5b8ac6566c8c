import { closeSync, mkdirSync, openSync, utimesSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const BUFFER_BYTES = 4 * 1024 * 1024;

/** One buffer for all files that are written one after another. */
const shared = Buffer.allocUnsafe(BUFFER_BYTES);

/** A file being written through a buffer; one at a time. */
export class Output {
  /** Bytes put so far. */
  size = 0;
  readonly #path: string;
  readonly #descriptor: number;
  #held = 0;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#path = path;
    this.#descriptor = openSync(path, "w", 0o600);
  }

  /** Adds ASCII text. */
  text(text: string): void {
    if (this.#held + text.length > BUFFER_BYTES) this.#flush();
    this.#held += shared.write(text, this.#held, "latin1");
    this.size += text.length;
  }

  /** Adds bytes. */
  bytes(bytes: Uint8Array): void {
    if (this.#held + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) throw new Error("more bytes at once than the buffer holds");
    shared.set(bytes, this.#held);
    this.#held += bytes.length;
    this.size += bytes.length;
  }

  /** Ends the file; `modified` (ms since the epoch) becomes its time of modification. */
  close(modified: number): void {
    this.#flush();
    closeSync(this.#descriptor);
    utimesSync(this.#path, modified / 1000, modified / 1000);
  }

  #flush(): void {
    for (let done = 0; done < this.#held; ) done += writeSync(this.#descriptor, shared, done, this.#held - done);
    this.#held = 0;
  }
}
