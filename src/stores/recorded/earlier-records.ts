import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import { CallNamings } from "./call-namings.ts";
import { type FactsOfAll, FarCalls } from "./far-calls.ts";
import type { Earlier } from "./fold.ts";
import { eventsOf, type RecordedEvent } from "./record.ts";
import {
  type CallSlot,
  finishCall,
  newCall,
  orphanCall,
  type PermissionSlot,
  permissionOf,
  type RecordPlace,
  updateCall,
} from "./slots.ts";

const NEWLINE = 0x0a;
const TIME = Buffer.from('"ts":');
const SEQ = Buffer.from('"seq":');
const KINDS = { "user-prompt": Buffer.from('"user-prompt"'), "turn-end": Buffer.from('"turn-end"') } as const;

/** Bytes at a file's start in which its first time is looked for. */
const HEADER_BYTES = 64 * 1024;
/** Lines whose events are kept: what is asked of a place is mostly asked of the same few lines. */
const KEPT_LINES = 16;

/** What reading has learnt of the records before a place. */
export interface Standing {
  /** The time of the last record that stated one. */
  lastAt: EpochMs | undefined;
  lastSeq: number | undefined;
}

/** An event before the place in hand: its line, and which of the line's events it is. */
interface Place {
  readonly start: ByteOffset;
  readonly index: number;
}

interface EventsLine {
  readonly start: ByteOffset;
  readonly events: readonly RecordedEvent[];
}

/** A record that names a call. */
interface Naming extends Place {
  readonly kind: string;
  readonly isUpdate: boolean;
  /** Bytes of its line. */
  readonly size: number;
}

/**
 * What stands in a recording before a place, no further back than 8 MiB. It says of a record what a fold that was handed
 * over all the records before it holds of that; both must go by the same rules, since pages begin anywhere.
 */
export class EarlierRecords implements Earlier {
  readonly #source: ByteSource;
  readonly #back: LookBack;
  readonly #namings: CallNamings;
  readonly #lines = new Map<number, readonly RecordedEvent[]>();
  readonly #named = new Map<number, readonly (Naming & { readonly callId: unknown })[]>();
  /** Ids of which no call stands before a place: what is asked behind it need not look further back than that. */
  readonly #withoutCall = new Map<string, number>();
  readonly #lasts = new Map<string, { readonly before: number; readonly found: Place | undefined }>();
  readonly #withoutQuestion = new Map<string, number>();
  readonly #facts: FactsOfAll;
  readonly #far: FarCalls;
  #start: EpochMs | undefined;

  constructor(source: ByteSource, pool: BytePool, facts: FactsOfAll) {
    this.#source = source;
    this.#facts = facts;
    this.#back = new LookBack(source, LOOK_BACK_BYTES, pool);
    this.#namings = new CallNamings(this.#back);
    this.#far = new FarCalls(source, facts, {
      eventsAt: (start) => this.#eventsAt(start),
      placeOf: (record, size, events) => this.#placeOf(record, size, events),
    });
  }

  /** Gives back what was read. */
  close(): void {
    this.#back.close();
  }

  /** What a reader that stands at `start` knows of the records before. */
  standingAt(start: ByteOffset): Standing {
    return { lastAt: this.#timeBefore(start), lastSeq: this.#seqBefore(start) };
  }

  /** The session's start: the first time near the start of the file, else 0. */
  startTime(): EpochMs {
    this.#start ??= firstTime(readRange(this.#source, 0, HEADER_BYTES)) ?? (0 as EpochMs);
    return this.#start;
  }

  /** Where the turn that `start` is in begins with a line of its own, else the first line of the 8 MiB before `start`. */
  turnStart(start: ByteOffset): ByteOffset {
    for (const line of this.#linesWith(KINDS["user-prompt"], start)) {
      if (line.events[0]?.kind === "user-prompt") return line.start;
    }
    return this.#lineFrom(Math.max(0, start - LOOK_BACK_BYTES), start);
  }

  call(callId: string, before: number): CallSlot | undefined {
    const last = this.#lastRecordOf(callId, before);
    if (last === undefined) return undefined;
    const span = this.#facts.callsTo(before).at(callId, last.start);
    if (span !== undefined) return this.#far.callBefore(span, before);
    const records = this.#recordsOfCall(callId, before);
    const [first, ...rest] = records;
    if (first === undefined) return undefined;
    const call = newCall(this.#placeOf(first, first.size), callId, this.#event(first).fields);
    for (const record of rest) {
      const { fields } = this.#event(record);
      if (record.kind === "tool-result") finishCall(call, record.start, fields);
      else updateCall(call, record, fields);
    }
    const border = call.state === "open" ? this.#turnBorder({ start: byteOffsetOf(before), index: 0 }) : undefined;
    if (border !== undefined && isBehind(border, first)) orphanCall(call);
    return call;
  }

  permission(callId: string, before: number): PermissionSlot | undefined {
    const none = lowestOf(this.#withoutQuestion.get(callId), before);
    for (const record of this.#recordsOf(callId, before)) {
      if (record.start < none || record.kind === "permission-resolved") break;
      if (record.kind !== "agent-prompt") continue;
      const tool = this.call(callId, record.start)?.tool;
      return permissionOf(this.#event(record).fields, this.#placeOf(record, record.size), tool);
    }
    this.#withoutQuestion.set(callId, before);
    return undefined;
  }

  continues(callId: string, start: number, kind: "call" | "result"): boolean {
    return this.#far.continues(callId, start, kind);
  }

  /**
   * The call whose first record stands at `start`, with all of its records up to `end`, when these are too far apart to be put
   * together by looking back. Records of up to `mostBytes` are read for it.
   */
  wholeFarCall(start: ByteOffset, end: ByteOffset, mostBytes: number): CallSlot | undefined {
    return this.#far.whole(start, end, mostBytes);
  }

  #lastRecordOf(callId: string, before: number): Naming | undefined {
    const none = lowestOf(this.#withoutCall.get(callId), before);
    for (const record of this.#recordsOf(callId, before)) {
      if (record.start < none) return undefined;
      if (record.kind === "tool-call" || record.kind === "tool-result") return record;
    }
    this.#withoutCall.set(callId, before);
    return undefined;
  }

  /**
   * The records of the last call `callId` before `before`, the one that begins it first. A call begins where it is
   * announced, unless it is only announced again: in the same turn, and without a result since. Where no announcement is
   * left, the first update stands for it.
   */
  #recordsOfCall(callId: string, before: number): Naming[] {
    const records: Naming[] = [];
    const none = lowestOf(this.#withoutCall.get(callId), before);
    let first: number | undefined;
    let border: Place | undefined;
    for (const record of this.#recordsOf(callId, before)) {
      const { kind, isUpdate } = record;
      if (kind !== "tool-call" && kind !== "tool-result") continue;
      const isAnnouncement = kind === "tool-call" && !isUpdate;
      if (first === undefined) {
        if (record.start < none) break;
        if (isAnnouncement) border = this.#turnBorder(record);
      } else if (kind === "tool-result" || (border !== undefined && isBehind(border, record))) break;
      if (isAnnouncement) first = records.length;
      records.push(record);
    }
    first ??= records.findLastIndex(({ kind }) => kind === "tool-call");
    if (first < 0) this.#withoutCall.set(callId, before);
    return records.slice(0, first + 1).reverse();
  }

  /** The records before `before` that name the call `callId`, the last first. */
  *#recordsOf(callId: string, before: number): Generator<Naming> {
    let last = before;
    for (const place of this.#namings.of(callId, before)) {
      if (place >= last) continue;
      const line = this.#back.lineAround(byteOffsetOf(place), PAGE_BYTES - 1);
      if (line === undefined || line.start < before - LOOK_BACK_BYTES) continue;
      last = line.start;
      for (const naming of this.#namingsOn(line).toReversed()) if (naming.callId === callId) yield naming;
    }
  }

  #namingsOn({ start, bytes }: { readonly start: ByteOffset; readonly bytes: Buffer }): readonly (Naming & {
    readonly callId: unknown;
  })[] {
    const known = this.#named.get(start);
    if (known !== undefined) return known;
    const namings = this.#eventsOn(start, bytes).map(({ kind, fields }, index) => {
      const isUpdate = fields.isUpdate === true;
      return { start, index, kind, isUpdate, size: bytes.length, callId: fields.toolCallId };
    });
    this.#named.set(start, namings);
    return namings;
  }

  /** The place of a record that is met by looking back, called as it is when it is read in its turn. */
  #placeOf({ start, index }: Place, size: number, events = this.#eventsAt(start)): RecordPlace {
    const standing = this.standingAt(start);
    for (const event of events.slice(0, index)) noteEvent(standing, event);
    const event = events[index];
    if (event === undefined) throw new Error("a record that was there is not");
    const id = idOf(event, start, standing.lastSeq, this.#facts.fallAt(start));
    noteEvent(standing, event);
    return {
      id,
      pos: formatJsonlCursor({ offset: start, discarding: false }),
      at: standing.lastAt ?? this.startTime(),
      start,
      size,
    };
  }

  /** Where the turn before `place` ended or its own began, whichever is later. */
  #turnBorder({ start, index }: Place): Place | undefined {
    const own = index === 0 ? -1 : this.#eventsAt(start).slice(0, index).findLastIndex(endsTurn);
    if (own >= 0) return { start, index: own };
    const prompt = this.#lastOf("user-prompt", start);
    const end = this.#lastOf("turn-end", start);
    if (prompt === undefined || end === undefined) return prompt ?? end;
    return isBehind(prompt, end) ? prompt : end;
  }

  /** The last record of a kind before `start`. */
  #lastOf(kind: keyof typeof KINDS, start: ByteOffset): Place | undefined {
    const known = this.#lasts.get(kind);
    if (known?.found !== undefined && known.found.start < start && start <= known.before) return known.found;
    const lowest = known !== undefined && known.before <= start ? known.before : -1;
    let found: Place | undefined;
    for (const line of this.#linesWith(KINDS[kind], start)) {
      if (line.start < lowest) {
        found = known?.found;
        break;
      }
      const index = line.events.findLastIndex((event) => event.kind === kind);
      if (index < 0) continue;
      found = { start: line.start, index };
      break;
    }
    this.#lasts.set(kind, { before: start, found });
    return found;
  }

  #timeBefore(start: ByteOffset): EpochMs | undefined {
    for (const { events } of this.#linesWith(TIME, start)) {
      const at = events.findLast((event) => event.at !== undefined)?.at;
      if (at !== undefined) return at;
    }
    return undefined;
  }

  #seqBefore(start: ByteOffset): number | undefined {
    for (const { events } of this.#linesWith(SEQ, start)) {
      const seq = events.findLast((event) => event.seq !== undefined)?.seq;
      if (seq !== undefined) return seq;
    }
    return undefined;
  }

  /** The lines before `start` in which `needle` stands, the last first, each once. */
  *#linesWith(needle: Buffer, start: ByteOffset): Generator<EventsLine> {
    let last: number = start;
    for (const place of this.#back.places(needle, start)) {
      if (place >= last) continue;
      const line = this.#back.lineAround(place, PAGE_BYTES - 1);
      if (line === undefined || line.start < start - LOOK_BACK_BYTES) continue;
      last = line.start;
      yield { start: line.start, events: this.#eventsOn(line.start, line.bytes) };
    }
  }

  #event({ start, index }: Place): RecordedEvent {
    const event = this.#eventsAt(start)[index];
    if (event === undefined) throw new Error("a record that was there is not");
    return event;
  }

  #eventsAt(start: ByteOffset): readonly RecordedEvent[] {
    const known = this.#lines.get(start);
    if (known !== undefined) return known;
    const line = this.#back.lineAround(start, PAGE_BYTES - 1);
    return line === undefined ? [] : this.#eventsOn(start, line.bytes);
  }

  #eventsOn(start: number, line: Buffer): readonly RecordedEvent[] {
    const known = this.#lines.get(start);
    if (known !== undefined) return known;
    const events = eventsOf(line);
    this.#lines.set(start, events);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > KEPT_LINES && oldest !== undefined) this.#lines.delete(oldest);
    return events;
  }

  /** Where the first line that begins at or behind `lowest` starts. */
  #lineFrom(lowest: number, end: ByteOffset): ByteOffset {
    if (lowest === 0) return byteOffsetOf(0);
    for (let from = lowest - 1; from < end; from += PAGE_BYTES) {
      const newline = this.#back.slice(from, Math.min(from + PAGE_BYTES, end)).indexOf(NEWLINE);
      if (newline >= 0) return byteOffsetOf(from + newline + 1);
    }
    return end;
  }
}

/**
 * What an item is called by its first record, which stands on the line at `start` behind one of the number `lastSeq`:
 * `e<seq>`. Where a writer's numbers fell back, the line on which they last did (`fall`) tells its records from the earlier
 * ones of the same number.
 */
export function idOf(
  { seq }: RecordedEvent,
  start: number,
  lastSeq: number | undefined,
  fall: number | undefined,
): string {
  if (seq === undefined) return `e@${start}`;
  if (lastSeq !== undefined && seq <= lastSeq) return `e${seq}-${start}`;
  return fall === undefined ? `e${seq}` : `e${seq}-${fall}`;
}

/** Goes on behind an event. */
export function noteEvent(standing: Standing, { at, seq }: RecordedEvent): void {
  standing.lastAt = at ?? standing.lastAt;
  standing.lastSeq = seq ?? standing.lastSeq;
}

/** How far back is to be looked from `before`, when it is known that nothing stands before `none`. */
function lowestOf(none: number | undefined, before: number): number {
  return none === undefined || none > before ? -1 : none;
}

function endsTurn({ kind }: RecordedEvent): boolean {
  return kind === "user-prompt" || kind === "turn-end";
}

function isBehind(a: Place, b: Place): boolean {
  return a.start > b.start || (a.start === b.start && a.index > b.index);
}

function firstTime(head: Buffer): EpochMs | undefined {
  for (let place = head.indexOf(TIME); place >= 0; place = head.indexOf(TIME, place + 1)) {
    const text = head.toString("latin1", place, place + 48);
    const at = epochMsFromIso(/^"ts":\s*"([^"\\]{1,40})"/.exec(text)?.[1]);
    if (at !== undefined) return at;
  }
  return undefined;
}
