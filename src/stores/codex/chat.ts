import { byteOffsetOf, formatJsonlCursor, type JsonlCursor, parseJsonlCursor } from "../../jsonl/cursor.ts";
import { isLineStart, type JsonlLine, readPage, readPageBefore } from "../../jsonl/page.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import type { Clock } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import type { FileStamp, OpenFile } from "../../platform/files.ts";
import { type Cursor, START } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { SETTLE_MS, UNCUT_RECORD_BYTES } from "../../transcript/limits.ts";
import type { Budget, EntryPage, EntryPageBefore } from "../store.ts";
import { type Chain, joinRanges, type Part, type Range } from "./chain.ts";
import type { SourceKind } from "./entries.ts";
import type { Rollouts } from "./facts.ts";
import type { PageBuffers, PageModels } from "./page-memory.ts";
import { RecordReader } from "./record-reader.ts";
import type { SpawnedFinder } from "./spawned.ts";
import type { Work } from "./work.ts";

/** What reading a chat needs besides its chain. */
export interface ChatTools {
  readonly rollouts: Rollouts;
  readonly clock: Clock;
  readonly work: Work;
  readonly buffers: PageBuffers;
  readonly models: PageModels;
  /** Finds the agents that the chain's thread spawned. */
  readonly spawned: SpawnedFinder;
}

/** A part of an open chat: how its records are read, and where they stand in the whole. */
export interface OpenPart {
  readonly part: Part;
  readonly kind: SourceKind;
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
    const fits = given.chain === chain.name || isStart(given);
    const start = fits ? given : parseJsonlCursor(START);
    const { page, read } = await tools.buffers.with(budget.bytes, async (buffer) => {
      const page = await readPage(chat.source, start, buffer);
      const reader = new RecordReader(chat, tools, { settle: true, from: page.lines[0]?.start });
      const read = await reader.read(page.lines);
      if (read.stop === undefined) tools.models.note(chat, page.next.offset, reader.lastModel);
      return { page, read };
    });
    const next = read.stop === undefined ? page.next : { offset: read.stop, discarding: false };
    return {
      entries: read.entries,
      next: cursorIn(chain, next),
      uses: chat.uses,
      settled: chat.settled && read.stop === undefined,
      ...((!fits || page.reset) && { reset: true as const }),
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
  const readIn = async (chat: OpenChat, buffer: Buffer): Promise<EntryPageBefore> => {
    const fits =
      given === undefined || ((given.chain === chain.name || isStart(given)) && given.offset <= chat.source.size);
    let end = given !== undefined && fits ? given.offset : byteOffsetOf(chat.source.size);
    let entries: readonly Entry[] = [];
    let next: JsonlCursor | undefined;
    let settled = chat.settled;
    for (;;) {
      const page = await readPageBefore(chat.source, end, buffer);
      const read = await readLines(chat, page.lines, tools);
      const stop = read.stop ?? page.lines.at(-1)?.end ?? byteOffsetOf(0);
      next ??= { offset: stop, discarding: false };
      settled &&= read.stop === undefined;
      entries = [...read.entries, ...entries];
      const prev = page.prev;
      if (prev !== undefined && !entries.some((entry) => toItem(entry) !== undefined)) {
        end = prev;
        continue;
      }
      return {
        entries,
        next: cursorIn(chain, next),
        prev: prev === undefined ? null : cursorIn(chain, { offset: prev, discarding: false }),
        uses: chat.uses,
        settled,
        ...(!fits && { reset: true as const }),
      };
    }
  };
  return openChat(chain, tools, (chat) => tools.buffers.with(budget.bytes, (buffer) => readIn(chat, buffer)));
}

/** The entries of the one record at `pos`, however long it is up to 32 MiB. @throws Failure not-found, bad-request */
export async function readRecord(chain: Chain, pos: Cursor, tools: ChatTools): Promise<readonly Entry[]> {
  const { offset, discarding, chain: name } = parseJsonlCursor(pos);
  return openChat(chain, tools, async (chat) => {
    const { source } = chat;
    const fits = (name === chain.name || offset === 0) && !discarding && offset < source.size;
    if (!fits || !isLineStart(source, offset)) throw noRecord();
    const end = await lineEnd(source, offset);
    if (end === undefined) throw noRecord();
    const line: JsonlLine =
      end - offset > UNCUT_RECORD_BYTES
        ? { kind: "oversized", start: offset, end: byteOffsetOf(end) }
        : recordLine(source, offset, end);
    const reader = new RecordReader(chat, tools, { settle: false });
    const { entries } = await reader.read([line]);
    return entries;
  });
}

function readLines(chat: OpenChat, lines: readonly JsonlLine[], tools: ChatTools): ReturnType<RecordReader["read"]> {
  return new RecordReader(chat, tools, { settle: true }).read(lines);
}

/** Opens every file of a chain, calls `use`, and closes them. @throws Failure not-found when one of them is gone */
async function openChat<T>(chain: Chain, tools: ChatTools, use: (chat: OpenChat) => Promise<T>): Promise<T> {
  const opened: OpenFile[] = [];
  const openFrom = (index: number): Promise<T> => {
    const part = chain.parts[index];
    if (part === undefined) return use(chatOf(chain, opened, tools.clock));
    return tools.rollouts.open(part.file, (file) => {
      opened.push(file);
      return openFrom(index + 1);
    });
  };
  return openFrom(0);
}

function chatOf(chain: Chain, opened: readonly OpenFile[], clock: Clock): OpenChat {
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
    parts.push({ part, kind: kind ?? "responses", from, to });
    from = to;
  }
  return { chain, parts, source: joinRanges(ranges), uses: opened.map(({ stamp }) => stamp), settled };
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

function isStart({ offset, discarding }: JsonlCursor): boolean {
  return offset === 0 && !discarding;
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
