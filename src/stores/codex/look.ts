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
const TIMESTAMP = Buffer.from('"timestamp"');
const TURN_CONTEXT = Buffer.from('"turn_context"');
const SPAWN = Buffer.from('"spawn_agent"');
/** How far back the model is looked for: a file without turns' contexts would cost the whole window for every page. */
const MODEL_BYTES = 1024 * 1024;
/** How many places of a text are looked at before it is given up. */
const MOST_PLACES = 16;

/** The model of a turn and where its record stands; without a model: there is no such record shortly before `start`. */
export interface KnownModel {
  readonly start: number;
  readonly model: string | undefined;
}

interface FoundLine {
  readonly start: ByteOffset;
  readonly bytes: Buffer;
}

/**
 * What stands before a record, no further back than 8 MiB: the call that it answers, the last time, the model. What was
 * found while a page is made is kept for its later records; the answer is the same wherever the page began.
 */
export class Before {
  readonly #back: LookBack;
  readonly #modelBack: LookBack;
  readonly #source: ByteSource;
  readonly #pool: BytePool;
  readonly #taken: Buffer[] = [];
  readonly #calls = new Map<string, PlacedCall>();
  #model: KnownModel | undefined;
  #unread: { readonly start: number; readonly line: Buffer } | undefined;
  #noTimeBefore = -1;
  #held: { readonly base: number; readonly bytes: Buffer } | undefined;

  /** `model`: the last turn's before the page, where the page before this one told it. */
  constructor(source: ByteSource, pool: BytePool, model?: KnownModel) {
    this.#source = source;
    this.#pool = pool;
    this.#back = new LookBack(source, LOOK_BACK_BYTES, pool);
    this.#modelBack = new LookBack(source, MODEL_BYTES, pool);
    this.#model = model;
  }

  /** Gives the bytes that were read back to the pool: no line that was told of may be looked at any more. */
  close(): void {
    this.#back.close();
    this.#modelBack.close();
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

  /** The last call with this id before `start`. */
  call(callId: string, start: ByteOffset): PlacedCall | undefined {
    const noted = this.#calls.get(callId);
    if (noted !== undefined) return noted;
    for (const line of this.#lines(Buffer.from(JSON.stringify(callId)), start)) {
      const call = placedCall(line.bytes, line.start);
      if (call?.callId === callId) return call;
    }
    return undefined;
  }

  /** The model that the last `turn_context` before `start` names, when that is near. */
  model(start: ByteOffset): string | undefined {
    const near = start - MODEL_BYTES;
    const known = this.lastModel;
    if (known !== undefined) return known.start >= near ? known.model : undefined;
    for (const line of this.#lines(TURN_CONTEXT, start, MOST_PLACES, this.#modelBack)) {
      if (glanceAt(line.bytes).type !== "turn_context") continue;
      const model = modelIn(line.bytes);
      this.#model = { start: line.start, model };
      return model;
    }
    this.#model = { start, model: undefined };
    return undefined;
  }

  /** The time of the last record before `start` that has one. */
  time(start: ByteOffset): EpochMs | undefined {
    for (const line of this.#lines(TIMESTAMP, start)) {
      if (line.start < this.#noTimeBefore) break;
      const at = timeOf(asObject(parseRecords(line.bytes)[0])?.timestamp);
      if (at !== undefined) return at;
    }
    this.#noTimeBefore = start;
    return undefined;
  }

  /** The calls that spawn agents before `start`, the last first. */
  *spawns(start: ByteOffset): Generator<PlacedCall> {
    for (const line of this.#lines(SPAWN, start, Number.MAX_SAFE_INTEGER)) {
      const call = placedCall(line.bytes, line.start);
      if (call?.tool === "spawn_agent") yield call;
    }
  }

  /** The lines before `start` in which `text` stands, the last first, each once. */
  *lines(text: string, start: ByteOffset): Generator<FoundLine> {
    yield* this.#lines(Buffer.from(text), start, Number.MAX_SAFE_INTEGER);
  }

  *#lines(
    needle: Buffer,
    start: ByteOffset,
    most: number = MOST_PLACES,
    back: LookBack = this.#back,
  ): Generator<FoundLine> {
    let left = most;
    let last: number = start;
    for (const line of this.#nearLines(needle, start)) {
      if (left-- <= 0) return;
      last = line.start;
      yield line;
    }
    const from = Math.min(last, this.#nearStart(start));
    if (from <= 0) return;
    for (const place of back.places(needle, byteOffsetOf(from))) {
      if (place >= last) continue;
      if (left-- <= 0) return;
      const line = back.lineAround(place, PAGE_BYTES);
      if (line === undefined || line.start >= last) continue;
      last = line.start;
      yield line;
    }
  }

  /** Lines in the few bytes before `start`: mostly what is looked for stands there. */
  *#nearLines(needle: Buffer, start: ByteOffset): Generator<FoundLine> {
    const base = this.#nearStart(start);
    const bytes = this.#nearBytes(base, start);
    let end = bytes.length;
    while (end > 0) {
      const place = bytes.lastIndexOf(needle, end - needle.length);
      const first = place < 0 ? -1 : bytes.lastIndexOf(NEWLINE, place) + 1;
      // The first line of the window may have begun before it.
      if (place < 0 || end < needle.length || (first === 0 && base > 0)) return;
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
    const taken = this.#pool.take(start - base);
    this.#taken.push(taken);
    const target = taken.subarray(0, start - base);
    const bytes = target.subarray(0, this.#source.read(target, base));
    this.#held = { base, bytes };
    return bytes;
  }
}

/** The call that a line is, if it is one. */
function placedCall(line: Buffer, start: number): PlacedCall | undefined {
  const record = asObject(parseRecords(line)[0]);
  const call = record && callOf(payloadOf(record));
  return call && { ...call, start: byteOffsetOf(start), at: timeOf(record.timestamp) };
}

/** A raw item: the payload of an enveloped record, the record itself in a flat file. */
export function payloadOf(record: JsonObject): JsonObject {
  return asText(record.type) === "response_item" ? (asObject(record.payload) ?? {}) : record;
}
