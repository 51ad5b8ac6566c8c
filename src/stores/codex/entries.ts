import type { EpochMs } from "../../platform/clock.ts";
import { asArray, asCount, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { callOf } from "./call.ts";
import type { Header } from "./header.ts";
import { allText, IMAGE, isContextEvent, ownWords, withoutIdeContext } from "./injected.ts";
import { readOutput } from "./output.ts";
import { responseUsage, tokensOf } from "./usage.ts";

/**
 * Which of the records that tell one message is shown; one for a whole file. `items`: `item_completed` (paginated);
 * `events`: `user_message` and `agent_message`; `responses`: the raw items (flat files, and those without user events).
 */
export type SourceKind = "items" | "events" | "responses";

/** The call that an output answers. */
export interface FoundCall {
  readonly tool: string;
  readonly pos: Cursor;
}

/** What a record can't say itself: all of it follows from the header and from what stands at most 8 MiB before it. */
export interface RecordContext {
  readonly pos: Cursor;
  readonly at: EpochMs;
  readonly kind: SourceKind;
  readonly header: Header;
  /** Whether the record is a copy of another thread's (a legacy fork): its tokens were spent there. */
  readonly copied: boolean;
  /** The call with this id that was made last. */
  call(callId: string): FoundCall | undefined;
  /** The model of the turn. */
  model(): string | undefined;
  /** The position of the first prompt of the last `turns` turns that are left, where it can be known. */
  promptBefore(turns: number): Cursor | undefined;
}

/** The entries of one parsed record, in the order in which they show. Unknown records have none. */
export function toEntries(record: unknown, context: RecordContext): Entry[] {
  const line = asObject(record);
  if (line === undefined) return [];
  if (!context.header.enveloped) return responseEntries(line, context);
  const payload = asObject(line.payload) ?? {};
  switch (line.type) {
    case "response_item":
      return responseEntries(payload, context);
    case "event_msg":
      return eventEntries(payload, context);
    case "compacted":
      return compactionEntries(payload, context);
    case "token_usage_record":
      return usageEntries(line.type, payload, context);
    case "inter_agent_communication":
      return taskEntries(payload, context);
    default:
      return [];
  }
}

/**
 * Tools are always taken from the raw items: every version and every kind of file has them, in order and once. The
 * finished items beside them (`CommandExecution`, `FileChange`, …) and the `*_end` events repeat them and miss some
 * (plans, code mode, all shell calls of a migrated file), so they are never shown.
 */
function responseEntries(payload: JsonObject, context: RecordContext): Entry[] {
  const { pos, at } = context;
  switch (payload.type) {
    case "message":
      return messageEntries(payload, context);
    case "agent_message":
      return agentTaskEntries(payload, context);
    case "reasoning":
      return context.kind === "responses"
        ? reasoning([...texts(payload.summary), ...texts(payload.content)].join("\n\n"), context)
        : [];
    case "function_call_output":
    case "custom_tool_call_output":
      return [resultEntry(payload, context)];
    case "tool_search_output": {
      const names = (asArray(payload.tools) ?? []).flatMap((tool) => asText(asObject(tool)?.name) ?? []);
      return [{ ...resultEntry(payload, context), tool: "tool_search", text: names.join("\n") }];
    }
    default: {
      const call = callOf(payload);
      return call === undefined ? [] : [{ kind: "tool-call", at, pos, ...call }];
    }
  }
}

function resultEntry(payload: JsonObject, context: RecordContext): Entry & { kind: "tool-result" } {
  const { pos, at } = context;
  const callId = asText(payload.call_id);
  const found = callId === undefined ? undefined : context.call(callId);
  const { text, isError } = readOutput(payload.output);
  return {
    kind: "tool-result",
    at,
    pos,
    ...(callId !== undefined && { callId }),
    ...(found !== undefined && { tool: found.tool, of: found.pos }),
    text,
    ...((isError || payload.status === "failed") && { isError: true }),
  };
}

function messageEntries(payload: JsonObject, context: RecordContext): Entry[] {
  if (payload.role === "user") {
    const shell = shellEntries(allText(payload), context);
    if (shell !== undefined) return shell;
    return context.kind === "responses" ? said("user", ownWords(payload), context) : [];
  }
  if (payload.role !== "assistant") return [];
  const text = allText(payload);
  const task = agentMessageJson(text);
  // V2 agents up to 0.134 wrote what they say to each other as the assistant's.
  if (task !== undefined) return taskEntries(task, context);
  return context.kind === "responses" ? said("assistant", text, context) : [];
}

const SHELL_COMMAND =
  /^\s*<user_shell_command>\s*<command>\n?([\s\S]*?)\n?<\/command>\s*<result>\n?([\s\S]*?)\n?<\/result>\s*<\/user_shell_command>\s*$/;
const SHELL_RESULT = /^Exit code: (-?\d+)\n(?:Duration: [^\n]*\n)?Output:\n?/;

/** `!cmd`: every kind of file has it as this one injected message, so no finished item or event of it is shown. */
function shellEntries(text: string, { pos, at }: RecordContext): Entry[] | undefined {
  const match = SHELL_COMMAND.exec(text);
  if (match === null) return undefined;
  const result = match[2] ?? "";
  const head = SHELL_RESULT.exec(result);
  const failed = head !== null && head[1] !== "0";
  return [
    { kind: "user", at, pos, text: `!${match[1] ?? ""}` },
    {
      kind: "tool-result",
      at,
      pos,
      tool: "bash",
      text: result.slice(head?.[0].length ?? 0),
      ...(failed && { isError: true }),
    },
  ];
}

function eventEntries(payload: JsonObject, context: RecordContext): Entry[] {
  const { pos, at, kind } = context;
  const events = kind === "events";
  switch (payload.type) {
    case "user_message":
      return events && !isContextEvent(payload) ? said("user", userEventText(payload), context) : [];
    case "agent_message":
      return events && !isCompactionNote(payload, context) ? said("assistant", asString(payload.message), context) : [];
    case "agent_reasoning":
    case "agent_reasoning_raw_content":
      return events ? reasoning(asString(payload.text), context) : [];
    case "item_completed":
      return itemEntries(asText(payload.thread_id), asObject(payload.item) ?? {}, context);
    case "token_count":
      return usageEntries(payload.type, payload, context);
    case "turn_aborted":
      // A review's end aborts its own turn; nobody interrupted anything.
      if (payload.reason === "review_ended") return [];
      return [{ kind: "marker", at, pos, marker: "interrupted", summary: asText(payload.reason) ?? "interrupted" }];
    case "thread_rolled_back":
      return [rollbackEntry(payload, context)];
    case "task_complete":
    case "turn_complete":
      return errorEntries(asObject(payload.error)?.message, context);
    case "error":
      return errorEntries(payload.message, context);
    case "entered_review_mode":
      return [reviewCall(payload, context)];
    case "exited_review_mode":
      return reviewResult(asObject(payload.review_output), context);
    default:
      return [];
  }
}

/** A finished item (paginated files; a `Plan` also in others). An inline review's items name the reviewer's thread. */
function itemEntries(thread: string | undefined, item: JsonObject, context: RecordContext): Entry[] {
  const { kind, header } = context;
  if (kind === "responses" || (thread !== undefined && thread !== header.id)) return [];
  if (item.type === "Plan") return said("assistant", asString(item.text), context);
  if (kind !== "items") return [];
  switch (item.type) {
    case "UserMessage":
      return said("user", itemText(item.content), context);
    case "AgentMessage":
      return said("assistant", itemText(item.content), context);
    case "Reasoning":
      return reasoning([...texts(item.summary_text), ...texts(item.raw_content)].join("\n\n"), context);
    case "EnteredReviewMode":
      return [reviewCall(item, context)];
    default:
      return [];
  }
}

/**
 * A compaction is the one `compacted` record that every version since 0.42 writes; the `context_compacted` event and the
 * `ContextCompaction` item beside it say nothing more.
 */
function compactionEntries(payload: JsonObject, { pos, at }: RecordContext): Entry[] {
  const message = asText(payload.message);
  const marker: Entry = { kind: "marker", at, pos, marker: "compact", summary: "context compacted" };
  return message === undefined
    ? [marker]
    : [marker, { kind: "marker", at, pos, marker: "compact-summary", text: message }];
}

/** The `agent_message` event that 0.42 wrote behind every compaction in the agent's name. */
function isCompactionNote(payload: JsonObject, { header }: RecordContext): boolean {
  return payload.message === "Compact task completed" && /^0\.[1-6]?\d\./.test(header.cliVersion ?? "");
}

function usageEntries(type: unknown, payload: JsonObject, context: RecordContext): Entry[] {
  const found = context.copied ? undefined : responseUsage(type, payload);
  if (found === undefined) return [];
  const { pos, at } = context;
  const model = context.model();
  return [
    { kind: "usage", at, pos, key: found.key, tokens: tokensOf(found.usage), ...(model !== undefined && { model }) },
  ];
}

function errorEntries(message: unknown, { pos, at }: RecordContext): Entry[] {
  const text = asText(message);
  return text === undefined ? [] : [{ kind: "marker", at, pos, marker: "error", text, isError: true }];
}

/** The task of a V2 child as its own thread has it (0.145 and newer); mostly encrypted, and then there is nothing to show. */
function agentTaskEntries(payload: JsonObject, context: RecordContext): Entry[] {
  const [head = "", ...rest] = texts(asArray(payload.content)?.map((part) => asObject(part)?.text));
  const text = [head.replace(/^[\s\S]*?\nPayload:\n/, ""), ...rest].join("\n");
  if (!head.startsWith("Message Type: NEW_TASK")) return [];
  return taskEntries({ recipient: payload.recipient, content: text, trigger_turn: true }, context);
}

/** What one agent asks of another shows as the user's, in the chat of the agent that is asked; answers are injected. */
function taskEntries(message: JsonObject, context: RecordContext): Entry[] {
  const { agentPath } = context.header;
  if (agentPath === undefined || message.recipient !== agentPath || message.trigger_turn !== true) return [];
  return said("user", asString(message.content), context);
}

function agentMessageJson(text: string): JsonObject | undefined {
  if (!text.startsWith('{"author":')) return undefined;
  try {
    const message = asObject(JSON.parse(text));
    return message !== undefined && "recipient" in message && "trigger_turn" in message ? message : undefined;
  } catch {
    return undefined;
  }
}

function reviewCall(payload: JsonObject, { pos, at }: RecordContext): Entry {
  const hint = asText(payload.user_facing_hint);
  return { kind: "tool-call", at, pos, tool: "review", input: payload.target ?? {}, ...(hint && { summary: hint }) };
}

function reviewResult(output: JsonObject | undefined, { pos, at }: RecordContext): Entry[] {
  const findings = (asArray(output?.findings) ?? []).flatMap((finding) => asText(asObject(finding)?.title) ?? []);
  const text = [asText(output?.overall_explanation), ...findings].filter(Boolean).join("\n");
  return text === "" ? [] : [{ kind: "tool-result", at, pos, tool: "review", text }];
}

function rollbackEntry(payload: JsonObject, context: RecordContext): Entry {
  const { pos, at } = context;
  const turns = asCount(payload.num_turns);
  const takesBack = turns === undefined ? undefined : context.promptBefore(turns);
  const summary = rollbackText(payload.num_turns);
  return { kind: "marker", at, pos, marker: "rewind", summary, ...(takesBack !== undefined && { takesBack }) };
}

function rollbackText(turns: unknown): string {
  return turns === 1 ? "1 turn taken back" : `${typeof turns === "number" ? turns : "some"} turns taken back`;
}

function said(kind: "user" | "assistant", text: string | undefined, context: RecordContext): Entry[] {
  const { pos, at } = context;
  if (text === undefined || text.trim() === "") return [];
  if (kind === "user") return [{ kind, at, pos, text }];
  const model = context.model();
  return [{ kind, at, pos, text, ...(model !== undefined && { model }) }];
}

function reasoning(text: string | undefined, { pos, at }: RecordContext): Entry[] {
  return text === undefined || text.trim() === "" ? [] : [{ kind: "reasoning", at, pos, text }];
}

/** The person's words in a `user_message` event, or what stands for pictures alone. */
export function userEventText(payload: JsonObject): string | undefined {
  const text = withoutIdeContext(asString(payload.message) ?? "");
  if (text.trim() !== "") return text;
  const images = (asArray(payload.images)?.length ?? 0) + (asArray(payload.local_images)?.length ?? 0);
  return images > 0 ? IMAGE : undefined;
}

/** The text of an item's content parts, or what stands for pictures alone. */
export function itemText(content: unknown): string | undefined {
  const parts = asArray(content)?.map(asObject) ?? [];
  const text = withoutIdeContext(parts.flatMap((part) => asString(part?.text) ?? []).join("\n"));
  if (text.trim() !== "") return text;
  return parts.some((part) => asString(part?.type)?.includes("image")) ? IMAGE : undefined;
}

function texts(values: unknown): string[] {
  return (asArray(values) ?? []).flatMap((value) => asText(value) ?? asText(asObject(value)?.text) ?? []);
}
