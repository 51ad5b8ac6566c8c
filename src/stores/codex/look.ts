import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import { type Call, callOf } from "./call.ts";
import { glanceAt } from "./glance.ts";
import { timeOf } from "./header.ts";
import { modelIn } from "./scan.ts";

/** A call and where its record stands. */
export interface PlacedCall extends Call {
  readonly start: ByteOffset;
  readonly at: EpochMs | undefined;
}

/** Bytes before a record that are looked at first. */
const NEAR_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const LINE_END = Buffer.from("\n");
const TIMESTAMP = Buffer.from('"timestamp"');
const TURN_CONTEXT = Buffer.from('"turn_context"');
const SPAWN = Buffer.from('"spawn_agent"');
/** How far back the model is looked for: a file without turns' contexts would cost the whole window for every page. */
const MODEL_BYTES = 1024 * 1024;
/** How many places of a text are looked at before it is given up, or sought in another way. */
const MOST_PLACES = 16;
/** Ends the type of every record that is a call, and of no other. */
const CALL_TYPE = Buffer.from('_call"');
/** Calls that are sought by their ids, each through all of the window; then all calls that stand there are read, once. */
const MOST_SEARCHES = 4;

/** The model of a turn and where its record stands; without a model: there is no such record shortly before `start`. */
export interface KnownModel {
  readonly start: number;
  readonly model: string | undefined;
}

interface FoundLine {
  readonly start: ByteOffset;
  readonly bytes: Buffer;
}

/** The last time before `sought`, and where its record stands; without one: there is none in the window before `sought`. */
interface KnownTime {
  readonly sought: number;
  readonly found?: { readonly start: number; readonly at: EpochMs };
}

/** Where lines are looked for: not before `lowest` (a line's start), at most `most` places, `window` bytes back. */
interface Search {
  readonly lowest?: number;
  readonly most?: number;
  readonly window?: number;
}

/**
 * What stands before a record, no further back than 8 MiB: the call that it answers, the last time, the model. What was
 * found while a page is made is kept for its later records; the answer is the same wherever the page began.
 */
export class Before {
  readonly #back: LookBack;
  readonly #source: ByteSource;
  readonly #pool: BytePool;
  readonly #taken: Buffer[] = [];
  readonly #calls = new Map<string, PlacedCall>();
  /** The calls before the first record whose call was not near, the last first, as far as they were read. */
  #earlier: { readonly unread: Generator<PlacedCall>; readonly read: Map<string, PlacedCall> } | undefined;
  #searches = 0;
  #model: KnownModel | undefined;
  #unread: { readonly start: number; readonly line: Buffer } | undefined;
  #time: KnownTime | undefined;
  #held: { readonly base: number; readonly bytes: Buffer } | undefined;

  /** `model`: the last turn's before the page, where the page before this one told it. */
  constructor(source: ByteSource, pool: BytePool, model?: KnownModel) {
    this.#source = source;
    this.#pool = pool;
    this.#back = new LookBack(source, LOOK_BACK_BYTES, pool);
    this.#model = model;
  }

  /** Gives the bytes that were read back to the pool: no line that was told of may be looked at any more. */
  close(): void {
    this.#back.close();
    this.#held = undefined;
    this.#pool.give(this.#taken);
    this.#taken.length = 0;
  }

  /** The last turn's model that was met or looked up. */
  get lastModel(): KnownModel | undefined {
    if (this.#unread !== undefined) this.#model = { start: this.#unread.start, model: modelIn(this.#unread.line) };
    this.#unread = undefined;
    return this.#model;
  }

  /** Notes a call of the page at hand. */
  noteCall(call: PlacedCall): void {
    if (call.callId !== undefined) this.#calls.set(call.callId, call);
  }

  /** Notes a turn's context of the page at hand; it is read when its model is asked for. */
  noteModel(start: number, line: Buffer): void {
    this.#unread = { start, line };
  }

  /** The last call with this id before `start`. Asked for in the order of records, of which every call was noted. */
  call(callId: string, start: ByteOffset): PlacedCall | undefined {
    const call = this.#calls.get(callId) ?? this.#earlierCall(callId, start);
    return call !== undefined && call.start >= start - LOOK_BACK_BYTES ? call : undefined;
  }

  #earlierCall(callId: string, start: ByteOffset): PlacedCall | undefined {
    const sought = this.#earlier === undefined ? this.#soughtCall(callId, start) : "given up";
    return sought === "given up" ? this.#readCall(callId, start) : sought;
  }

  /** The call as a search for its id finds it, which is cheap as long as few are sought far back. */
  #soughtCall(callId: string, start: ByteOffset): PlacedCall | undefined | "given up" {
    if (this.#searches === MOST_SEARCHES) return "given up";
    let left = MOST_PLACES;
    for (const line of this.#lines(Buffer.from(JSON.stringify(callId)), start)) {
      if (left-- <= 0) return "given up";
      const call = placedCalls(line).find((placed) => placed.callId === callId);
      if (call === undefined) continue;
      if (call.start < this.#nearStart(start)) this.#searches++;
      return call;
    }
    this.#searches++;
    return undefined;
  }

  /** The call as reading the calls of the window finds it, the last first, each read once for all records of the page. */
  #readCall(callId: string, start: ByteOffset): PlacedCall | undefined {
    this.#earlier ??= { unread: this.#callsBefore(start), read: new Map() };
    const { unread, read } = this.#earlier;
    const known = read.get(callId);
    if (known !== undefined) return known;
    for (let next = unread.next(); next.done !== true; next = unread.next()) {
      const call = next.value;
      if (call.callId === undefined || read.has(call.callId)) continue;
      read.set(call.callId, call);
      if (call.callId === callId) return call;
    }
    return undefined;
  }

  *#callsBefore(start: ByteOffset): Generator<PlacedCall> {
    for (const line of this.#lines(CALL_TYPE, start)) {
      if (line.start < start - LOOK_BACK_BYTES) return;
      yield* placedCalls(line);
    }
  }

  /** The model that the last `turn_context` before `start` names, when that is near. */
  model(start: ByteOffset): string | undefined {
    const near = start - MODEL_BYTES;
    const known = this.lastModel;
    if (known !== undefined) return known.start >= near ? known.model : undefined;
    for (const line of this.#lines(TURN_CONTEXT, start, { most: MOST_PLACES, window: MODEL_BYTES })) {
      if (glanceAt(line.bytes).type !== "turn_context") continue;
      const model = modelIn(line.bytes);
      this.#model = { start: line.start, model };
      return model;
    }
    this.#model = { start, model: undefined };
    return undefined;
  }

  /** The time of the last record before `start` that has one. What was looked through for an earlier record is not again. */
  time(start: ByteOffset): EpochMs | undefined {
    const known = this.#time !== undefined && this.#time.sought <= start ? this.#time : undefined;
    const window = start - LOOK_BACK_BYTES;
    let { found } = known ?? {};
    for (const line of this.#lines(TIMESTAMP, start, { lowest: known?.sought ?? 0 })) {
      if (line.start < window) break;
      const at = timeOf(asObject(parseRecords(line.bytes)[0])?.timestamp);
      if (at === undefined) continue;
      found = { start: line.start, at };
      break;
    }
    this.#time = { sought: start, ...(found && { found }) };
    return found !== undefined && found.start >= window ? found.at : undefined;
  }

  /** The calls that spawn agents before `start`, the last first. */
  *spawns(start: ByteOffset): Generator<PlacedCall> {
    for (const line of this.#lines(SPAWN, start)) {
      yield* placedCalls(line).filter(({ tool }) => tool === "spawn_agent");
    }
  }

  /** The lines before `start` in which `text` stands, the last first, each once. */
  *lines(text: string, start: ByteOffset): Generator<FoundLine> {
    yield* this.#lines(Buffer.from(text), start);
  }

  *#lines(needle: Buffer, start: ByteOffset, search: Search = {}): Generator<FoundLine> {
    const { lowest = 0, most = Number.MAX_SAFE_INTEGER, window = LOOK_BACK_BYTES } = search;
    let left = most;
    let last: number = start;
    for (const line of this.#nearLines(needle, start, lowest)) {
      if (left-- <= 0) return;
      last = line.start;
      yield line;
    }
    const from = Math.min(last, this.#nearStart(start));
    if (from <= lowest) return;
    for (const place of this.#back.places(needle, byteOffsetOf(from), Math.min(window, from - lowest))) {
      if (place >= last) continue;
      if (left-- <= 0) return;
      const line = this.#back.lineAround(place, PAGE_BYTES);
      if (line !== undefined) yield line;
      // Of a line that is too long to be one, which may hold the text any number of times, no other place is looked at.
      const begin = line?.start ?? this.#back.lastPlace(LINE_END, place);
      if (begin === undefined) return;
      last = begin;
    }
  }

  /** Lines in the few bytes before `start`: mostly what is looked for stands there. */
  *#nearLines(needle: Buffer, start: ByteOffset, lowest: number): Generator<FoundLine> {
    const base = Math.max(lowest, this.#nearStart(start));
    const bytes = this.#nearBytes(base, start);
    let end = bytes.length;
    while (end > 0) {
      const place = bytes.lastIndexOf(needle, end - needle.length);
      const first = place < 0 ? -1 : bytes.lastIndexOf(NEWLINE, place) + 1;
      // The first line of the window may have begun before it.
      if (place < 0 || end < needle.length || (first === 0 && base > lowest)) return;
      const newline = bytes.indexOf(NEWLINE, place);
      if (newline >= 0) yield { start: byteOffsetOf(base + first), bytes: bytes.subarray(first, newline) };
      end = first;
    }
  }

  #nearStart(start: number): number {
    return Math.max(0, start - NEAR_BYTES);
  }

  #nearBytes(base: number, start: number): Buffer {
    const held = this.#held;
    if (held !== undefined && held.base <= base && held.base + held.bytes.length >= start) {
      return held.bytes.subarray(base - held.base, start - held.base);
    }
    // More than is asked for: the next record's question is mostly answered by the same bytes.
    const wanted = start - base + NEAR_BYTES;
    const taken = this.#pool.take(wanted);
    this.#taken.push(taken);
    const target = taken.subarray(0, wanted);
    const bytes = target.subarray(0, this.#source.read(target, base));
    this.#held = { base, bytes };
    return bytes.subarray(0, start - base);
  }
}

/** The calls on a line, the last first. */
function placedCalls({ bytes, start }: FoundLine): PlacedCall[] {
  const calls = parseRecords(bytes).flatMap((value): PlacedCall[] => {
    const record = asObject(value);
    const call = record && callOf(payloadOf(record));
    return call === undefined ? [] : [{ ...call, start, at: timeOf(record?.timestamp) }];
  });
  return calls.reverse();
}

/** A raw item: the payload of an enveloped record, the record itself in a flat file. */
export function payloadOf(record: JsonObject): JsonObject {
  return asText(record.type) === "response_item" ? (asObject(record.payload) ?? {}) : record;
}
