import { byteOffsetOf } from "../../jsonl/cursor.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import { readRange } from "../../jsonl/source.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import { PAGE_BYTES, TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChatFile } from "./chat-file.ts";
import { promptOf, timeOf } from "./records.ts";

/** What a subagent's first record says: fixed once it is written. */
export interface FirstRecord {
  readonly at: EpochMs;
  /** What it was asked to do (see `promptMark`). */
  readonly prompt: string | undefined;
  /** The session that its records name: its parent's. */
  readonly session: string | undefined;
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

/** Reads what a subagent's file begins with; undefined as long as no whole record with a time stands there. */
export function firstRecordOf(file: ChatFile): FirstRecord | undefined {
  let first: JsonObject | undefined;
  let prompt: string | undefined;
  const end = byteOffsetOf(Math.min(file.source.size, PAGE_BYTES));
  for (const line of file.linesFrom(0, end)) {
    for (const record of file.records(line.bytes)) {
      if (timeOf(record) === undefined) continue;
      first ??= record;
      prompt ??= promptOf(record);
      if (prompt !== undefined || record.type === "assistant") return firstOf(first, prompt);
    }
  }
  return first === undefined ? undefined : firstOf(first, prompt);
}

/** What the record that a subagent begins with says. */
export function firstOf(record: JsonObject, prompt: string | undefined): FirstRecord | undefined {
  const at = timeOf(record);
  return at === undefined ? undefined : { at, prompt: prompt && promptMark(prompt), session: asText(record.sessionId) };
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
