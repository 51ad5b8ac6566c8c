import { type ByteOffset, byteOffsetOf, formatJsonlCursor } from "../../jsonl/cursor.ts";
import type { JsonlLine } from "../../jsonl/page.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import { readRange } from "../../jsonl/source.ts";
import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asObject } from "../../platform/read.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import type { ChatTools, OpenChat, OpenPart } from "./chat.ts";
import { type RecordContext, toEntries } from "./entries.ts";
import { glanceAt } from "./glance.ts";
import { timeOf } from "./header.ts";
import { Before } from "./look.ts";
import { isRelevant } from "./relevant.ts";
import { uuidTime } from "./rollout-name.ts";
import { namedIn, Placing } from "./spawned.ts";

/** The entries of some lines, and where they stop short of a call whose agent is still to come. */
export interface ReadEntries {
  readonly entries: readonly Entry[];
  readonly stop?: ByteOffset;
}

/** Turns the lines of one page into entries, looking back where a record does not say all itself. */
export class RecordReader {
  readonly #chat: OpenChat;
  readonly #tools: ChatTools;
  readonly #settle: boolean;
  readonly #before: Before;
  readonly #placing: Placing;

  constructor(chat: OpenChat, tools: ChatTools, { settle }: { readonly settle: boolean }) {
    this.#chat = chat;
    this.#tools = tools;
    this.#settle = settle;
    this.#before = new Before(chat.source);
    this.#placing = new Placing(tools.spawned, this.#before, tools.clock);
  }

  /** Reads `lines`, which follow each other. */
  async read(lines: readonly JsonlLine[]): Promise<ReadEntries> {
    const entries: Entry[] = [];
    if (lines[0]?.start === 0 && this.#chat.chain.incomplete) entries.push(this.#incomplete());
    for (const line of lines) {
      const part = this.#partAt(line.start);
      const found =
        line.kind === "oversized" ? this.#oversized(line.start, line.end, part) : await this.#record(line, part);
      if (found === "wait") return { entries, stop: line.start };
      entries.push(...found);
    }
    return { entries };
  }

  async #record(line: JsonlLine & { kind: "record" }, part: OpenPart): Promise<readonly Entry[] | "wait"> {
    const glance = glanceAt(line.bytes);
    if (glance.type === "turn_context") this.#before.noteModel(line.start, line.bytes);
    if (!isRelevant(line.bytes, part.kind, glance)) return [];
    this.#tools.work.count("parse");
    const entries: Entry[] = [];
    for (const record of parseRecords(line.bytes)) {
      const found = await this.#entriesOf(record, line.start, part);
      if (found === "wait") return "wait";
      entries.push(...found);
    }
    return entries;
  }

  async #entriesOf(record: unknown, start: ByteOffset, part: OpenPart): Promise<readonly Entry[] | "wait"> {
    const context = this.#context(record, start, part);
    const shown: Entry[] = [];
    for (const entry of toEntries(record, context)) {
      shown.push(entry);
      if (entry.kind !== "tool-call") continue;
      const { tool, callId, input } = entry;
      const call = { tool, callId, input, start, at: timeOf(asObject(record)?.timestamp) };
      this.#before.noteCall(call);
      // What was copied spawned the other thread's agents.
      if (tool !== "spawn_agent" || context.copied) continue;
      const agents = await this.#placing.atCall(call, entry);
      if (agents === "wait" && this.#settle) return "wait";
      if (agents !== "wait") shown.push(...agents);
    }
    if (!context.copied && namedIn(record).length > 0)
      shown.push(...(await this.#placing.atNaming(record, start, context)));
    return shown;
  }

  #context(record: unknown, start: ByteOffset, { part, kind, from }: OpenPart): RecordContext {
    const { header, scan } = part;
    const { chain } = this.#chat;
    const own = part === chain.own && start - from + part.start >= (scan.ownStart ?? Number.MAX_SAFE_INTEGER);
    return {
      pos: this.#pos(start),
      at: this.#time(record, start, part),
      kind,
      header,
      copied: !own,
      call: (callId) => {
        const call = this.#before.call(callId, start);
        return call && { tool: call.tool, pos: this.#pos(call.start) };
      },
      model: () => this.#before.model(start),
    };
  }

  #time(record: unknown, start: ByteOffset, { header }: OpenPart["part"]): EpochMs {
    const own = header.enveloped ? (timeOf(asObject(record)?.timestamp) ?? this.#before.time(start)) : undefined;
    return own ?? header.startedAt ?? uuidTime(header.id) ?? (0 as EpochMs);
  }

  /** A line that no page holds. What its first bytes tell is shown: its time, and that a compaction took place. */
  #oversized(start: ByteOffset, end: ByteOffset, { part, kind }: OpenPart): Entry[] {
    const head = readRange(this.#chat.source, start, Math.min(end, start + HEAD_BYTES));
    const stated = /"timestamp":\s*(?:"([^"]{1,40})"|(\d+))/.exec(head.toString("latin1"));
    const at = this.#time({ timestamp: stated?.[1] ?? Number(stated?.[2]) }, start, part);
    const pos = this.#pos(start);
    const marker: Entry = {
      kind: "marker",
      at: epochMsOf(at) ?? at,
      pos,
      marker: "oversized",
      summary: `a record of ${end - start} bytes`,
    };
    if (glanceAt(head).type !== "compacted") return [marker];
    const context = { ...this.#context({}, start, { part, kind, from: 0, to: 0 }), at };
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
    const { parts } = this.#chat;
    const found = parts.find(({ to }) => start < to) ?? parts.at(-1);
    if (found === undefined) throw new Error("a chat without parts has no lines");
    return found;
  }

  #pos(start: ByteOffset): Cursor {
    const { name } = this.#chat.chain;
    return formatJsonlCursor({ offset: start, discarding: false, ...(name !== undefined && { chain: name }) });
  }
}

const HEAD_BYTES = 640;
