import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { asText } from "../../platform/read.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import type { CallSpan, CallSpans, SpanRecord } from "./call-spans.ts";
import { withoutReturn } from "./lines.ts";
import { eventsOf, type RecordedEvent } from "./record.ts";
import { type CallSlot, finishCall, newCall, orphanCall, type RecordPlace, updateCall } from "./slots.ts";

const NEWLINE = 0x0a;

/** What is known of all that stands before a line (see `Numbering`). */
export interface FactsOfAll {
  /** Where the numbers fell back last, at or before the line. */
  fallAt(start: number): number | undefined;
  /** The calls up to the line, and what is on it. */
  callsTo(start: number): CallSpans;
}

/** What is asked of the lines of the file. */
interface Lines {
  /** The events of a line that fits in a page. */
  eventsAt(start: ByteOffset): readonly RecordedEvent[];
  /** What the record is called that is one of `events`, those of its line. */
  placeOf(
    record: { readonly start: ByteOffset; readonly index: number },
    size: number,
    events: readonly RecordedEvent[],
  ): RecordPlace;
}

interface ReadRecord {
  readonly event: RecordedEvent;
  readonly index: number;
  /** Those of its line. */
  readonly events: readonly RecordedEvent[];
}

/**
 * Calls whose records lie more than 8 MiB apart, put together of the few records that tell what they came to: by where their
 * records stand, so that one that grew through megabytes is not read again for each page.
 */
export class FarCalls {
  readonly #source: ByteSource;
  readonly #facts: FactsOfAll;
  readonly #lines: Lines;

  constructor(source: ByteSource, facts: FactsOfAll, lines: Lines) {
    this.#source = source;
    this.#facts = facts;
    this.#lines = lines;
  }

  /** Whether a record tells more of a call whose other records stand further back than 8 MiB. */
  continues(callId: string, start: number, kind: "call" | "result"): boolean {
    const span = this.#facts.callsTo(start).at(callId, start);
    if (span === undefined || span.first === start) return false;
    // A second result stands for itself.
    return kind === "call" || ![...span.before(start)].some((record) => record.kind === "result");
  }

  /** The call that begins at `start`, of all its records up to `end`; undefined when no such one does. */
  whole(start: number, end: number, mostBytes: number): CallSlot | undefined {
    const span = this.#facts.callsTo(end).begunAt(start);
    return span && this.#put(span, [...span.before(end)].reverse(), end, mostBytes);
  }

  /** The call as it stood before `before`, as far as its records follow each other within 8 MiB. */
  callBefore(span: CallSpan, before: number): CallSlot | undefined {
    const records: SpanRecord[] = [];
    let next = before;
    for (const record of span.before(before)) {
      if (record.kind === "question" || record.isLong) continue;
      if (next - record.start > LOOK_BACK_BYTES) break;
      next = record.start;
      records.push(record);
    }
    records.reverse();
    const first = records.findIndex(({ kind }) => kind === "call");
    return first < 0 ? undefined : this.#put(span, records.slice(first), before, PAGE_BYTES - 1);
  }

  #put(span: CallSpan, records: readonly SpanRecord[], before: number, mostBytes: number): CallSlot | undefined {
    const { callId } = span;
    const [first] = records;
    const read = first && this.#read(callId, first, mostBytes);
    if (first === undefined || read === undefined) return undefined;
    const place = this.#lines.placeOf({ start: byteOffsetOf(first.start), index: read.index }, 0, read.events);
    const call = newCall(place, callId, read.event.fields, first.start > span.first);
    const told = records.findLast(({ tells }) => tells);
    const event = told && this.#read(callId, told, mostBytes)?.event;
    if (told !== undefined && event !== undefined) updateCall(call, { start: told.start, size: 0 }, event.fields);
    const named = records.findLast(({ names }) => names);
    if (named !== undefined)
      call.tool = asText(this.#read(callId, named, mostBytes)?.event.fields.toolName) ?? call.tool;
    this.#finish(call, records, mostBytes);
    call.lastStart = records.at(-1)?.start ?? call.start;
    const border = this.#facts.callsTo(before).borderBefore(before);
    if (call.state === "open" && border !== undefined && border > call.start) orphanCall(call);
    return call;
  }

  #finish(call: CallSlot, records: readonly SpanRecord[], mostBytes: number): void {
    let last = call.start;
    for (const record of records) {
      if (record.kind === "question") continue;
      const isFirst = call.state === "open";
      if (record.kind === "result") {
        // Later ones are told where they stand.
        if (call.state === "done" || !(isFirst || record.start - last <= LOOK_BACK_BYTES)) return;
        const event = this.#read(call.callId, record, mostBytes)?.event;
        if (event !== undefined) finishCall(call, record.start, event.fields);
      }
      last = record.start;
    }
  }

  /** One of a call's records, read; undefined where it is too long for that. */
  #read(callId: string, { start, kind, isLong }: SpanRecord, mostBytes: number): ReadRecord | undefined {
    const events = isLong ? this.#longLine(start, mostBytes) : this.#lines.eventsAt(byteOffsetOf(start));
    const index = events.findIndex((event) => event.fields.toolCallId === callId && event.kind === `tool-${kind}`);
    const event = events[index];
    return event && { event, index, events };
  }

  #longLine(start: number, mostBytes: number): readonly RecordedEvent[] {
    const parts: Buffer[] = [];
    for (let at = start; at < this.#source.size && at - start <= mostBytes; at += PAGE_BYTES) {
      const part = readRange(this.#source, at, at + PAGE_BYTES);
      const newline = part.indexOf(NEWLINE);
      parts.push(newline < 0 ? part : part.subarray(0, newline));
      if (newline < 0) continue;
      return at + newline - start > mostBytes ? [] : eventsOf(withoutReturn(Buffer.concat(parts)));
    }
    return [];
  }
}
