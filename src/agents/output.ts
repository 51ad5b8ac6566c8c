import { Bell } from "../platform/bell.ts";
import { characterStart, unfinishedBytes } from "./whole-characters.ts";

/** What is left of an output that may be long: its end. */
export interface OutputChunk {
  readonly text: string;
  /** Where `text` begins and ends, counted in bytes since the session began. */
  readonly from: number;
  readonly next: number;
  /** Something between the place asked for and `from` is no longer kept. */
  readonly cut?: true;
}

/** The last 500 lines, or 64 KiB, of what a session printed. */
export interface Output {
  /** Adds what was printed, as bytes just as they came or as text. */
  write(part: Uint8Array | string): void;
  /** What was printed from the byte `since` on, or as much of it as is kept. A character is never cut in two. */
  read(since?: number): OutputChunk;
  /** Nothing more will be printed. */
  end(): void;
  readonly ended: boolean;
  /** What is printed from the byte `since` on, as it comes; ends with the output or the signal. A slow reader misses what is no longer kept, and is told so. */
  follow(since: number, signal: AbortSignal): AsyncIterable<OutputChunk>;
}

/** An output that keeps nothing yet. */
export function createOutput(): Output {
  return new OutputRing();
}

const MOST_BYTES = 64 * 1024;
const MOST_LINES = 500;
/** Kept before the oldest byte that is shown: by these it is known whether that one stands inside something. */
const MARGIN = 256;
const KEPT_BYTES = MOST_BYTES + MARGIN;
const FIRST_CAPACITY = 4 * 1024;
const CAPACITY = 2 * KEPT_BYTES;

/**
 * Bytes are put behind each other, and now and then the last of them are moved to the front: a write costs no more than a
 * copy. Lines and characters are looked for when somebody reads.
 */
class OutputRing implements Output {
  #bytes = Buffer.alloc(FIRST_CAPACITY);
  #used = 0;
  /** The position of the first byte of `#bytes`. */
  #base = 0;
  #ended = false;
  /** The first half of a character that a text was cut in. */
  #half = "";
  readonly #followers = new Set<Bell>();

  get ended(): boolean {
    return this.#ended;
  }

  write(part: Uint8Array | string): void {
    if (this.#ended || part.length === 0) return;
    if (typeof part === "string") this.#addText(part);
    else this.#add(part);
    for (const bell of this.#followers) bell.ring();
  }

  end(): void {
    if (this.#ended) return;
    if (this.#half !== "") this.#add(Buffer.from(this.#half));
    this.#ended = true;
    const oldest = Math.max(0, this.#used - KEPT_BYTES);
    this.#bytes = Buffer.from(this.#bytes.subarray(oldest, this.#used));
    this.#base += oldest;
    this.#used -= oldest;
    for (const bell of this.#followers) bell.ring();
  }

  read(since = 0): OutputChunk {
    return this.#chunk(since, this.#oldestLine());
  }

  async *follow(since: number, signal: AbortSignal): AsyncIterableIterator<OutputChunk> {
    const bell = new Bell();
    this.#followers.add(bell);
    try {
      let chunk = this.read(since);
      while (!signal.aborted) {
        if (chunk.text !== "" || chunk.cut) yield chunk;
        if (this.#ended && chunk.next === this.#base + this.#used) return;
        await bell.listen(signal);
        // Many small writes of one turn are one chunk.
        await new Promise(setImmediate);
        // Whoever keeps up gets more than the last lines that are kept for others.
        chunk = this.#chunk(chunk.next, this.#base > 0 ? MARGIN : 0);
      }
    } finally {
      this.#followers.delete(bell);
    }
  }

  /** What is there from the position `since` on, but nothing before the place `oldest` in the bytes. */
  #chunk(since: number, oldest: number): OutputChunk {
    const bytes = this.#bytes;
    const end = this.#ended ? this.#used : this.#used - unfinishedBytes(bytes, this.#used);
    const wanted = Math.max(0, Math.floor(since)) - this.#base;
    const cut = wanted < oldest && this.#base + oldest > 0;
    const begin = cut ? sequenceEnd(bytes, oldest, end) : wanted;
    const from = Math.min(characterStart(bytes, Math.min(begin, end), end), end);
    return {
      text: bytes.toString("utf8", from, end),
      from: this.#base + from,
      next: this.#base + end,
      ...(cut && { cut }),
    };
  }

  /** Where the last lines begin: a place in the bytes. */
  #oldestLine(): number {
    const oldest = Math.max(0, this.#used - MOST_BYTES);
    // The last line's own end begins no other.
    let place = this.#used - 1;
    for (let lines = 0; lines < MOST_LINES; lines++) {
      place = place <= oldest ? -1 : this.#bytes.lastIndexOf(0x0a, place - 1);
      if (place < oldest) return oldest;
    }
    return place + 1;
  }

  #add(part: Uint8Array): void {
    if (part.length >= KEPT_BYTES) {
      this.#room(KEPT_BYTES);
      this.#base += this.#used + part.length - KEPT_BYTES;
      this.#bytes.set(part.subarray(part.length - KEPT_BYTES));
      this.#used = KEPT_BYTES;
      return;
    }
    this.#room(this.#used + part.length);
    if (this.#used + part.length > this.#bytes.length) {
      const oldest = this.#used - KEPT_BYTES;
      this.#bytes.copyWithin(0, oldest, this.#used);
      this.#base += oldest;
      this.#used = KEPT_BYTES;
    }
    this.#bytes.set(part, this.#used);
    this.#used += part.length;
  }

  /** Makes the buffer larger, as far as it may be, when it has no room for `length` bytes. */
  #room(length: number): void {
    if (length <= this.#bytes.length || this.#bytes.length === CAPACITY) return;
    const larger = Buffer.alloc(Math.min(CAPACITY, Math.max(length, this.#bytes.length * 2)));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }

  #addText(text: string): void {
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last <= 0xdbff;
    const whole = this.#half + (isCut ? text.slice(0, -1) : text);
    this.#half = isCut ? text.slice(-1) : "";
    // A UTF-16 unit takes three bytes at most: where these are free, nothing needs to be copied.
    if (this.#used + whole.length * 3 <= this.#bytes.length) this.#used += this.#bytes.write(whole, this.#used);
    else this.#add(Buffer.from(whole));
  }
}

const ESCAPE = 0x1b;

/**
 * The first place at or after `at` that is not inside an escape sequence that begins shortly before it: its rest would be
 * shown as text.
 */
function sequenceEnd(bytes: Buffer, at: number, end: number): number {
  const start = at === 0 ? -1 : bytes.lastIndexOf(ESCAPE, at - 1);
  if (start < 0 || at - start > MARGIN) return at;
  const text = bytes.toString("latin1", start, Math.min(end, at + MARGIN));
  const length = SEQUENCE.exec(text)?.[0].length ?? 0;
  return Math.max(at, start + length);
}

/** Of a control sequence, of one with a text (a title), or of another: all of it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-OQ-WYZ\\`-~])/;
