import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import { CallSpans } from "./call-spans.ts";

/** Bytes that one step looks through. */
const STEP_BYTES = 512 * 1024;
/** Numbers of records further behind than this are taken to go on as they did before. */
const MOST_BYTES = 1024 * 1024 * 1024;

/** Bytes of a long line's end that are looked at. */
const TAIL_BYTES = 64;

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const SPACE = 0x20;
const [ZERO, NINE] = [0x30, 0x39];
const SEQ = Buffer.from('"seq":');
/** `{"seq": ` and a whole number that JavaScript holds exactly. */
const NUMBER_BYTES = 32;

/**
 * Where a recording's numbers fall back: a writer that was started again counts from 1, or from a number that stands in the
 * file already; and which calls have their records far apart. These are facts of the whole file before a record, so they are
 * read from its bytes once, line by line, mostly without parsing, and further when the file has grown. Good for one edition of a file.
 */
export class Numbering {
  /** Starts of the lines whose number is not above that of the line before, ascending. */
  readonly #falls: number[] = [];
  /** All lines that begin before this place have been looked at; one begins here. */
  #reached = 0;
  #last: number | undefined;
  readonly #calls: CallSpans;

  /** `withLong`: calls with a record longer than a page are told among those whose records lie far apart. */
  constructor(withLong = false) {
    this.#calls = new CallSpans(withLong);
  }

  /** Looks through the lines that begin at or before `place`, letting others have their turn. */
  async reach(source: ByteSource, place: number, pool: BytePool): Promise<void> {
    const breather = new Breather();
    while (this.#step(source, place, pool)) await breather.pause();
  }

  /** The start of the last line at or before the line at `start` on which the numbers fell back. */
  fallAt(source: ByteSource, start: number, pool: BytePool): number | undefined {
    while (this.#step(source, start, pool));
    let [low, high] = [0, this.#falls.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#falls[middle] ?? 0) <= start) low = middle + 1;
      else high = middle;
    }
    return this.#falls[low - 1];
  }

  /** The calls of the lines that begin at or before `place`. */
  callsTo(source: ByteSource, place: number, pool: BytePool): CallSpans {
    while (this.#step(source, place, pool));
    return this.#calls;
  }

  /** Whether there is more to look at. */
  #step(source: ByteSource, place: number, pool: BytePool): boolean {
    if (this.#reached > place || this.#reached >= Math.min(source.size, MOST_BYTES)) return false;
    const taken = pool.take(STEP_BYTES);
    try {
      const bytes = taken.subarray(0, source.read(taken.subarray(0, STEP_BYTES), this.#reached));
      return this.#look(bytes, source);
    } finally {
      pool.give([taken]);
    }
  }

  /** Looks at the lines that end in `bytes`, the first of which begins them; a longer one is passed over as a whole. */
  #look(bytes: Buffer, source: ByteSource): boolean {
    const base = this.#reached;
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#note(base + from, seqIn(bytes, from, end));
      this.#calls.look(bytes, from, end, base + from);
      from = end + 1;
    }
    this.#reached = base + from;
    if (from > 0) return true;
    const end = bytes.length < STEP_BYTES ? undefined : newlineBehind(source, base + bytes.length);
    if (end === undefined) return false;
    this.#note(base, seqIn(bytes, 0, bytes.length));
    const ends = Buffer.concat([bytes, readRange(source, Math.max(base + bytes.length, end - TAIL_BYTES), end)]);
    this.#calls.look(ends, 0, ends.length, base);
    this.#reached = end + 1;
    return true;
  }

  #note(start: number, seq: number | undefined): void {
    if (seq === undefined) return;
    const isFirst = this.#last === undefined;
    if (start > 0 && (seq === 1 || !(isFirst || seq > (this.#last ?? 0)))) this.#falls.push(start);
    this.#last = seq;
  }
}

/** The number that a line states, where writers put it; that of a nested value would only make one more name for it. */
function seqIn(bytes: Buffer, from: number, end: number): number | undefined {
  if (bytes[from + 1] === QUOTE && bytes.compare(SEQ, 0, SEQ.length, from + 1, from + 1 + SEQ.length) === 0) {
    return numberAt(bytes, from + 1 + SEQ.length, end);
  }
  const place = bytes.subarray(from, end).indexOf(SEQ);
  return place < 0 ? undefined : numberAt(bytes, from + place + SEQ.length, end);
}

function numberAt(bytes: Buffer, from: number, end: number): number | undefined {
  let at = from;
  while (bytes[at] === SPACE && at < end) at++;
  let value = 0;
  const first = at;
  for (; at < Math.min(end, from + NUMBER_BYTES); at++) {
    const digit = bytes[at] ?? 0;
    if (digit < ZERO || digit > NINE) break;
    value = value * 10 + (digit - ZERO);
  }
  return at > first && Number.isSafeInteger(value) ? value : undefined;
}

function newlineBehind(source: ByteSource, from: number): number | undefined {
  const buffer = Buffer.alloc(STEP_BYTES);
  for (let at = from; at < source.size; at += STEP_BYTES) {
    const end = buffer.subarray(0, source.read(buffer, at)).indexOf(NEWLINE);
    if (end >= 0) return at + end;
  }
  return undefined;
}
