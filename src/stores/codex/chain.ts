import { createHash } from "node:crypto";
import { parseRecords } from "../../jsonl/parse.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import { asCount, asObject } from "../../platform/read.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type Catalog, inReadingOrder, type RolloutFile } from "./catalog.ts";
import { type FileFacts, NO_HEADER, type Rollouts } from "./facts.ts";
import { glanceAt } from "./glance.ts";
import { type Header, type HistoryBase, headerByName } from "./header.ts";
import type { HeadScan } from "./scan.ts";

/** A range of a rollout that is part of a chat. */
export interface Part {
  readonly file: RolloutFile;
  readonly header: Header;
  readonly scan: HeadScan;
  readonly facts: FileFacts;
  readonly start: number;
  /** Where it ends in its file; undefined: with the file, however long that gets. */
  readonly end?: number;
}

/** What a thread's chat is read from: the ranges that it goes on from, then its own newest segment. */
export interface Chain {
  readonly thread: SessionId;
  readonly parts: readonly Part[];
  /** The thread's own segment: the last part. */
  readonly own: Part;
  /** 8 hex digits that name the chain, where more than the thread's first file is part of it. */
  readonly name?: string;
  /** The history goes on from a file that is not there. */
  readonly incomplete: boolean;
}

/** How many files a history may go on from, one after the other. */
const MOST_PARTS = 64;

/** Finds what chats are read from. */
export class Chains {
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  /** Of each file (with what its first records told) where bases end in it. */
  readonly #ends = new WeakMap<HeadScan, Map<string, BaseEnd>>();

  constructor(catalog: Catalog, rollouts: Rollouts) {
    this.#catalog = catalog;
    this.#rollouts = rollouts;
  }

  /**
   * The newest segment of a thread that can be read: all older ones are only read where the chain leads to them. A file in
   * which nothing is written yet counts when there is no other.
   */
  async current(thread: string): Promise<{ file: RolloutFile; facts: FileFacts } | undefined> {
    let empty: { file: RolloutFile; facts: FileFacts } | undefined;
    for (const file of inReadingOrder(this.#catalog.ofThread(thread))) {
      const facts = await this.#rollouts.head(file);
      if (facts?.scan.header?.id === thread) return { file, facts };
      if (facts?.problem === NO_HEADER && facts.scan.scanned === 0) empty ??= { file, facts };
    }
    return empty;
  }

  /** The chain of a thread; undefined when the thread has no file, or none whose first records can be read yet. */
  async of(thread: SessionId): Promise<Chain | undefined> {
    const current = await this.current(thread);
    if (current === undefined) return undefined;
    const { file } = current;
    const facts = await this.#rollouts.readable(file);
    if (facts === undefined) return undefined;
    const header = facts.scan.header ?? headerByName(thread, true);
    const own: Part = { file, header, facts, scan: facts.scan, start: facts.scan.chatStart };
    const before = await this.#before(header.historyBase, new Set([file.segment]));
    const parts = [...before.parts, own];
    const named = parts.length > 1 || before.incomplete || file.segment !== thread;
    return {
      thread,
      parts,
      own,
      ...(named && { name: nameOf(parts, header.historyBase, before.incomplete) }),
      incomplete: before.incomplete,
    };
  }

  async #before(base: HistoryBase | undefined, seen: Set<string>): Promise<{ parts: Part[]; incomplete: boolean }> {
    if (base === undefined) return { parts: [], incomplete: false };
    const { segment } = base;
    const isDeadEnd = segment === undefined || seen.size > MOST_PARTS || seen.has(segment);
    const found = isDeadEnd ? undefined : await this.#segment(segment);
    if (found === undefined) return { parts: [], incomplete: true };
    const { file, facts, header } = found;
    const end = await this.#end(file, facts, base);
    const before = await this.#before(header.historyBase, seen.add(file.segment));
    const start = Math.min(facts.scan.chatStart, end.offset);
    const part: Part = { file, header, facts, scan: facts.scan, start, end: end.offset };
    return { parts: [...before.parts, part], incomplete: before.incomplete || !end.whole };
  }

  async #segment(id: string): Promise<{ file: RolloutFile; facts: FileFacts; header: Header } | undefined> {
    let files = this.#catalog.ofSegment(id);
    if (files.length === 0) {
      await this.#catalog.refresh("sweep");
      files = this.#catalog.ofSegment(id);
    }
    for (const file of inReadingOrder(files)) {
      const facts = await this.#rollouts.readable(file);
      const header = facts?.scan.header;
      if (facts !== undefined && header?.id === file.thread) return { file, facts, header };
    }
    return undefined;
  }

  /** Where the inherited range of `file` ends: where the base says, if the ordinals agree, else where they say. */
  async #end(file: RolloutFile, facts: FileFacts, base: HistoryBase): Promise<BaseEnd> {
    const ends = this.#ends.get(facts.scan) ?? new Map<string, BaseEnd>();
    this.#ends.set(facts.scan, ends);
    const key = `${base.endOrdinal}:${base.endOffset}`;
    const known = ends.get(key);
    if (known !== undefined) return known;
    const end = await this.#rollouts.open(file, (open) => baseEnd(open, base));
    if (end.whole) ends.set(key, end);
    return end;
  }
}

/** Where an inherited range ends, and whether all that should be inherited is there. */
interface BaseEnd {
  readonly offset: number;
  readonly whole: boolean;
}

/** A part as long as it is now. */
export interface Range {
  readonly source: ByteSource;
  readonly start: number;
  readonly end: number;
}

/** The ranges as one source: positions run over all of them. */
export function joinRanges(ranges: readonly Range[]): ByteSource {
  const size = ranges.reduce((sum, { start, end }) => sum + Math.max(0, end - start), 0);
  return {
    size,
    read(target, position) {
      let done = 0;
      let base = 0;
      for (const { source, start, end } of ranges) {
        const length = Math.max(0, end - start);
        const from = position + done - base;
        base += length;
        if (from >= length || done === target.length) continue;
        const wanted = Math.min(target.length - done, length - from);
        const count = source.read(target.subarray(done, done + wanted), start + from);
        done += count;
        if (count < wanted) break;
      }
      return done;
    },
  };
}

/** Where an inherited range ends, by whichever of the two the base states; by none of them, nothing is inherited. */
async function baseEnd(source: ByteSource, { endOffset, endOrdinal }: HistoryBase): Promise<BaseEnd> {
  if (endOrdinal === undefined) {
    const offset = lineEndBefore(source, Math.min(endOffset ?? 0, source.size));
    return { offset, whole: offset === endOffset };
  }
  if (endOffset !== undefined && endsAt(source, endOffset, endOrdinal)) return { offset: endOffset, whole: true };
  return searchEnd(source, endOrdinal);
}

/** Whether the record before `endOffset` is the last that is inherited. */
function endsAt(source: ByteSource, endOffset: number, endOrdinal: number): boolean {
  if (endOffset === 0) return endOrdinal === 0;
  if (endOffset > source.size) return false;
  const before = readRange(source, Math.max(0, endOffset - PAGE_BYTES), endOffset);
  if (before.at(-1) !== 0x0a) return false;
  const start = before.lastIndexOf(0x0a, before.length - 2) + 1;
  // A record longer than a page is believed: its start is far away.
  if (start === 0 && endOffset > before.length) return true;
  return ordinalOf(before.subarray(start, -1)) === endOrdinal - 1;
}

/** Behind the last newline before `offset`, if that is near. */
function lineEndBefore(source: ByteSource, offset: number): number {
  const base = Math.max(0, offset - PAGE_BYTES);
  const newline = readRange(source, base, offset).lastIndexOf(0x0a);
  return newline < 0 ? 0 : base + newline + 1;
}

/** Where the first record stands whose ordinal is not below `endOrdinal`, else the end of what there is. */
async function searchEnd(source: ByteSource, endOrdinal: number): Promise<BaseEnd> {
  const breather = new Breather();
  const block = Buffer.allocUnsafe(1024 * 1024);
  let lineStart = 0;
  let last: number | undefined;
  for (let at = 0; at < source.size; at += block.length) {
    await breather.pause();
    const held = block.subarray(0, source.read(block, at));
    for (let newline = held.indexOf(0x0a); newline >= 0; newline = held.indexOf(0x0a, newline + 1)) {
      const end = at + newline;
      const line =
        lineStart >= at
          ? held.subarray(lineStart - at, newline)
          : readRange(source, lineStart, Math.min(end, lineStart + 4096));
      const ordinal = ordinalOf(line);
      if (ordinal !== undefined && ordinal >= endOrdinal) return { offset: lineStart, whole: true };
      last = ordinal ?? last;
      lineStart = end + 1;
    }
  }
  return { offset: lineStart, whole: last === endOrdinal - 1 };
}

function ordinalOf(line: Buffer): number | undefined {
  return glanceAt(line).ordinal ?? asCount(asObject(parseRecords(line)[0])?.ordinal);
}

function nameOf(parts: readonly Part[], base: HistoryBase | undefined, incomplete: boolean): string {
  const text = parts.map(({ file, end }) => `${file.segment}:${end ?? ""}`).join("\n");
  const missing = incomplete ? `missing ${base?.segment}` : "";
  return createHash("sha256").update(`${text}\n${missing}`).digest("hex").slice(0, 8);
}
