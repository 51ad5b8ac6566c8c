import { asArray, asNumber, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { PlanEntry, SessionEvent, UsageFigures } from "../event.ts";
import { contentText } from "./content.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** What an update says: what happened, or why it says nothing. */
export type UpdateSays = readonly SessionEvent[] | { readonly nothing: string };

/** What a `session/update` says. `weight`: about how many characters it has. */
export function eventsOf(update: unknown, calls: ToolCalls, weight: number): UpdateSays {
  const fields = asObject(update);
  switch (fields?.sessionUpdate) {
    case "agent_message_chunk":
      return textEvents("text-delta", fields);
    case "agent_thought_chunk":
      return textEvents("thought", fields);
    // The echo of our own prompt.
    case "user_message_chunk":
      return [];
    case "tool_call":
    case "tool_call_update":
      return toolEvents(fields, calls, weight);
    case "plan":
      return planEvents(fields);
    case "usage_update":
      return usageEvents(fields);
    case "notice":
      return noticeEvents(fields);
    // What an agent offers and how it is set: nothing that happened.
    case "available_commands_update":
    case "current_mode_update":
    case "config_option_update":
    case "session_info_update":
      return [];
    default:
      return { nothing: "an update of an unknown kind" };
  }
}

/** What a question for permission says of the call that it is about, if it names one. */
export function callEvents(toolCall: JsonObject, calls: ToolCalls, weight: number): readonly SessionEvent[] {
  const id = asText(toolCall.toolCallId);
  return id === undefined ? [] : calls.updated(id, toolCall, weight);
}

function textEvents(kind: "text-delta" | "thought", fields: JsonObject): UpdateSays {
  const text = contentText(fields.content);
  if (text === undefined) return { nothing: "a chunk without text" };
  return text === "" ? [] : [{ kind, text }];
}

function toolEvents(fields: JsonObject, calls: ToolCalls, weight: number): UpdateSays {
  const id = asText(fields.toolCallId);
  if (id === undefined) return { nothing: "a tool call without an id" };
  return fields.sessionUpdate === "tool_call" ? calls.announced(id, fields, weight) : calls.updated(id, fields, weight);
}

function planEvents(fields: JsonObject): UpdateSays {
  const entries = asArray(fields.entries);
  if (entries === undefined) return { nothing: "a plan without entries" };
  const title = asText(fields.title);
  return [
    {
      kind: "plan",
      entries: entries.flatMap((entry) => planEntry(entry) ?? []),
      ...(title !== undefined && { title }),
    },
  ];
}

function planEntry(value: unknown): PlanEntry | undefined {
  const fields = asObject(value);
  const content = asString(fields?.content);
  if (content === undefined) return undefined;
  return { content, priority: asText(fields?.priority) ?? "medium", status: asText(fields?.status) ?? "pending" };
}

function usageEvents(fields: JsonObject): UpdateSays {
  const { size, used } = { size: countOf(fields.size), used: countOf(fields.used) };
  if (size === undefined || size === 0 || used === undefined) return { nothing: "a usage without its figures" };
  const cost = costOf(fields.cost);
  // Some count what was compacted away as well: no more than the window holds is ever in it.
  return [{ kind: "usage_update", size, used: Math.min(used, size), ...(cost !== undefined && { cost }) }];
}

/** US dollars: what is told in another currency would be taken for them. */
function costOf(value: unknown): number | undefined {
  const fields = asObject(value);
  const isDollars = (asText(fields?.currency) ?? "USD").toUpperCase() === "USD";
  const amount = isDollars ? asNumber(fields === undefined ? value : fields.amount) : undefined;
  return amount !== undefined && amount >= 0 ? amount : undefined;
}

function noticeEvents(fields: JsonObject): UpdateSays {
  const words = [asText(fields.title), asText(fields.description) ?? asText(fields.message)];
  const text = words.filter((each) => each !== undefined).join(": ");
  return text === "" ? { nothing: "a notice without text" } : [{ kind: "notice", text }];
}

/** The `usage` of a prompt's answer; undefined when it states nothing. */
export function usageFigures(value: unknown): UsageFigures | undefined {
  const usage = asObject(value) ?? {};
  const stated = Object.entries({
    tokensIn: countOf(usage.inputTokens),
    tokensOut: countOf(usage.outputTokens),
    cacheReadTokens: countOf(usage.cachedReadTokens),
    cacheWriteTokens: countOf(usage.cachedWriteTokens),
    reasoningTokens: countOf(usage.thoughtTokens),
  }).filter(([, figure]) => figure !== undefined);
  return stated.length === 0 ? undefined : Object.fromEntries(stated);
}

/** A count as the protocol has it: what is no whole number, or below zero, counts nothing. */
function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
