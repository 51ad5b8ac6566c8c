import { asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import { clip } from "../../transcript/clip.ts";
import type { SessionEvent } from "../event.ts";
import { diffsIn, type ToolContent, toolContent, withoutBinary } from "./content.ts";

/** What is known of a call that has not ended, or only that it has. */
interface KnownCall {
  readonly rawInput?: unknown;
  /** What its newest content says. */
  readonly content?: ToolContent;
  /** What its command printed so far. */
  readonly printed?: string;
  readonly ended?: true;
  /** About how much memory its input and its content take: characters. */
  readonly inputWeight: number;
  readonly contentWeight: number;
}

/** So many calls are known at a time, and so much of what they hold (characters); the oldest are forgotten. */
const MOST_CALLS = 256;
const MOST_WEIGHT = 16 * 1024 * 1024;
/** More of what a command prints is not kept: characters. */
const MOST_PRINTED = 1024 * 1024;

const NEW: KnownCall = { inputWeight: 0, contentWeight: 0 };

/** What an update is for who listens: the beginning of a call, news of a call, or nothing but perhaps its end. */
type Telling = "announces" | "updates" | "is silent";

/**
 * The tool calls of a session. An update names only what is new about its call; what is told of it here has the newest
 * of all, and a call has one result.
 */
export class ToolCalls {
  readonly #calls = new Map<string, KnownCall>();
  #weight = 0;

  /** A `tool_call`: a call begins. One that is known and has not ended goes on. `weight`: how long the update's line is. */
  announced(id: string, fields: JsonObject, weight: number): readonly SessionEvent[] {
    const before = this.#calls.get(id);
    const goesOn = before !== undefined && before.ended !== true;
    return this.#take(id, fields, mixed(goesOn ? before : NEW, fields, weight), goesOn ? "updates" : "announces");
  }

  /** A `tool_call_update`. One that says what an unknown call is begins it. */
  updated(id: string, fields: JsonObject, weight: number): readonly SessionEvent[] {
    const before = this.#calls.get(id);
    // What is told of a call that has its result would open it again.
    if (before?.ended === true) return [];
    const says = nameOf(fields) !== "" || isThere(fields.rawInput);
    const telling = before === undefined ? "announces" : "updates";
    return this.#take(id, fields, mixed(before ?? NEW, fields, weight), says ? telling : "is silent");
  }

  /** What the call is given, as far as was told; undefined for one that is not known, or has ended. */
  inputOf(id: string): unknown {
    return this.#calls.get(id)?.rawInput;
  }

  #take(id: string, fields: JsonObject, now: KnownCall, telling: Telling): readonly SessionEvent[] {
    const ended = fields.status === "completed" || fields.status === "failed";
    this.#keep(id, ended ? { ...NEW, ended } : now);
    const events: SessionEvent[] = [];
    if (telling !== "is silent") events.push(callEvent(id, fields, now, telling));
    if (ended) events.push({ kind: "tool-result", toolCallId: id, ...resultOf(fields, now) });
    return events;
  }

  #keep(id: string, call: KnownCall): void {
    this.#forget(id);
    this.#calls.set(id, call);
    this.#weight += weightOf(call);
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size === 1 || (this.#calls.size <= MOST_CALLS && this.#weight <= MOST_WEIGHT)) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#weight -= weightOf(this.#calls.get(id) ?? NEW);
    this.#calls.delete(id);
  }
}

/** What is known of a call after an update. */
function mixed(before: KnownCall, fields: JsonObject, weight: number): KnownCall {
  const hasInput = isThere(fields.rawInput);
  const content = toolContent(fields.content);
  const printed = printedBy(fields);
  return {
    ...before,
    ...(hasInput && { rawInput: withoutBinary(fields.rawInput), inputWeight: weight }),
    ...(content !== undefined && { content, contentWeight: weight }),
    ...(printed !== undefined && { printed: joined(before.printed ?? "", printed) }),
  };
}

function joined(before: string, printed: string): string {
  return before.length >= MOST_PRINTED ? before : clip(before + printed, MOST_PRINTED).text;
}

/** Codex' agent tells what a command prints beside the update's own fields. */
function printedBy(fields: JsonObject): string | undefined {
  const meta = asObject(fields._meta);
  return asString(asObject(meta?.terminal_output_delta ?? meta?.terminal_output)?.data);
}

function callEvent(id: string, fields: JsonObject, now: KnownCall, telling: Telling): SessionEvent {
  const isUpdate = telling === "updates";
  return {
    kind: "tool-call",
    toolCallId: id,
    // An update that names its call by its kind alone says less than what was announced.
    toolName: isUpdate ? (asText(fields.title) ?? asText(fields.name) ?? "") : nameOf(fields),
    arguments: now.rawInput ?? {},
    ...(isUpdate && { isUpdate }),
  };
}

type ToolResult = Extract<SessionEvent, { kind: "tool-result" }>;

/** What a tool gave back: its own output before what the content says, whose changes of files are kept all the same. */
function resultOf(fields: JsonObject, { printed, content }: KnownCall): Omit<ToolResult, "kind" | "toolCallId"> {
  const output = isThere(fields.rawOutput) ? withoutBinary(fields.rawOutput) : printed;
  const diffs = output === undefined ? [] : diffsIn(content);
  const isError = fields.status === "failed";
  return { result: output ?? content ?? null, isError, ...(diffs.length > 0 && { diffs }) };
}

function weightOf({ inputWeight, contentWeight, printed }: KnownCall): number {
  return inputWeight + contentWeight + (printed?.length ?? 0);
}

/** What a call is called: what it does, in the agent's words, else its kind. */
function nameOf(fields: JsonObject): string {
  return asText(fields.title) ?? asText(fields.name) ?? asText(fields.kind) ?? "";
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
