import { setImmediate as turn } from "node:timers/promises";
import type { BytePool, PageBuffers } from "../../jsonl/buffers.ts";
import type { Continuity, FileNow } from "../../jsonl/continuity.ts";
import {
  type ByteOffset,
  byteOffsetOf,
  FILE_START,
  formatJsonlCursor,
  type JsonlCursor,
  parseJsonlCursor,
} from "../../jsonl/cursor.ts";
import { isLineStart, type JsonlLine, readPage, readPageBefore } from "../../jsonl/page.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import type { Clock } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import type { FileStamp, OpenFile } from "../../platform/files.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { SETTLE_MS } from "../../transcript/limits.ts";
import type { Budget, Edition, EntryPage, EntryPageBefore } from "../store.ts";
import { type Chain, joinRanges, type Part, type Range } from "./chain.ts";
import type { SourceKind } from "./entries.ts";
import type { Rollouts } from "./facts.ts";
import type { PageModels } from "./page-memory.ts";
import { withReader } from "./record-reader.ts";
import type { SpawnedFinder } from "./spawned.ts";
import type { Work } from "./work.ts";

/** What reading a chat needs besides its chain. */
export interface ChatTools {
  readonly rollouts: Rollouts;
  readonly clock: Clock;
  readonly work: Work;
  readonly buffers: PageBuffers;
  /** The memory that looking back reads into. */
  readonly pool: BytePool;
  readonly models: PageModels;
  readonly continuity: Continuity;
  /** Finds the agents that the chain's thread spawned. */
  readonly spawned: SpawnedFinder;
}

/** A part of an open chat: how its records are read, and where they stand in the whole. */
export interface OpenPart {
  readonly part: Part;
  readonly kind: SourceKind;
  /** What is known of the file as it is now. */
  readonly now: FileNow;
  /** Where it starts and ends in the chat. */
  readonly from: number;
  readonly to: number;
}

/** A chat whose files are open. */
export interface OpenChat {
  readonly chain: Chain;
  readonly parts: readonly OpenPart[];
  readonly source: ByteSource;
  readonly uses: readonly FileStamp[];
  /** False while its first records do not tell yet how it is to be read. */
  readonly settled: boolean;
}

/** The entries of a chat from `from` on. @throws Failure bad-request for a cursor of another store, not-found */
export async function readEntries(chain: Chain, from: Cursor, budget: Budget, tools: ChatTools): Promise<EntryPage> {
  const given = parseJsonlCursor(from);
  return openChat(chain, tools, async (chat) => {
    const fits = fitsChat(chat, given);
    const start = fits ? given : FILE_START;
    const { page, read } = await tools.buffers.lend(budget.bytes, async (buffer) => {
      const page = await readPage(chat.source, start, buffer);
      const from = page.lines[0]?.start;
      const read = await withReader(
        chat,
        tools,
        { settle: true, ...(from !== undefined && { from }) },
        async (reader) => {
          const read = await reader.read(page.lines);
          if (read.stop === undefined) tools.models.note(chat, page.next.offset, reader.lastModel);
          return read;
        },
      );
      return { page, read };
    });
    const next = read.stop === undefined ? page.next : { offset: read.stop, discarding: false };
    const reset = page.reset === true || !fits;
    served(chat, reset ? 0 : start.offset, next.offset);
    return {
      entries: read.entries,
      next: cursorIn(chain, next),
      uses: chat.uses,
      settled: chat.settled && read.stop === undefined,
      ...editionOf(chat),
      ...(reset && { reset }),
    };
  });
}

/** The entries that end at `before`, or the last ones. @throws as `readEntries` */
export async function readBefore(
  chain: Chain,
  before: Cursor | "tail",
  budget: Budget,
  tools: ChatTools,
): Promise<EntryPageBefore> {
  const given = before === "tail" ? undefined : parseJsonlCursor(before);
  return openChat(chain, tools, async (chat) => {
    const fits = given !== undefined && fitsChat(chat, given) && isPlaceIn(chat, given);
    const end = fits ? given.offset : byteOffsetOf(chat.source.size);
    const page = await tools.buffers.lend(budget.bytes, (buffer) => pageBefore(chat, end, buffer, tools));
    const next = fits && !page.stopped ? given : { offset: page.next, discarding: false };
    served(chat, page.prev ?? 0, next.offset);
    return {
      entries: page.entries,
      next: fits && !page.stopped && before !== "tail" ? before : cursorIn(chain, next),
      prev: page.prev === undefined ? null : cursorIn(chain, { offset: page.prev, discarding: false }),
      uses: chat.uses,
      settled: chat.settled && !page.stopped,
      ...editionOf(chat),
      ...(given !== undefined && !fits && { reset: true as const }),
    };
  });
}

/** Goes back from `end`, page by page, until there is something to show. */
async function pageBefore(chat: OpenChat, end: ByteOffset, buffer: Buffer, tools: ChatTools): Promise<PageBefore> {
  let entries: readonly Entry[] = [];
  let next: ByteOffset | undefined;
  let stopped = false;
  for (let at = end; ; ) {
    const page = await readPageBefore(chat.source, at, buffer);
    const read = await withReader(chat, tools, { settle: true }, (reader) => reader.read(page.lines));
    next ??= read.stop ?? page.end;
    // What stands behind a call that waits was read before it; it waits too.
    if (read.stop !== undefined) [next, stopped, entries] = [read.stop, true, []];
    entries = [...read.entries, ...entries];
    if (page.prev === undefined || entries.some((entry) => toItem(entry) !== undefined)) {
      return { entries, next, prev: page.prev, stopped };
    }
    at = page.prev;
    await turn();
  }
}

interface PageBefore {
  readonly entries: readonly Entry[];
  readonly next: ByteOffset;
  readonly prev: ByteOffset | undefined;
  /** It ends before a call whose agent may yet come. */
  readonly stopped: boolean;
}

/** The entries of the one record at `pos`, however long it is up to `mostBytes`. @throws Failure not-found, bad-request */
export async function readRecord(
  chain: Chain,
  pos: Cursor,
  mostBytes: number,
  tools: ChatTools,
): Promise<readonly Entry[]> {
  const given = parseJsonlCursor(pos);
  const { offset } = given;
  return openChat(chain, tools, async (chat) => {
    const { source } = chat;
    const fits = fitsChat(chat, given) && !given.discarding && offset < source.size;
    if (!fits || !isLineStart(source, offset)) throw noRecord();
    const end = await lineEnd(source, offset);
    if (end === undefined) throw noRecord();
    const line: JsonlLine =
      end - offset > mostBytes
        ? { kind: "oversized", start: offset, end: byteOffsetOf(end) }
        : recordLine(source, offset, end);
    const { entries } = await withReader(chat, tools, { settle: false }, (reader) => reader.read([line]));
    return entries;
  });
}

/** Whether a cursor can have been given for these very files: for the chain, and for the file that stands there now. */
function fitsChat({ chain, parts }: OpenChat, { offset, discarding, chain: name }: JsonlCursor): boolean {
  if (offset === 0) return !discarding;
  if (name !== chain.name) return false;
  const at = parts.find(({ to }) => offset <= to);
  return at === undefined || at.now.fits(offset - at.from + at.part.start);
}

/** Of the chat's own file, whose stamp comes first in what it uses. */
function editionOf({ parts }: OpenChat): Edition {
  const own = parts.at(-1);
  return own === undefined ? {} : { edition: own.now.edition };
}

/** Remembers that cursors from `from` to `to` were given for the files as they are. */
function served({ parts }: OpenChat, from: number, to: number): void {
  for (const part of parts) {
    const [first, last] = [Math.max(from, part.from), Math.min(to, part.to)];
    const base = part.part.start - part.from;
    if (first <= last) part.now.served(first + base, last + base);
  }
}

/** Whether a page can end there: behind a newline, or inside a line that is passed over. */
function isPlaceIn({ source }: OpenChat, { offset, discarding }: JsonlCursor): boolean {
  return offset <= source.size && (discarding || isLineStart(source, offset));
}

/** Opens every file of a chain, calls `use`, and closes them. @throws Failure not-found when one of them is gone, Rewritten */
async function openChat<T>(chain: Chain, tools: ChatTools, use: (chat: OpenChat) => Promise<T>): Promise<T> {
  const opened: OpenFile[] = [];
  const openFrom = (index: number): Promise<T> => {
    const part = chain.parts[index];
    if (part === undefined) return use(chatOf(chain, opened, tools));
    return tools.rollouts.open(part.file, (file) => {
      tools.rollouts.confirm(part.file, part.scan, file);
      opened.push(file);
      return openFrom(index + 1);
    });
  };
  return openFrom(0);
}

function chatOf(chain: Chain, opened: readonly OpenFile[], { clock, continuity }: ChatTools): OpenChat {
  const parts: OpenPart[] = [];
  const ranges: Range[] = [];
  let from = 0;
  let settled = true;
  for (const [index, part] of chain.parts.entries()) {
    const file = opened[index];
    if (file === undefined) break;
    const kind = part.scan.readable ? part.scan.kind : guessedKind(part, file, clock);
    if (!part.scan.readable) settled = false;
    const end = kind === undefined ? part.start : Math.min(part.end ?? file.size, file.size);
    ranges.push({ source: file, start: part.start, end });
    const to = from + Math.max(0, end - part.start);
    parts.push({ part, kind: kind ?? "responses", now: continuity.now(file), from, to });
    from = to;
  }
  return { chain, parts, source: joinRanges(ranges), uses: opened.map(({ stamp }) => stamp).reverse(), settled };
}

/**
 * What a file is read by whose first records do not say it: nothing while it may still be written, so that no message
 * shows from two sources; the raw items when it was left like that.
 */
function guessedKind(part: Part, file: OpenFile, clock: Clock): SourceKind | undefined {
  if (part.header.role !== "user" && part.scan.ownStart === undefined) return undefined;
  const age = clock.now() - Number(file.stamp.mtimeNs / 1_000_000n);
  return age > SETTLE_MS ? "responses" : undefined;
}

function cursorIn(chain: Chain, cursor: JsonlCursor): Cursor {
  return formatJsonlCursor({ ...cursor, ...(chain.name !== undefined && { chain: chain.name }) });
}

function recordLine(source: ByteSource, start: number, end: number): JsonlLine {
  const bytes = Buffer.allocUnsafe(end - start);
  source.read(bytes, start);
  let length = bytes.length - 1;
  if (bytes[length - 1] === 0x0d) length--;
  return { kind: "record", start: byteOffsetOf(start), end: byteOffsetOf(end), bytes: bytes.subarray(0, length) };
}

/** Behind the newline of the line that starts at `start`; undefined when it has none (yet). */
async function lineEnd(source: ByteSource, start: number): Promise<number | undefined> {
  const block = Buffer.allocUnsafe(1024 * 1024);
  for (let at = start; at < source.size; at += block.length) {
    const newline = block.subarray(0, source.read(block, at)).indexOf(0x0a);
    if (newline >= 0) return at + newline + 1;
    await new Promise(setImmediate);
  }
  return undefined;
}

function noRecord(): Failure {
  return new Failure("not-found", "no record of this session starts there");
}
