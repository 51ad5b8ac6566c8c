import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import { readHead } from "./line-head.ts";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A key that stands this often in a window without being a record's own is looked for no further. */
const MOST_TRIES = 24;

/** So near to the end (or the start) of a line a record's own key is expected; else the whole line is parsed. */
const NEAR_BYTES = 4096;

/**
 * Node searches for up to six bytes from one place of the last of them to the next (from the first, forward), several times
 * as fast as for more; so what is searched for backward is this long and ends in a capital or a y, which are rare.
 */
const MARK_BYTES = 6;

/** Counts the `JSON.parse` calls of listing. */
export interface ParseCount {
  parses: number;
}

/** A key that is looked for. */
export interface WindowKey {
  readonly name: string;
  /** `"name":` */
  readonly bytes: Buffer;
  /** The few bytes of it that are searched for backward, and how far behind its start they are. */
  readonly mark: Buffer;
  readonly markAt: number;
}

/** A record type that is looked for. */
export interface WindowType {
  readonly name: string;
  /** `"type":"name"` */
  readonly bytes: Buffer;
}

/** What finds the key `name`. */
export function windowKey(name: string): WindowKey {
  const bytes = Buffer.from(`"${name}":`);
  const rare = Math.max(name.search(/[A-Z][^A-Z]*$/), name.search(/y[^y]*$/));
  const end = rare < 0 ? bytes.length : rare + 2;
  const markAt = Math.max(0, end - MARK_BYTES);
  return { name, bytes, mark: bytes.subarray(markAt, end), markAt };
}

/** What finds records of the type `name`. */
export function windowType(name: string): WindowType {
  return { name, bytes: Buffer.from(`"type":"${name}"`) };
}

/** How records of session fields of the type `name` begin. */
export function fieldsType(name: string): Buffer {
  return Buffer.from(`{"type":"${name}"`);
}

/** A line of a window; cut where the window begins or ends inside it. */
interface WindowLine {
  readonly start: number;
  readonly end: number;
  readonly cutAtStart: boolean;
  readonly cutAtEnd: boolean;
}

/** Where a window lies in its file. */
export interface WindowPlace {
  /** Its first byte begins a line. */
  readonly startsLine: boolean;
  /** Nothing follows, so what stands behind the last newline is a half-written line and is left out. */
  readonly endsFile: boolean;
}

/**
 * A stretch of a transcript in which fields are found by byte search; only the few lines that hold what is asked for are
 * parsed. A raw `"key":` can't stand inside a JSON string (its quotes would be escaped), so a byte search only has to tell a
 * record's own key from that of something nested.
 */
export class LineWindow {
  readonly #bytes: Buffer;
  readonly #startsLine: boolean;
  readonly #endsFile: boolean;
  readonly #count: ParseCount;
  readonly #whole = new Map<number, JsonObject | undefined>();
  readonly #ends = new Map<number, JsonObject>();

  constructor(bytes: Buffer, where: WindowPlace, count: ParseCount) {
    this.#bytes = where.endsFile ? bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1) : bytes;
    this.#startsLine = where.startsLine;
    this.#endsFile = where.endsFile;
    this.#count = count;
  }

  /** The text that the last record with a text under `key` has there; nested keys don't count. */
  lastText(key: WindowKey): string | undefined {
    return this.#textIn(this.#linesWithKey(key), key);
  }

  /** The text that the first record with a text under `key` has there. */
  firstText(key: WindowKey): string | undefined {
    return this.#textIn(this.#linesForward(key.bytes), key);
  }

  /** The whole records of the conversation of this type, the last first. */
  recordsBackward(type: WindowType): Generator<JsonObject> {
    return this.#records(this.#linesBackward(type.bytes), type);
  }

  /** The whole records of the conversation of this type, the first first. */
  recordsForward(type: WindowType): Generator<JsonObject> {
    return this.#records(this.#linesForward(type.bytes), type);
  }

  /** All the whole records that may say something in a chat, the first first. */
  *records(): Generator<JsonObject> {
    for (let at = 0; at < this.#bytes.length; ) {
      const line = this.#lineAround(at);
      at = line.end + 1;
      if (line.cutAtStart || line.cutAtEnd) continue;
      if (readHead(this.#bytes.subarray(line.start, line.end)).kind === "skip") continue;
      const record = this.#record(line);
      if (record !== undefined) yield record;
    }
  }

  /** The bytes of the last line, when it goes on behind the window. */
  lineCutAtEnd(): Buffer | undefined {
    const start = this.#bytes.lastIndexOf(NEWLINE) + 1;
    return this.#endsFile || start === this.#bytes.length ? undefined : this.#bytes.subarray(start);
  }

  /** The last whole record of session fields with `key` in it; such records begin with their type. */
  lastFields(type: Buffer, key: WindowKey): JsonObject | undefined {
    for (const line of this.#linesWithKey(key)) {
      const typed = !line.cutAtStart && !line.cutAtEnd && standsAt(this.#bytes, type, line.start);
      const record = typed ? this.#record(line) : undefined;
      if (record !== undefined && key.name in record) return record;
    }
    return undefined;
  }

  /** Whether `bytes` stand anywhere in it. */
  has(bytes: Buffer): boolean {
    return this.#bytes.includes(bytes);
  }

  /** Whether the first line (or as much of it as is here) holds one of `needles`. */
  firstLineHas(...needles: readonly string[]): boolean {
    const newline = this.#bytes.indexOf(NEWLINE);
    const line = newline < 0 ? this.#bytes : this.#bytes.subarray(0, newline);
    return needles.some((needle) => line.includes(needle));
  }

  *#records(lines: Iterable<WindowLine>, type: WindowType): Generator<JsonObject> {
    for (const line of lines) {
      const record = line.cutAtStart || line.cutAtEnd ? undefined : this.#record(line);
      if (record?.type === type.name) yield record;
    }
  }

  #textIn(lines: Iterable<WindowLine>, key: WindowKey): string | undefined {
    let tries = 0;
    for (const line of lines) {
      const text = this.#ownText(line, key);
      if (text !== undefined || ++tries === MOST_TRIES) return text;
    }
    return undefined;
  }

  /** The record's own text under `key`: from the end of the line, from its beginning, or from the whole of it. */
  #ownText(line: WindowLine, key: WindowKey): string | undefined {
    const known = this.#whole.get(line.start) ?? this.#ends.get(line.start);
    if (known !== undefined && key.name in known) return asText(known[key.name]);
    const fromEnd = line.cutAtEnd ? undefined : this.#fromEnd(line, key);
    if (fromEnd !== undefined) return asText(fromEnd[key.name]);
    const fromStart = line.cutAtStart ? undefined : this.#fromStart(line, key);
    if (fromStart !== undefined) return asText(fromStart[key.name]);
    return line.cutAtStart || line.cutAtEnd ? undefined : asText(this.#record(line)?.[key.name]);
  }

  /**
   * What follows `key` up to the line's end, when that closes exactly the record itself: then the key was the record's
   * own. Envelope keys stand behind the payload in most records, so this parses a few dozen bytes of a large line.
   */
  #fromEnd(line: WindowLine, key: WindowKey): JsonObject | undefined {
    const at = this.#bytes.lastIndexOf(key.bytes, line.end - key.bytes.length);
    if (at < line.start || line.end - at > NEAR_BYTES) return undefined;
    const text = this.#bytes.toString("utf8", at, line.end);
    // Mostly a glance shows that the key is nested: something closes that did not open here.
    if (!text.includes("{") && text.indexOf("}") < text.trimEnd().length - 1) return undefined;
    const end = this.#parse(`{${text}`);
    if (end !== undefined && !this.#ends.has(line.start)) this.#ends.set(line.start, end);
    return end;
  }

  /** What stands up to the value of `key`, when no nested object is open there (the key order of 1.x). */
  #fromStart(line: WindowLine, key: WindowKey): JsonObject | undefined {
    const at = this.#bytes.indexOf(key.bytes, line.start);
    const begin = at + key.bytes.length + 1;
    if (at < 0 || begin > Math.min(line.end, line.start + NEAR_BYTES)) return undefined;
    const end = this.#bytes[begin - 1] === QUOTE ? closingQuote(this.#bytes, begin, line.end) : -1;
    if (end < 0) return undefined;
    const text = this.#bytes.toString("utf8", line.start, end + 1);
    return text.includes("{", 1) ? undefined : this.#parse(`${text}}`);
  }

  #record(line: WindowLine): JsonObject | undefined {
    if (!this.#whole.has(line.start)) {
      this.#whole.set(line.start, this.#parse(this.#bytes.toString("utf8", line.start, line.end)));
    }
    return this.#whole.get(line.start);
  }

  #parse(text: string): JsonObject | undefined {
    this.#count.parses++;
    try {
      return asObject(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  /** The lines that hold `needle`, each once, the first first. */
  *#linesForward(needle: Buffer): Generator<WindowLine> {
    for (let at = this.#bytes.indexOf(needle); at >= 0; ) {
      const line = this.#lineAround(at);
      yield line;
      at = line.end < this.#bytes.length ? this.#bytes.indexOf(needle, line.end) : -1;
    }
  }

  /** The lines that hold `needle`, each once, the last first. */
  *#linesBackward(needle: Buffer): Generator<WindowLine> {
    for (let at = this.#bytes.lastIndexOf(needle); at >= 0; ) {
      const line = this.#lineAround(at);
      yield line;
      at = line.start > 0 ? this.#bytes.lastIndexOf(needle, line.start - 1) : -1;
    }
  }

  /** The lines that hold `key`, each once, the last first. */
  *#linesWithKey(key: WindowKey): Generator<WindowLine> {
    for (let at = this.#bytes.lastIndexOf(key.mark); at >= 0; ) {
      const found = at >= key.markAt && standsAt(this.#bytes, key.bytes, at - key.markAt);
      const line = found ? this.#lineAround(at) : undefined;
      if (line !== undefined) yield line;
      const next = (line?.start ?? at) - 1;
      at = next < 0 ? -1 : this.#bytes.lastIndexOf(key.mark, next);
    }
  }

  #lineAround(at: number): WindowLine {
    const before = at === 0 ? -1 : this.#bytes.lastIndexOf(NEWLINE, at - 1);
    const newline = this.#bytes.indexOf(NEWLINE, at);
    return {
      start: before + 1,
      end: newline < 0 ? this.#bytes.length : newline,
      cutAtStart: before < 0 && !this.#startsLine,
      cutAtEnd: newline < 0 && !this.#endsFile,
    };
  }
}

/** Where the string that begins at `begin` (behind its quote) ends; -1 when it does not end before `limit`. */
function closingQuote(bytes: Buffer, begin: number, limit: number): number {
  for (let at = begin; at < limit; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return -1;
}

function standsAt(bytes: Buffer, needle: Buffer, at: number): boolean {
  for (let i = 0; i < needle.length; i++) if (bytes[at + i] !== needle[i]) return false;
  return true;
}
