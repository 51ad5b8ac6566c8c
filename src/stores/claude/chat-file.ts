import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import type { OpenFile } from "../../platform/files.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import type { ChatScope } from "./chat-scope.ts";
import { readHead } from "./line-head.ts";
import { type Meter, metered } from "./meter.ts";

const NEWLINE = Buffer.from("\n");
const QUOTE = 0x22;
const SPACE = 0x20;

/** The longest id that is looked for. */
const PLAIN_ID_CHARACTERS = 128;

const TIMESTAMP = Buffer.from('"timestamp":');
const TIMESTAMP_VALUE = /^"timestamp":\s*(?:"([^"\\]{1,40})"|(-?\d{1,16}))/;

/** How much is read at first where it may be enough. */
const FIRST_CHUNK_BYTES = 64 * 1024;

/** Bytes at a file's start in which its first time is looked for. */
const HEADER_BYTES = 64 * 1024;

/** A whole line that stands before the place in hand. */
export interface EarlierLine {
  readonly start: ByteOffset;
  readonly bytes: Buffer;
}

/** Something that waits for what stands before it: the nearest place of an id that is good for it. */
export interface Asker {
  readonly start: ByteOffset;
}

/** What reading chats shares: the count of the work, and the memory that reads are made into. */
export interface Reading {
  readonly meter: Meter;
  readonly pool: BytePool;
}

/**
 * What `use` makes of the chat of `scope` in an open transcript. Its lines and slices are views of memory that goes back
 * to the pool at the end, so nothing may hold on to them.
 */
export async function withChat<T>(
  file: OpenFile,
  scope: ChatScope,
  reading: Reading,
  use: (chat: ChatFile) => T | Promise<T>,
): Promise<T> {
  const chat = new ChatFile(metered(file, reading.meter), file.bornAt, scope, reading);
  try {
    return await use(chat);
  } finally {
    chat.close();
  }
}

/**
 * An open transcript while one answer is made from it: what stands before a record, searched as bytes. Everything it
 * tells of a record is a function of the file's start and of the 8 MiB before that record.
 */
export class ChatFile {
  readonly source: ByteSource;
  readonly #bornAt: EpochMs;
  readonly scope: ChatScope;
  readonly #meter: Meter;
  readonly #before: LookBack;
  /** What lines of the page in hand hold: who counts what was read need not parse it again. */
  readonly #parsed = new Map<Buffer, JsonObject[]>();
  #time: { readonly before: number; readonly place: number; readonly at: EpochMs | undefined } | undefined;
  #start: { readonly at: EpochMs | undefined } | undefined;

  constructor(source: ByteSource, bornAt: EpochMs, scope: ChatScope, { meter, pool }: Reading) {
    this.source = source;
    this.#bornAt = bornAt;
    this.scope = scope;
    this.#meter = meter;
    this.#before = new LookBack(source, LOOK_BACK_BYTES, pool);
  }

  /** Gives back what was read. */
  close(): void {
    this.#before.close();
  }

  /** The records of a line that are this chat's; no parse where its bytes tell that there are none. */
  records(line: Buffer): JsonObject[] {
    const head = readHead(line);
    if (head.kind === "skip" || (head.kind !== "unsure" && !this.scope.mayInclude(head))) return [];
    const records = this.parse(line);
    return records.every((record) => this.scope.includes(record))
      ? records
      : records.filter((record) => this.scope.includes(record));
  }

  /** All the records of a line. */
  parse(line: Buffer): JsonObject[] {
    const known = this.#parsed.get(line);
    if (known !== undefined) return known;
    this.#meter.parses++;
    const records: JsonObject[] = [];
    for (const value of parseRecords(line)) {
      const record = asObject(value);
      if (record !== undefined) records.push(record);
    }
    if (records.length === 0) this.#meter.damaged++;
    this.#parsed.set(line, records);
    return records;
  }

  /** All the records of a line of the page in hand, if it was parsed already. */
  parsed(line: Buffer): JsonObject[] | undefined {
    return this.#parsed.get(line);
  }

  /** The time of a record at `start` that states none: the last one before it, else the first of the file, else the file's own. */
  timeBefore(start: ByteOffset): EpochMs {
    return this.statedTimeBefore(start) ?? this.#bornAt;
  }

  /** The last time that is stated before `start`, else the first that the file's beginning states. */
  statedTimeBefore(start: ByteOffset): EpochMs | undefined {
    return this.#lastTime(start) ?? this.#startTime();
  }

  /** The time of a record that is too long to be parsed: the last that its end states, else as of one without. */
  timeOfLong(start: ByteOffset, end: ByteOffset): EpochMs {
    return this.statedTimeOfLong(start, end) ?? this.#bornAt;
  }

  /** The same, when any is stated. */
  statedTimeOfLong(start: ByteOffset, end: ByteOffset): EpochMs | undefined {
    const tail = this.#before.slice(Math.max(start, end - HEADER_BYTES), end);
    return lastTimeIn(tail, tail.length)?.at ?? this.statedTimeBefore(start);
  }

  /**
   * For each asker the nearest place before it, and at most 8 MiB before it, where `key` (its quotes and colon included)
   * has its id (a plain one) as value, and which `take` accepts. All ids are looked for in one pass.
   */
  nearest<A extends Asker>(
    key: Buffer,
    askers: ReadonlyMap<string, readonly A[]>,
    take: (asker: A, place: ByteOffset) => boolean,
  ): void {
    const open = new Map([...askers].map(([id, list]) => [id, [...list]]));
    const starts = [...open.values()].flat().map(({ start }) => start);
    const last = Math.max(0, ...starts);
    // As far back as the first of them looks, lest it make a difference which others stand in the same page.
    const window = last - Math.min(last, ...starts) + LOOK_BACK_BYTES;
    for (const place of this.#before.places(key, byteOffsetOf(last), window)) {
      const id = this.textAt(place + key.length);
      const waiting = id === undefined ? undefined : open.get(id);
      if (id === undefined || waiting === undefined) continue;
      const left = waiting.filter((asker) => !isBefore(place, asker.start) || !take(asker, place));
      if (left.length > 0) open.set(id, left);
      else open.delete(id);
      if (open.size === 0) return;
    }
  }

  /** The lines that end at `end` (a line's start), the last first, as far as they begin at or behind `lowest`. */
  *linesBefore(end: ByteOffset, lowest: number): Generator<EarlierLine> {
    let stop = end as number;
    if (stop === 0) return;
    for (const newline of this.#before.places(NEWLINE, byteOffsetOf(stop - 1))) {
      const start = newline + 1;
      if (start < lowest) return;
      if (stop - start <= PAGE_BYTES) yield this.#line(start, stop - 1);
      stop = start;
    }
    if (lowest <= 0 && stop > 0 && stop <= PAGE_BYTES) yield this.#line(0, stop - 1);
  }

  /** The lines from the one that starts at `start` up to `end`, the first first; oversized ones are passed over. */
  *linesFrom(start: number, end: ByteOffset): Generator<EarlierLine> {
    let discarding = false;
    for (let from = start, size = FIRST_CHUNK_BYTES; from < end; size = PAGE_BYTES) {
      const bytes = this.#before.slice(from, Math.min(from + size, end));
      let line = 0;
      for (let stop = bytes.indexOf(NEWLINE); stop >= 0; stop = bytes.indexOf(NEWLINE, line)) {
        if (!discarding) yield { start: byteOffsetOf(from + line), bytes: bytes.subarray(line, stop) };
        discarding = false;
        line = stop + 1;
      }
      discarding ||= line === 0 && size === PAGE_BYTES;
      from += discarding ? bytes.length : line;
      if (bytes.length === 0) return;
    }
  }

  /** The whole line that `place` is in, when it is not longer than a page. */
  lineAt(place: ByteOffset): EarlierLine | undefined {
    return this.#before.lineAround(place, PAGE_BYTES - 1);
  }

  /** Where the line that `place` is in starts, when that is within 8 MiB. */
  lineStart(place: ByteOffset): ByteOffset | undefined {
    const newline = this.#before.lastPlace(NEWLINE, place);
    if (newline !== undefined) return byteOffsetOf(newline + 1);
    return place <= LOOK_BACK_BYTES ? byteOffsetOf(0) : undefined;
  }

  /** Behind the newline of the line that `place` is in, when that line is not longer than a page. */
  lineEnd(place: ByteOffset): ByteOffset | undefined {
    const line = this.lineAt(place);
    return line && byteOffsetOf(line.start + line.bytes.length + 1);
  }

  /** Every place of `needle` in the `window` bytes before `before`, the last first. */
  places(needle: string, before: ByteOffset, window: number = LOOK_BACK_BYTES): Generator<ByteOffset> {
    return this.#before.places(Buffer.from(needle), before, window);
  }

  /** The bytes from `start` to `end`. */
  slice(start: number, end: number): Buffer {
    return this.#before.slice(start, end);
  }

  /** The plain text that stands at `place` as a value, in quotes; other programs than Claude Code put a space before it. */
  textAt(place: number): string | undefined {
    const bytes = this.#before.slice(place, place + PLAIN_ID_CHARACTERS + 3);
    const start = bytes[0] === SPACE ? 1 : 0;
    if (bytes[start] !== QUOTE) return undefined;
    const end = bytes.indexOf(QUOTE, start + 1);
    return end < 0 ? undefined : bytes.toString("latin1", start + 1, end);
  }

  #line(start: number, end: number): EarlierLine {
    return { start: byteOffsetOf(start), bytes: this.#before.slice(start, end) };
  }

  /** Goes on from the last answer, so that many records without a time cost one search. */
  #lastTime(before: ByteOffset): EpochMs | undefined {
    const known = this.#time;
    if (known !== undefined && known.before <= before && before - known.before <= PAGE_BYTES) {
      const since = this.#before.slice(known.before, before);
      const found = lastTimeIn(since, since.length);
      const next = found === undefined ? known : { at: found.at, place: known.before + found.place };
      this.#time = { ...next, before };
      return next.place >= before - LOOK_BACK_BYTES ? next.at : undefined;
    }
    for (const place of this.#before.places(TIMESTAMP, before)) {
      const at = timeAt(this.#before.slice(place, Math.min(place + 64, before)));
      if (at === undefined) continue;
      this.#time = { before, place, at };
      return at;
    }
    this.#time = { before, place: 0, at: undefined };
    return undefined;
  }

  #startTime(): EpochMs | undefined {
    this.#start ??= { at: firstTimeIn(readRange(this.source, 0, HEADER_BYTES)) };
    return this.#start.at;
  }
}

/**
 * Whether an id can be looked for as bytes: no program escapes it, and it is short. Other ids are not resolved at all, also
 * where it could be done, so that it makes no difference where a page begins.
 */
export function isPlainId(id: string): boolean {
  return id.length <= PLAIN_ID_CHARACTERS && /^[ !#-[\]-~]+$/.test(id);
}

/** The position of the record that starts at `start`. */
export function posOf(start: ByteOffset): Cursor {
  return formatJsonlCursor({ offset: start, discarding: false });
}

function isBefore(place: ByteOffset, start: ByteOffset): boolean {
  return place < start && place >= start - LOOK_BACK_BYTES;
}

function timeAt(bytes: Buffer): EpochMs | undefined {
  const match = TIMESTAMP_VALUE.exec(bytes.toString("latin1", 0, 64));
  return epochMsFromIso(match?.[1] ?? (match?.[2] === undefined ? undefined : Number(match[2])));
}

function lastTimeIn(bytes: Buffer, end: number): { readonly at: EpochMs; readonly place: number } | undefined {
  for (let last = end - 1; last >= 0; last--) {
    last = bytes.lastIndexOf(TIMESTAMP, last);
    if (last < 0) return undefined;
    const at = timeAt(bytes.subarray(last));
    if (at !== undefined) return { at, place: last };
  }
  return undefined;
}

function firstTimeIn(bytes: Buffer): EpochMs | undefined {
  for (let place = bytes.indexOf(TIMESTAMP); place >= 0; place = bytes.indexOf(TIMESTAMP, place + 1)) {
    const at = timeAt(bytes.subarray(place));
    if (at !== undefined) return at;
  }
  return undefined;
}
