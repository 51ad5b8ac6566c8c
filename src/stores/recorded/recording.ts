import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import { type JsonlLine, pageBuffer, readPage } from "../../jsonl/page.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import { CallNamings } from "./call-namings.ts";
import { type Earlier, Fold, permissionOf, slotHead } from "./fold.ts";
import { eventsOf, isCommandRecord, type RecordedEvent } from "./record.ts";
import { type CallSlot, finishCall, newCall, type PermissionSlot, updateCall } from "./slots.ts";

const NEWLINE = 0x0a;
const USER_PROMPT = Buffer.from('"user-prompt"');
const TURN_END = Buffer.from('"turn-end"');
const TIME = Buffer.from('"ts":');
/** How a file begins anew, by how its writer puts its JSON. */
const FIRST_SEQ = Buffer.from('{"seq":1,');
const FIRST_SEQ_SPACED = Buffer.from('{"seq": 1,');

/** Records of one call that are looked at, so that an id that is used again and again costs no more. */
const RECORDS_OF_CALL = 64;

/** Bytes at a file's start in which its first time is looked for. */
const HEADER_BYTES = 64 * 1024;

/** Where reading stands between two records. */
export interface Pass {
  readonly fold: Fold;
  /** The time of the last record that stated one. */
  lastAt: EpochMs | undefined;
  lastSeq: number | undefined;
  /** Where the numbers last began anew, if they did. */
  restart: number | undefined;
}

/**
 * An open recording while one answer is made from it. All that it tells of a record follows from that record and from the
 * 8 MiB before it.
 */
export class Recording implements Earlier {
  readonly source: ByteSource;
  readonly #before: LookBack;
  readonly #namings: CallNamings;
  readonly #badLine: (start: number) => void;

  constructor(source: ByteSource, badLine: (start: number) => void) {
    this.source = source;
    this.#before = new LookBack(source);
    this.#namings = new CallNamings(this.#before);
    this.#badLine = badLine;
  }

  /** A pass that stands at the record that starts at `start`: the records of its turn before it have been taken in. */
  async passAt(start: ByteOffset): Promise<Pass> {
    const from =
      this.#lastOf(USER_PROMPT, "user-prompt", start) ?? this.#lineFrom(Math.max(0, start - LOOK_BACK_BYTES), start);
    const pass: Pass = {
      fold: new Fold(),
      lastAt: this.#timeBefore(from),
      lastSeq: this.#lastEventBefore(from)?.seq,
      restart: this.#restartBefore(from),
    };
    for await (const line of this.#lines(from, start)) this.feed(pass, line);
    pass.fold.take();
    return pass;
  }

  /** Takes in a line; one that is no record is passed over, and told to whoever counts those. */
  feed(pass: Pass, line: JsonlLine): void {
    const { start } = line;
    const pos = formatJsonlCursor({ offset: start, discarding: false });
    if (line.kind === "oversized") {
      pass.fold.oversized({ start, pos, id: `e@${start}`, at: this.#at(pass, undefined) }, line.end - start);
      return;
    }
    const events = eventsOf(line.bytes);
    if (events.length === 0 && line.bytes.length > 0 && !(start === 0 && isCommandRecord(line.bytes))) {
      this.#badLine(start);
    }
    for (const event of events) {
      const id = idOf(event, start, pass);
      pass.fold.push(event, { start, pos, id, at: this.#at(pass, event.at) }, this);
      pass.lastSeq = event.seq ?? pass.lastSeq;
    }
  }

  /** The lines from `from` on, until `enough` or the end, at most 8 MiB of them. */
  async feedUntil(pass: Pass, from: ByteOffset, enough: () => boolean): Promise<void> {
    if (enough()) return;
    for await (const line of this.#lines(from, byteOffsetOf(Math.min(this.source.size, from + LOOK_BACK_BYTES)))) {
      this.feed(pass, line);
      if (enough()) return;
    }
  }

  call(callId: string, before: number): CallSlot | undefined {
    const records: { readonly event: RecordedEvent; readonly start: number }[] = [];
    let announced = false;
    for (const { event, start } of this.#recordsOf(callId, before)) {
      if (event.kind !== "tool-call" && event.kind !== "tool-result") continue;
      if (event.kind === "tool-result" && announced) break;
      announced ||= event.kind === "tool-call" && event.fields.isUpdate !== true;
      records.push({ event, start });
      if (records.length >= RECORDS_OF_CALL) break;
    }
    let call: CallSlot | undefined;
    for (const { event, start } of records.reverse()) {
      if (event.kind === "tool-result") {
        if (call !== undefined) finishCall(call, start, event.fields);
      } else if (call !== undefined && (event.fields.isUpdate === true || this.#goesOn(call, start))) {
        updateCall(call, start, event.fields);
      } else call = newCall(slotHead(this.#placeOf(event, start)), callId, event.fields);
    }
    return call;
  }

  permission(callId: string, before: number): PermissionSlot | undefined {
    for (const { event, start } of this.#recordsOf(callId, before)) {
      if (event.kind === "permission-resolved") return undefined;
      if (event.kind !== "agent-prompt") continue;
      const tool = this.call(callId, start)?.tool;
      return permissionOf(event.fields, slotHead(this.#placeOf(event, start)), tool);
    }
    return undefined;
  }

  /** Whether a call that is announced again at `start` is still the same: it has no result, and its turn goes on. */
  #goesOn(call: CallSlot, start: number): boolean {
    if (call.state !== "open") return false;
    const ends = [this.#lastOf(TURN_END, "turn-end", start), this.#lastOf(USER_PROMPT, "user-prompt", start)];
    return ends.every((end) => end === undefined || end < call.start);
  }

  /** The records before `before` that name the call `callId`, the last first. */
  *#recordsOf(callId: string, before: number): Generator<{ event: RecordedEvent; start: number }> {
    let last = before;
    for (const place of this.#namings.of(callId, before)) {
      if (place >= last) continue;
      const line = this.#before.lineAround(byteOffsetOf(place), PAGE_BYTES - 1);
      if (line === undefined || line.start < before - LOOK_BACK_BYTES) continue;
      last = line.start;
      for (const event of eventsOf(line.bytes).reverse()) {
        if (event.fields.toolCallId === callId) yield { event, start: line.start };
      }
    }
  }

  /** The place of a record that is met by looking back, called as it is when it is read in its turn. */
  #placeOf(
    event: RecordedEvent,
    start: number,
  ): { id: string; pos: ReturnType<typeof formatJsonlCursor>; at: EpochMs; start: number } {
    const offset = byteOffsetOf(start);
    const pass = {
      lastAt: event.at ?? this.#timeBefore(start),
      lastSeq: this.#lastEventBefore(offset)?.seq,
      restart: this.#restartBefore(start),
    };
    return {
      id: idOf(event, start, pass),
      pos: formatJsonlCursor({ offset, discarding: false }),
      at: pass.lastAt ?? this.#startTime(),
      start,
    };
  }

  #at(pass: Pass, stated: EpochMs | undefined): EpochMs {
    pass.lastAt = stated ?? pass.lastAt;
    return pass.lastAt ?? this.#startTime();
  }

  /** Where the last record of a kind (that `needle` tells) before `start` stands. */
  #lastOf(needle: Buffer, kind: string, start: number): ByteOffset | undefined {
    for (const place of this.#before.places(needle, byteOffsetOf(start))) {
      const line = this.#before.lineAround(place, PAGE_BYTES - 1);
      if (line === undefined || line.start < start - LOOK_BACK_BYTES) continue;
      if (eventsOf(line.bytes).some((event) => event.kind === kind)) return line.start;
    }
    return undefined;
  }

  #restartBefore(start: number): number | undefined {
    const spaced = readRange(this.source, 0, 8).toString("latin1") === '{"seq": ';
    const place = this.#before.lastPlace(spaced ? FIRST_SEQ_SPACED : FIRST_SEQ, byteOffsetOf(start));
    return place === undefined || place === 0 ? undefined : place;
  }

  #timeBefore(start: number): EpochMs | undefined {
    for (const place of this.#before.places(TIME, byteOffsetOf(start))) {
      const at = timeAt(this.#before.slice(place, place + 48));
      if (at !== undefined) return at;
    }
    return undefined;
  }

  #startTime(): EpochMs {
    const head = readRange(this.source, 0, HEADER_BYTES);
    for (let place = head.indexOf(TIME); place >= 0; place = head.indexOf(TIME, place + 1)) {
      const at = timeAt(head.subarray(place));
      if (at !== undefined) return at;
    }
    return 0 as EpochMs;
  }

  /** The last event on the line that ends at `start`. */
  #lastEventBefore(start: ByteOffset): RecordedEvent | undefined {
    if (start < 2) return undefined;
    const line = this.#before.lineAround(byteOffsetOf(start - 2), PAGE_BYTES - 1);
    return line === undefined ? undefined : eventsOf(line.bytes).at(-1);
  }

  /** Where the first line that begins at or behind `lowest` starts. */
  #lineFrom(lowest: number, end: ByteOffset): ByteOffset {
    if (lowest === 0) return byteOffsetOf(0);
    for (let from = lowest - 1; from < end; from += PAGE_BYTES) {
      const newline = this.#before.slice(from, Math.min(from + PAGE_BYTES, end)).indexOf(NEWLINE);
      if (newline >= 0) return byteOffsetOf(from + newline + 1);
    }
    return end;
  }

  /** The lines from the one that starts at `from` up to `end`. */
  async *#lines(from: ByteOffset, end: ByteOffset): AsyncGenerator<JsonlLine> {
    const breather = new Breather();
    const buffer = pageBuffer(PAGE_BYTES);
    for (let cursor = { offset: from, discarding: false }; cursor.offset < end; ) {
      const page = await readPage(this.source, cursor, buffer);
      for (const line of page.lines) {
        if (line.start >= end) return;
        yield line;
      }
      if (page.next.offset <= cursor.offset) return;
      cursor = page.next;
      await breather.pause();
    }
  }
}

/**
 * What an item is called by its first record: `e<seq>`. Where a writer counted from 1 again, or gave a number twice, the
 * place in the file tells its records from the earlier ones of the same number.
 */
function idOf(event: RecordedEvent, start: number, pass: Omit<Pass, "fold">): string {
  const { seq } = event;
  if (seq === undefined) return `e@${start}`;
  if (seq === 1 && start > 0) pass.restart = start;
  if (pass.restart !== undefined && start - pass.restart <= LOOK_BACK_BYTES) return `e${seq}-${pass.restart}`;
  return pass.lastSeq !== undefined && seq <= pass.lastSeq ? `e${seq}-${start}` : `e${seq}`;
}

function timeAt(bytes: Buffer): EpochMs | undefined {
  return epochMsFromIso(/^"ts":\s*"([^"\\]{1,40})"/.exec(bytes.toString("latin1", 0, 48))?.[1]);
}
