import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import { readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import { PAGE_BYTES, TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChatFile } from "./chat-file.ts";
import { promptOf, timeOf } from "./records.ts";

/** What a subagent's first records say. */
export interface FirstRecord {
  /** When it was started; undefined when none of them states a time. */
  readonly at: EpochMs | undefined;
  /** What it was asked to do (see `promptMark`). */
  readonly prompt: string | undefined;
  /** The session that its records name: its parent's. */
  readonly session: string | undefined;
  /** Nothing that is appended can say more. */
  readonly settled: boolean;
}

/** What the file beside a subagent's transcript says (`agent-<id>.meta.json`, 2.1); every field may be missing. */
export interface ChildMeta {
  readonly toolUseId?: string;
  /** The subagent that started it. */
  readonly parent?: SessionId;
  readonly description?: string;
  readonly agentType?: string;
  readonly finished: boolean;
  /** It was written by a release (2.1.197, 2.1.332) that registers its processes and says of a whole answer why it stopped. */
  readonly recent: boolean;
}

/** How a subagent's records end. */
export interface ChildTail {
  /** The time of the last record. */
  readonly at: EpochMs | undefined;
  /** The time of the last prompt that it was given. */
  readonly promptAt: EpochMs | undefined;
  /** It ends in the middle of a turn: with a prompt, a call without its output, or an output. */
  readonly open: boolean;
  /** Its last answer does not say why the model stopped: one that was cut off or, of an older release, any. */
  readonly unstopped: boolean;
  /** Its last answer is an API error. */
  readonly failed: boolean;
}

/** Nothing is known of how it ends. */
export const NO_TAIL: ChildTail = { at: undefined, promptAt: undefined, open: false, unstopped: false, failed: false };

/** Internal helpers of Claude Code 2.1: compaction and prompt suggestions run as agents, but nobody started them. */
export function isHelper(id: string): boolean {
  return id.startsWith("acompact-") || id.startsWith("aprompt_suggestion-");
}

/** Reads what a subagent's file begins with; undefined as long as no whole line stands there. */
export async function firstRecordOf(file: ChatFile): Promise<FirstRecord | undefined> {
  const end = await firstLineEnd(file.source);
  if (end === undefined) return undefined;
  return end > PAGE_BYTES ? longFirst(file, end) : (statedFirst(file) ?? untimedFirst(file));
}

function statedFirst(file: ChatFile): FirstRecord | undefined {
  let first: JsonObject | undefined;
  let prompt: string | undefined;
  const end = byteOffsetOf(Math.min(file.source.size, PAGE_BYTES));
  for (const line of file.linesFrom(0, end)) {
    for (const record of file.records(line.bytes)) {
      if (timeOf(record) === undefined) continue;
      first ??= record;
      prompt ??= promptOf(record);
      if (prompt !== undefined || record.type === "assistant") return firstOf(first, prompt, true);
    }
  }
  return first === undefined ? undefined : firstOf(first, prompt, false);
}

/** What the record that a subagent begins with says. */
export function firstOf(record: JsonObject, prompt: string | undefined, settled: boolean): FirstRecord {
  const session = asText(record.sessionId);
  return { at: timeOf(record), prompt: prompt && promptMark(prompt), session, settled };
}

/** Of a file whose records state no time, or show nothing at all. */
function untimedFirst(file: ChatFile): FirstRecord {
  const end = byteOffsetOf(Math.min(file.source.size, PAGE_BYTES));
  let first: JsonObject | undefined;
  for (const line of file.linesFrom(0, end)) {
    for (const record of file.records(line.bytes)) {
      first ??= record;
      const prompt = promptOf(record);
      if (prompt !== undefined) return firstOf(first, prompt, false);
    }
  }
  const at = first === undefined ? file.statedTimeBefore(byteOffsetOf(0)) : undefined;
  const session = asText(first?.sessionId) ?? sessionIn(file.slice(0, HEAD_BYTES));
  return { at, prompt: undefined, session, settled: false };
}

/** Of a first record that is too long to be parsed: its time, and whose it is; what was asked is not looked for. */
function longFirst(file: ChatFile, end: ByteOffset): FirstRecord {
  const at = file.statedTimeOfLong(byteOffsetOf(0), end);
  const session = sessionIn(file.slice(0, HEAD_BYTES)) ?? sessionIn(file.slice(end - HEAD_BYTES, end));
  return { at, prompt: undefined, session, settled: true };
}

/** Bytes at either end of a record in which its envelope stands. */
const HEAD_BYTES = 1024;
const STEP_BYTES = 64 * 1024;
const FIRST_STEP_BYTES = 8 * 1024;

/** Quotes inside a text are escaped, so that these bytes are a key. */
function sessionIn(bytes: Buffer): string | undefined {
  return /"sessionId":\s*"([^"\\]{1,200})"/.exec(bytes.toString("latin1"))?.[1];
}

/** Behind the first newline; waits now and then so as not to hold up others. */
async function firstLineEnd(source: ByteSource): Promise<ByteOffset | undefined> {
  const breather = new Breather();
  for (let from = 0; from < source.size; ) {
    // Mostly the first line is short.
    const bytes = readRange(source, from, Math.min(from + (from === 0 ? FIRST_STEP_BYTES : STEP_BYTES), source.size));
    const newline = bytes.indexOf(0x0a);
    if (newline >= 0) return byteOffsetOf(from + newline + 1);
    // Cut short since it was opened.
    if (bytes.length === 0) return undefined;
    from += bytes.length;
    if (breather.isDue) await breather.pause();
  }
  return undefined;
}

/** As much of a prompt as tells it from others. A cut string would keep the whole in memory, so it is copied. */
export function promptMark(prompt: string): string {
  return Buffer.from(prompt.trim().slice(0, PROMPT_CHARACTERS)).toString();
}

const PROMPT_CHARACTERS = 4_000;

/** Reads a meta file; undefined when it is no JSON object (it may be half written). */
export function readMeta(source: ByteSource): ChildMeta | undefined {
  let fields: JsonObject | undefined;
  try {
    fields = asObject(JSON.parse(readRange(source, 0, Math.min(source.size, META_BYTES)).toString()));
  } catch {
    return undefined;
  }
  if (fields === undefined) return undefined;
  const toolUseId = asText(fields.toolUseId);
  const parent = sessionIdOf(fields.parentAgentId);
  const description = asText(fields.description);
  const agentType = asText(fields.agentType) ?? asText(fields.name);
  return {
    ...(toolUseId !== undefined && { toolUseId }),
    ...(parent !== undefined && { parent }),
    ...(description !== undefined && { description }),
    ...(agentType !== undefined && { agentType }),
    finished: fields.finished === true,
    recent: fields.requestShape !== undefined || fields.spawnDepth !== undefined,
  };
}

const META_BYTES = 64 * 1024;

/** A title of at most 160 characters: the first of `texts` that says something, else the id. */
export function childTitle(id: SessionId, texts: readonly (string | undefined)[]): string {
  const said = texts.find((text) => text !== undefined && text.trim() !== "") ?? id;
  return clip(oneLine(said.slice(0, TITLE_CHARACTERS * 16)), TITLE_CHARACTERS).text;
}

/** Follows a subagent's records to its end. */
export class TailReader {
  #at: EpochMs | undefined;
  #promptAt: EpochMs | undefined;
  #open = false;
  #unstopped = false;
  #failed = false;

  /** The next record, in the file's order. */
  next(record: JsonObject): void {
    this.#at = timeOf(record) ?? this.#at;
    if (record.type === "assistant") {
      this.#failed = record.isApiErrorMessage === true;
      const reason = asObject(record.message)?.stop_reason;
      this.#open = !this.#failed && (callsTool(record) || reason === "tool_use");
      this.#unstopped = !this.#failed && reason === null;
    } else if (record.type === "user" && record.isMeta !== true) {
      const prompt = promptOf(record);
      if (prompt !== undefined) this.#promptAt = timeOf(record) ?? this.#promptAt;
      this.#open = true;
      this.#unstopped = false;
    }
  }

  tail(): ChildTail {
    const [open, unstopped, failed] = [this.#open, this.#unstopped, this.#failed];
    return { at: this.#at, promptAt: this.#promptAt, open, unstopped, failed };
  }
}

function callsTool(record: JsonObject): boolean {
  const blocks = asArray(asObject(record.message)?.content) ?? [];
  return blocks.some((block) => asObject(block)?.type === "tool_use");
}
