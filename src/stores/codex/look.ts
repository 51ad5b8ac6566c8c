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

const TIMESTAMP = Buffer.from('"timestamp"');
const TURN_CONTEXT = Buffer.from('"turn_context"');
const SPAWN = Buffer.from('"spawn_agent"');
/** How many places of a text are looked at before it is given up. */
const MOST_PLACES = 16;

/**
 * What stands before a record, no further back than 8 MiB: the call that it answers, the last time, the model. What was
 * found while a page is made is kept for its later records; the answer is the same wherever the page began.
 */
export class Before {
  readonly #back: LookBack;
  readonly #calls = new Map<string, PlacedCall>();
  #model: { readonly start: number; readonly model: string | undefined } | undefined;
  #noModelFrom: number | undefined;
  #noTimeBefore = -1;

  constructor(source: ByteSource) {
    this.#back = new LookBack(source);
  }

  /** Notes a call of the page at hand. */
  noteCall(call: PlacedCall): void {
    if (call.callId !== undefined) this.#calls.set(call.callId, call);
  }

  /** Notes the model of a turn of the page at hand. */
  noteModel(start: number, line: Buffer): void {
    this.#model = { start, model: modelIn(line) };
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

  /** The model that the last `turn_context` before `start` names. */
  model(start: ByteOffset): string | undefined {
    if (this.#model !== undefined && start - this.#model.start <= LOOK_BACK_BYTES) return this.#model.model;
    if (this.#noModelFrom !== undefined) return undefined;
    for (const line of this.#lines(TURN_CONTEXT, start)) {
      if (glanceAt(line.bytes).type !== "turn_context") continue;
      this.noteModel(line.start, line.bytes);
      return this.#model?.model;
    }
    this.#noModelFrom = start;
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
  *lines(text: string, start: ByteOffset): Generator<{ readonly start: ByteOffset; readonly bytes: Buffer }> {
    yield* this.#lines(Buffer.from(text), start, Number.MAX_SAFE_INTEGER);
  }

  *#lines(
    needle: Buffer,
    start: ByteOffset,
    most: number = MOST_PLACES,
  ): Generator<{ readonly start: ByteOffset; readonly bytes: Buffer }> {
    let left = most;
    let last = -1;
    for (const place of this.#back.places(needle, start)) {
      if (last >= 0 && place >= last) continue;
      if (left-- <= 0) return;
      const line = this.#back.lineAround(place, PAGE_BYTES);
      if (line === undefined || line.start >= start) continue;
      last = line.start;
      yield line;
    }
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
