import type { BytePool } from "../../jsonl/buffers.ts";
import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import { type JsonlLine, readPage } from "../../jsonl/page.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import type { CallSpan } from "./call-spans.ts";
import { EarlierRecords, idOf, noteEvent, type Standing } from "./earlier-records.ts";
import { Fold } from "./fold.ts";
import { answeredBy } from "./long-result.ts";
import type { Numbering } from "./numbering.ts";
import { eventsOf, isCommandRecord } from "./record.ts";
import { type CallSlot, entriesOf, type RecordPlace, type Slot } from "./slots.ts";

/** Where reading stands between two records. */
export interface Pass extends Standing {
  readonly fold: Fold;
}

/** What recordings are read with. */
export interface RecordingTools {
  /** The memory that reads are made into. */
  readonly pool: BytePool;
  /** What is known of how this edition of the file is numbered. */
  readonly numbering: Numbering;
  /** Told where a line starts that is no record. */
  readonly badLine: (start: number) => void;
}

/**
 * An open recording while one answer is made from it. All that it tells of a record follows from that record and from the
 * 8 MiB before it.
 */
export class Recording {
  readonly source: ByteSource;
  readonly #tools: RecordingTools;
  readonly #earlier: EarlierRecords;

  constructor(source: ByteSource, tools: RecordingTools) {
    this.source = source;
    this.#tools = tools;
    this.#earlier = new EarlierRecords(source, tools.pool, {
      fallAt: (start) => this.#fallAt(start),
      callsTo: (start) => tools.numbering.callsTo(source, start, tools.pool),
    });
  }

  /** Gives back what was read. */
  close(): void {
    this.#earlier.close();
  }

  /** A pass that stands at the record that starts at `start`: the records of its turn before it have been taken in. */
  async passAt(start: ByteOffset): Promise<Pass> {
    await this.knowNumbersTo(start);
    const from = this.#earlier.turnStart(start);
    const pass: Pass = { fold: new Fold(from), ...this.#earlier.standingAt(from) };
    await this.#feedAll(pass, from, start, () => false);
    pass.fold.take();
    return pass;
  }

  /** Finds out how the records up to the place `end` are numbered, so that nobody has to wait for that later. */
  knowNumbersTo(end: number): Promise<void> {
    return this.#tools.numbering.reach(this.source, end, this.#tools.pool);
  }

  /** Where the calls begin whose records lie more than 8 MiB apart, and what they are called. */
  async farCalls(): Promise<readonly CallSpan[]> {
    await this.knowNumbersTo(this.source.size);
    return this.#tools.numbering.callsTo(this.source, this.source.size, this.#tools.pool).far;
  }

  /** One of these, whole; records of up to `mostBytes` are read for it. */
  async farCall(start: ByteOffset, mostBytes: number): Promise<CallSlot | undefined> {
    await this.knowNumbersTo(this.source.size);
    return this.#earlier.wholeFarCall(start, byteOffsetOf(this.source.size), mostBytes);
  }

  /** Takes in a line; one that is no record is passed over, and told to whoever counts those. */
  feed(pass: Pass, line: JsonlLine): void {
    const { start } = line;
    if (line.kind === "oversized") {
      const pos = posOf(start);
      const place = { start, pos, id: `e@${start}`, at: this.#at(pass), size: line.end - start };
      pass.fold.oversized(place, line.end - start, answeredBy(this.source, line), this.#earlier);
      return;
    }
    const events = eventsOf(line.bytes);
    if (events.length === 0 && line.bytes.length > 0 && !(start === 0 && isCommandRecord(line.bytes))) {
      this.#tools.badLine(start);
    }
    for (const event of events) {
      const { lastSeq } = pass;
      noteEvent(pass, event);
      const id = (): string => idOf(event, start, lastSeq, this.#fallAt(start));
      pass.fold.push(event, new EventPlace(line, this.#at(pass), id), this.#earlier);
    }
  }

  /**
   * What `lines` show, each item with what records behind them add to it, without those that stand whole further up; with
   * them where there is nothing else, since to go on to where they begin may take long.
   */
  async back(lines: readonly JsonlLine[]): Promise<Entry[]> {
    const [first] = lines;
    const last = lines.at(-1);
    if (first === undefined || last === undefined) return [];
    const pass = await this.passAt(first.start);
    const { fold } = pass;
    // As `whole` does from where they begin: it waits for what is open, and within 8 MiB.
    const awaited = new Set(fold.open());
    const all = new Set<Slot>();
    const told = new Set<Slot>();
    for (const line of lines) {
      this.feed(pass, line);
      for (const slot of fold.take()) {
        const isWholeAbove = slot.kind !== "plain" && awaited.has(slot) && line.start - slot.start < LOOK_BACK_BYTES;
        all.add(slot);
        if (!isWholeAbove) told.add(slot);
      }
      for (const slot of awaited) if (!fold.isOpen(slot)) awaited.delete(slot);
    }
    const slots = [...(entriesOf([...told]).some(isShown) ? told : all)];
    await this.#feedUntil(pass, last.end, () => !slots.some((slot) => fold.isOpen(slot)));
    return entriesOf(slots);
  }

  /** What `lines` show, each item with what records behind them add to it. */
  async whole(lines: readonly JsonlLine[]): Promise<Entry[]> {
    const [first] = lines;
    const last = lines.at(-1);
    if (first === undefined || last === undefined) return [];
    const pass = await this.passAt(first.start);
    for (const line of lines) this.feed(pass, line);
    const slots = pass.fold.take();
    await this.#feedUntil(pass, last.end, () => !slots.some((slot) => pass.fold.isOpen(slot)));
    return entriesOf(slots);
  }

  /** The lines from `from` on, until `enough` or the end, at most 8 MiB of them. */
  async #feedUntil(pass: Pass, from: ByteOffset, enough: () => boolean): Promise<void> {
    if (enough()) return;
    await this.#feedAll(pass, from, byteOffsetOf(Math.min(this.source.size, from + LOOK_BACK_BYTES)), enough);
  }

  #fallAt(start: number): number | undefined {
    return this.#tools.numbering.fallAt(this.source, start, this.#tools.pool);
  }

  #at(pass: Pass): EpochMs {
    return pass.lastAt ?? this.#earlier.startTime();
  }

  /** Takes in the lines from the one that starts at `from` up to `end`, or until `enough`. */
  async #feedAll(pass: Pass, from: ByteOffset, end: ByteOffset, enough: () => boolean): Promise<void> {
    if (from >= end) return;
    const breather = new Breather();
    const { pool } = this.#tools;
    const taken = pool.take(PAGE_BYTES + 1);
    try {
      const buffer = taken.subarray(0, PAGE_BYTES + 1);
      for (let cursor = { offset: from, discarding: false }; cursor.offset < end; ) {
        const page = await readPage(this.source, cursor, buffer);
        for (const line of page.lines) {
          if (line.start >= end) return;
          this.feed(pass, line);
          if (enough()) return;
        }
        if (page.next.offset <= cursor.offset) return;
        cursor = page.next;
        await breather.pause();
      }
    } finally {
      pool.give([taken]);
    }
  }
}

/** Whether an entry shows as an item. */
export function isShown(entry: Entry): boolean {
  return toItem(entry) !== undefined;
}

/** Where an event stands; most go on with an item and are asked neither for its name nor for its position. */
class EventPlace implements RecordPlace {
  readonly start: ByteOffset;
  readonly size: number;
  readonly at: EpochMs;
  readonly #id: () => string;

  constructor({ start, end }: JsonlLine, at: EpochMs, id: () => string) {
    this.start = start;
    this.size = end - start;
    this.at = at;
    this.#id = id;
  }

  get id(): string {
    return this.#id();
  }

  get pos(): Cursor {
    return posOf(this.start);
  }
}

function posOf(offset: ByteOffset): Cursor {
  return formatJsonlCursor({ offset, discarding: false });
}
