import { asObject, asText, type JsonObject } from "../../platform/read.ts";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A key that stands this often in a window without being a record's own is looked for no further. */
const MOST_TRIES = 24;

/** So near to the end (or the start) of a line a record's own key is expected; else the whole line is parsed. */
const NEAR_BYTES = 4096;

/** How every record of the conversation begins since 1.0; records of session fields begin with their type. */
const CHAIN_START = Buffer.from('{"parentUuid":');
const TYPE_START = Buffer.from('{"type":"');
const TYPE_START_INSIDE = TYPE_START.subarray(1);

/** Counts the `JSON.parse` calls of listing. */
export interface ParseCount {
  parses: number;
}

/** A key that is looked for. */
export interface WindowKey {
  readonly name: string;
  /** `"name":` */
  readonly bytes: Buffer;
}

/** A record type that is looked for. */
export interface WindowType {
  readonly name: string;
  /** `"type":"name"` */
  readonly bytes: Buffer;
}

/** What finds the key `name`. */
export function windowKey(name: string): WindowKey {
  return { name, bytes: Buffer.from(`"${name}":`) };
}

/** What finds records of the type `name`. */
export function windowType(name: string): WindowType {
  return { name, bytes: Buffer.from(`"type":"${name}"`) };
}

/** A line of a window; cut where the window begins or ends inside it. */
interface WindowLine {
  readonly start: number;
  readonly end: number;
  readonly cutAtStart: boolean;
  readonly cutAtEnd: boolean;
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
  #fields: ReadonlyMap<string, number> | undefined;

  /**
   * `startsLine`: the first byte begins a line. `endsFile`: nothing follows, so what stands behind the last newline is a
   * half-written line and is left out.
   */
  constructor(bytes: Buffer, where: { readonly startsLine: boolean; readonly endsFile: boolean }, count: ParseCount) {
    this.#bytes = where.endsFile ? bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1) : bytes;
    this.#startsLine = where.startsLine;
    this.#endsFile = where.endsFile;
    this.#count = count;
  }

  /** The text that the last record with a text under `key` has there; nested keys don't count. */
  lastText(key: WindowKey): string | undefined {
    return this.#textIn(this.#linesWith(key.bytes, "backward"), key);
  }

  /** The text that the first record with a text under `key` has there. */
  firstText(key: WindowKey): string | undefined {
    return this.#textIn(this.#linesWith(key.bytes, "forward"), key);
  }

  /** The whole records of the conversation of this type, the last first. */
  recordsBackward(type: WindowType): Generator<JsonObject> {
    return this.#records(this.#linesWith(type.bytes, "backward"), type);
  }

  /** The whole records of the conversation of this type, the first first. */
  recordsForward(type: WindowType): Generator<JsonObject> {
    return this.#records(this.#linesWith(type.bytes, "forward"), type);
  }

  /** The last record of session fields of this type, if it is whole. */
  lastFields(type: string): JsonObject | undefined {
    const start = this.#fieldLines().get(type);
    const line = start === undefined ? undefined : this.#lineAround(start);
    const record = line === undefined || line.cutAtEnd ? undefined : this.#record(line);
    return record?.type === type ? record : undefined;
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
    const from = Math.max(line.start, line.end - NEAR_BYTES);
    const at = this.#bytes.subarray(from, line.end).lastIndexOf(key.bytes);
    if (at < 0) return undefined;
    if (openBraces(this.#bytes, from + at, line.end) !== -1) return undefined;
    const end = this.#parse(`{${this.#bytes.toString("utf8", from + at, line.end)}`);
    if (end !== undefined && !this.#ends.has(line.start)) this.#ends.set(line.start, end);
    return end;
  }

  /** What stands up to the value of `key`, when no nested object is open there (the key order of 1.x). */
  #fromStart(line: WindowLine, key: WindowKey): JsonObject | undefined {
    const near = this.#bytes.subarray(line.start, Math.min(line.end, line.start + NEAR_BYTES));
    const at = near.indexOf(key.bytes);
    const begin = at + key.bytes.length + 1;
    if (at < 0 || near[begin - 1] !== QUOTE) return undefined;
    const end = closingQuote(near, begin);
    if (end < 0 || openBraces(near, 0, end) !== 1) return undefined;
    return this.#parse(`${near.toString("utf8", 0, end + 1)}}`);
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

  /** Where the last line of each type of session fields starts. */
  #fieldLines(): ReadonlyMap<string, number> {
    if (this.#fields !== undefined) return this.#fields;
    const fields = new Map<string, number>();
    const bytes = this.#bytes;
    for (let start = this.#startsLine ? 0 : bytes.indexOf(NEWLINE) + 1; start < bytes.length; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      const type = standsAt(bytes, CHAIN_START, start) ? undefined : this.#fieldType(start, end);
      if (type !== undefined) fields.set(type, start);
      start = end + 1;
    }
    this.#fields = fields;
    return fields;
  }

  /** The type of the record in a line, by its first key, or, in a foreign key order, by the first key of that name. */
  #fieldType(start: number, end: number): string | undefined {
    let at = start;
    if (!standsAt(this.#bytes, TYPE_START, start)) {
      at = start + this.#bytes.subarray(start, Math.min(end, start + NEAR_BYTES)).indexOf(TYPE_START_INSIDE) - 1;
      if (at < start) return undefined;
    }
    const begin = at + TYPE_START.length;
    const close = this.#bytes.indexOf(QUOTE, begin);
    return close < 0 || close - begin > 40 ? undefined : this.#bytes.toString("latin1", begin, close);
  }

  /** The lines that hold `needle`, each once. */
  *#linesWith(needle: Buffer, direction: "forward" | "backward"): Generator<WindowLine> {
    const bytes = this.#bytes;
    let from = direction === "forward" ? 0 : bytes.length - 1;
    while (from >= 0 && from < bytes.length) {
      const at = direction === "forward" ? bytes.indexOf(needle, from) : bytes.lastIndexOf(needle, from);
      if (at < 0) return;
      const line = this.#lineAround(at);
      yield line;
      from = direction === "forward" ? line.end + 1 : line.start - 1;
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

/** Where the string that begins at `begin` (behind its quote) ends; -1 when it does not end here. */
function closingQuote(bytes: Buffer, begin: number): number {
  for (let at = begin; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return -1;
}

function standsAt(bytes: Buffer, needle: Buffer, at: number): boolean {
  for (let i = 0; i < needle.length; i++) if (bytes[at + i] !== needle[i]) return false;
  return true;
}

/** Braces that are opened and not closed; those in texts count, too, which only sends a record the longer way. */
function openBraces(bytes: Buffer, start: number, end: number): number {
  let open = 0;
  for (let at = start; at < end; at++) {
    if (bytes[at] === OPEN_BRACE) open++;
    else if (bytes[at] === CLOSE_BRACE) open--;
  }
  return open;
}
