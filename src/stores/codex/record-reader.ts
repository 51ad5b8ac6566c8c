import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import type { JsonlLine } from "../../jsonl/page.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import { readRange } from "../../jsonl/source.ts";
import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asObject } from "../../platform/read.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import type { ChatTools, OpenChat, OpenPart } from "./chat.ts";
import { type FoundCall, type RecordContext, type SourceKind, toEntries } from "./entries.ts";
import { glanceAt } from "./glance.ts";
import { type Header, timeOf } from "./header.ts";
import { Before, type KnownModel } from "./look.ts";
import { isRelevant } from "./relevant.ts";
import { Rollbacks } from "./rollbacks.ts";
import { uuidTime } from "./rollout-name.ts";
import type { HeadScan } from "./scan.ts";
import { namedIn, Placing } from "./spawned.ts";
import { mayHaveSign, signsOn } from "./turn-signs.ts";

/** The entries of some lines, and where they stop short of a call whose agent is still to come. */
export interface ReadEntries {
  readonly entries: readonly Entry[];
  readonly stop?: ByteOffset;
}

/** What `use` makes of a reader of the records of `chat`; what it read by looking back goes back to the pool at the end. */
export async function withReader<T>(
  chat: OpenChat,
  tools: ChatTools,
  options: ReaderOptions,
  use: (reader: RecordReader) => Promise<T>,
): Promise<T> {
  const reader = new RecordReader(chat, tools, options);
  try {
    return await use(reader);
  } finally {
    reader.close();
  }
}

/** `settle`: stop before a call whose agent may yet come. `from`: where the page begins. */
interface ReaderOptions {
  readonly settle: boolean;
  readonly from?: number;
}

/** Turns the lines of one page into entries, looking back where a record does not say all itself. */
class RecordReader {
  readonly #chat: OpenChat;
  readonly #tools: ChatTools;
  readonly #settle: boolean;
  readonly #before: Before;
  readonly #placing: Placing;
  readonly #rollbacks: Rollbacks;
  readonly #found: Found = {
    call: (callId, start) => {
      const call = this.#before.call(callId, start);
      return call && { tool: call.tool, pos: this.#pos(call.start) };
    },
    model: (start, scan) => this.#before.model(start) ?? scan.model,
    promptBefore: (start, turns) => {
      const prompt = this.#rollbacks.promptBefore(start, turns);
      return prompt === undefined ? undefined : this.#pos(prompt);
    },
  };
  #lastPart: OpenPart | undefined;

  constructor(chat: OpenChat, tools: ChatTools, { settle, from }: ReaderOptions) {
    this.#chat = chat;
    this.#tools = tools;
    this.#settle = settle;
    this.#before = new Before(chat.source, tools.pool, from === undefined ? undefined : tools.models.at(chat, from));
    this.#placing = new Placing(tools.spawned, this.#before, tools.clock);
    this.#rollbacks = new Rollbacks(chat.source, tools.pool, {
      mayHave: (head, start) => mayHaveSign(head, this.#partAt(start).kind),
      of: (line, start) => {
        const { kind, part } = this.#partAt(start);
        return signsOn(line, kind, part.header);
      },
    });
  }

  /** Gives back what was read by looking back. */
  close(): void {
    this.#before.close();
    this.#rollbacks.close();
  }

  /** The model of the last turn so far. */
  get lastModel(): KnownModel | undefined {
    return this.#before.lastModel;
  }

  /** Reads `lines`, which follow each other. Waits only where agents are to be placed: nearly every record needs no wait. */
  async read(lines: readonly JsonlLine[]): Promise<ReadEntries> {
    const entries: Entry[] = [];
    if (lines[0]?.start === 0 && this.#chat.chain.incomplete) entries.push(this.#incomplete());
    for (const line of lines) {
      const part = this.#partAt(line.start);
      if (line.kind === "oversized") {
        entries.push(...this.#oversized(line.start, line.end, part));
        continue;
      }
      for (const record of this.#relevant(line, part)) {
        const context = this.#context(record, line.start, part);
        const found = toEntries(record, context);
        for (const entry of found) if (entry.kind === "tool-call") this.#note(entry, line.start);
        // What was copied spawned the other thread's agents.
        const agents = !context.copied && concernsAgents(record, found);
        const placed = agents ? await this.#withAgents(record, found, line.start, context) : found;
        if (placed === "wait") return { entries, stop: line.start };
        for (const entry of placed) entries.push(entry);
      }
    }
    return { entries };
  }

  #relevant(line: JsonlLine & { kind: "record" }, part: OpenPart): readonly unknown[] {
    const glance = glanceAt(line.bytes);
    if (glance.type === "turn_context") this.#before.noteModel(line.start, line.bytes);
    if (!isRelevant(line.bytes, part.kind, glance)) return [];
    this.#tools.work.count("parse");
    return parseRecords(line.bytes);
  }

  #note({ tool, callId, input, at }: Entry & { kind: "tool-call" }, start: ByteOffset): void {
    if (callId !== undefined) this.#before.noteCall({ tool, callId, input, start, at });
  }

  /** The entries of a record with the agents that show there. */
  async #withAgents(
    record: unknown,
    found: readonly Entry[],
    start: ByteOffset,
    context: RecordContext,
  ): Promise<readonly Entry[] | "wait"> {
    const shown: Entry[] = [];
    for (const entry of found) {
      shown.push(entry);
      if (entry.kind !== "tool-call" || entry.tool !== "spawn_agent") continue;
      const { tool, callId, input, at } = entry;
      const agents = await this.#placing.atCall({ tool, callId, input, start, at }, entry);
      if (agents === "wait" && this.#settle) return "wait";
      if (agents !== "wait") shown.push(...agents);
    }
    return [...shown, ...(await this.#placing.atNaming(record, start, context))];
  }

  #context(record: unknown, start: ByteOffset, open: OpenPart): RecordContext {
    const { part, from } = open;
    const own =
      part === this.#chat.chain.own && start - from + part.start >= (part.scan.ownStart ?? Number.MAX_SAFE_INTEGER);
    return new Context(this.#pos(start), this.#time(record, start, part), open, !own, start, this.#found);
  }

  #time(record: unknown, start: ByteOffset, { header }: OpenPart["part"]): EpochMs {
    const own = header.enveloped ? (timeOf(asObject(record)?.timestamp) ?? this.#before.time(start)) : undefined;
    return own ?? header.startedAt ?? uuidTime(header.id) ?? (0 as EpochMs);
  }

  /** A line that no page holds. What its first bytes tell is shown: its time, and that a compaction took place. */
  #oversized(start: ByteOffset, end: ByteOffset, open: OpenPart): Entry[] {
    const head = readRange(this.#chat.source, start, Math.min(end, start + HEAD_BYTES));
    const stated = /"timestamp":\s*(?:"([^"]{1,40})"|(\d+))/.exec(head.toString("latin1"));
    const at = this.#time({ timestamp: stated?.[1] ?? Number(stated?.[2]) }, start, open.part);
    const pos = this.#pos(start);
    const marker: Entry = {
      kind: "marker",
      at: epochMsOf(at) ?? at,
      pos,
      marker: "oversized",
      summary: `a record of ${end - start} bytes`,
    };
    if (glanceAt(head).type !== "compacted") return [marker];
    const context = this.#context({ timestamp: at }, start, open);
    return [...toEntries({ type: "compacted", payload: {} }, context), marker];
  }

  #incomplete(): Entry {
    const { own } = this.#chat.chain;
    const at = own.header.startedAt ?? uuidTime(own.header.id) ?? (0 as EpochMs);
    const text = "The history before this is missing: the session goes on from one whose file is not there.";
    return {
      kind: "marker",
      at,
      pos: this.#pos(byteOffsetOf(0)),
      marker: "error",
      summary: "history incomplete",
      text,
      isError: true,
    };
  }

  #partAt(start: number): OpenPart {
    const last = this.#lastPart;
    if (last !== undefined && last.from <= start && start < last.to) return last;
    const { parts } = this.#chat;
    this.#lastPart = parts.find(({ to }) => start < to) ?? parts.at(-1);
    if (this.#lastPart === undefined) throw new Error("a chat without parts has no lines");
    return this.#lastPart;
  }

  #pos(start: ByteOffset): Cursor {
    const { name } = this.#chat.chain;
    return formatJsonlCursor({ offset: start, discarding: false, ...(name !== undefined && { chain: name }) });
  }
}

/** What records are asked about what stands before them. */
interface Found {
  call(callId: string, start: ByteOffset): FoundCall | undefined;
  model(start: ByteOffset, scan: HeadScan): string | undefined;
  promptBefore(start: ByteOffset, turns: number): Cursor | undefined;
}

/** One for each record that is read, so no more than its fields is made. */
class Context implements RecordContext {
  readonly pos: Cursor;
  readonly at: EpochMs;
  readonly copied: boolean;
  readonly #open: OpenPart;
  readonly #start: ByteOffset;
  readonly #found: Found;

  constructor(pos: Cursor, at: EpochMs, open: OpenPart, copied: boolean, start: ByteOffset, found: Found) {
    this.pos = pos;
    this.at = at;
    this.copied = copied;
    this.#open = open;
    this.#start = start;
    this.#found = found;
  }

  get kind(): SourceKind {
    return this.#open.kind;
  }

  get header(): Header {
    return this.#open.part.header;
  }

  call(callId: string): FoundCall | undefined {
    return this.#found.call(callId, this.#start);
  }

  model(): string | undefined {
    return this.#found.model(this.#start, this.#open.part.scan);
  }

  promptBefore(turns: number): Cursor | undefined {
    return this.#found.promptBefore(this.#start, turns);
  }
}

function concernsAgents(record: unknown, found: readonly Entry[]): boolean {
  return (
    found.some((entry) => entry.kind === "tool-call" && entry.tool === "spawn_agent") || namedIn(record).length > 0
  );
}

const HEAD_BYTES = 640;
