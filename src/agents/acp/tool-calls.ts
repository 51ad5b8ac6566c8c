import { asText, type JsonObject } from "../../platform/read.ts";
import type { SessionEvent } from "../event.ts";
import { toolContent, withoutBinary } from "./content.ts";

/** What is known of a call that has not ended. */
interface OpenCall {
  readonly rawInput: unknown;
  /** What its newest content says. */
  readonly content: unknown;
  readonly ended: boolean;
  /** About how much memory it takes: characters. */
  readonly weight: number;
}

/** So many calls are known at a time, and so much of what they hold; the oldest are forgotten. */
const MOST_CALLS = 256;
const MOST_WEIGHT = 16 * 1024 * 1024;

const NEW: OpenCall = { rawInput: undefined, content: undefined, ended: false, weight: 0 };

/**
 * The tool calls of a session. An update names only what is new about its call; what is told of it here has the newest
 * of all, and a call has one result.
 */
export class ToolCalls {
  readonly #calls = new Map<string, OpenCall>();
  #weight = 0;

  /** A `tool_call`: a call begins. One that is known and has not ended goes on. */
  announced(id: string, fields: JsonObject, weight: number): readonly SessionEvent[] {
    const before = this.#calls.get(id);
    const isKnown = before !== undefined && !before.ended;
    return this.#take(id, fields, weight, isKnown ? before : NEW, isKnown ? "updates" : "announces");
  }

  /** A `tool_call_update`. One that says what an unknown call is begins it. */
  updated(id: string, fields: JsonObject, weight: number): readonly SessionEvent[] {
    const before = this.#calls.get(id);
    const says = nameOf(fields) !== "" || isThere(fields.rawInput);
    // What is told of a call that has its result would open it again.
    if (before?.ended === true) return [];
    const telling = before === undefined ? "announces" : "updates";
    return this.#take(id, fields, weight, before ?? NEW, says ? telling : "is silent");
  }

  #take(
    id: string,
    fields: JsonObject,
    weight: number,
    before: OpenCall,
    telling: "announces" | "updates" | "is silent",
  ): readonly SessionEvent[] {
    const rawInput = isThere(fields.rawInput) ? withoutBinary(fields.rawInput) : before.rawInput;
    const content = toolContent(fields.content) ?? before.content;
    const ended = fields.status === "completed" || fields.status === "failed";
    this.#keep(id, ended ? { ...NEW, ended } : { rawInput, content, ended, weight: before.weight + weight });
    const call: SessionEvent = {
      kind: "tool-call",
      toolCallId: id,
      // An update that names its call by its kind alone says less than what was announced.
      toolName: telling === "updates" ? (asText(fields.title) ?? asText(fields.name) ?? "") : nameOf(fields),
      arguments: rawInput ?? {},
      ...(telling === "updates" && { isUpdate: true }),
    };
    const result: SessionEvent = {
      kind: "tool-result",
      toolCallId: id,
      result: isThere(fields.rawOutput) ? withoutBinary(fields.rawOutput) : (content ?? null),
      isError: fields.status === "failed",
    };
    return [...(telling === "is silent" ? [] : [call]), ...(ended ? [result] : [])];
  }

  #keep(id: string, call: OpenCall): void {
    this.#forget(id);
    this.#calls.set(id, call);
    this.#weight += call.weight;
    for (const oldest of this.#calls.keys()) {
      if (this.#calls.size <= MOST_CALLS && this.#weight <= MOST_WEIGHT) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#weight -= this.#calls.get(id)?.weight ?? 0;
    this.#calls.delete(id);
  }
}

/** What a call is called: what it does, in the agent's words, else its kind. */
function nameOf(fields: JsonObject): string {
  return asText(fields.title) ?? asText(fields.name) ?? asText(fields.kind) ?? "";
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
