import type { PlanEntry, SessionEvent, TurnEndReason } from "../../agents/event.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject, parseJson } from "../../platform/read.ts";
import { optionsOf } from "./shown.ts";

/** A record of `events.jsonl`. */
export interface RecordedEvent {
  readonly seq: number | undefined;
  /** What it says; undefined for kinds that are not known, and for records that can't be read. */
  readonly event: SessionEvent | undefined;
}

/** What a record says. */
export function recordedEvent(record: unknown): RecordedEvent {
  const fields = asObject(record) ?? {};
  return { seq: asNumber(fields.seq), event: eventOf(fields) };
}

/** As `recordedEvent`, of its JSON. */
export function parseRecord(text: string): { readonly record: unknown } & RecordedEvent {
  const record = jsonOf(text);
  return { record, ...recordedEvent(record) };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function eventOf(fields: JsonObject): SessionEvent | undefined {
  const text = asString(fields.text);
  const toolCallId = asText(fields.toolCallId);
  switch (fields.kind) {
    case "user-prompt":
    case "text-delta":
    case "thought":
    case "notice":
      return text === undefined ? undefined : { kind: fields.kind, text };
    case "tool-call":
      return toolCallId === undefined ? undefined : toolCall(fields, toolCallId);
    case "tool-result":
      if (toolCallId === undefined) return undefined;
      return { kind: "tool-result", toolCallId, result: fields.result, isError: fields.isError === true };
    case "agent-prompt":
      if (toolCallId === undefined) return undefined;
      return { kind: "agent-prompt", toolCallId, options: optionsOf(fields.options) };
    case "permission-resolved":
      return toolCallId === undefined ? undefined : resolved(fields, toolCallId);
    case "plan":
      return plan(fields);
    case "turn-end":
      return { kind: "turn-end", reason: (asText(fields.reason) ?? "unknown") as TurnEndReason };
    case "error":
      return { kind: "error", error: { message: asString(asObject(fields.error)?.message) ?? "unknown error" } };
    default:
      return undefined;
  }
}

function toolCall(fields: JsonObject, toolCallId: string): SessionEvent {
  const toolName = asString(fields.toolName) ?? "";
  const call = { kind: "tool-call", toolCallId, toolName, arguments: fields.arguments } as const;
  return fields.isUpdate === true ? { ...call, isUpdate: true } : call;
}

function resolved(fields: JsonObject, toolCallId: string): SessionEvent {
  const decision = fields.decision === "approve" || fields.decision === "deny" ? fields.decision : "cancelled";
  const optionId = asText(fields.optionId);
  return { kind: "permission-resolved", toolCallId, decision, ...(optionId !== undefined && { optionId }) };
}

function plan(fields: JsonObject): SessionEvent {
  const title = asText(fields.title);
  const entries = (asArray(fields.entries) ?? []).flatMap((each): PlanEntry[] => {
    const entry = asObject(each);
    const content = asText(entry?.content);
    if (entry === undefined || content === undefined) return [];
    return [{ content, priority: asString(entry.priority) ?? "", status: asString(entry.status) ?? "" }];
  });
  return { kind: "plan", entries, ...(title !== undefined && { title }) };
}
