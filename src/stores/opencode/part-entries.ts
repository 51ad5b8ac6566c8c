import type { EpochMs } from "../../platform/clock.ts";
import { asNumber, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChildNames } from "./child-names.ts";
import { positionOf } from "./cursor.ts";
import type { MessageFacts } from "./message-facts.ts";
import { anyTokens, childInOutput, errorEntry, errorFacts, isUnfinished } from "./text.ts";

/** A part with the message it belongs to. */
export interface Part {
  readonly id: string;
  /** The row's creation. */
  readonly at: EpochMs;
  readonly data: JsonObject;
  readonly message: MessageFacts;
}

/** What a part needs to know of other rows. */
export interface PartContext {
  readonly children: ChildNames;
  /** Whether the message holds the note that the person ran a command themselves (`!cmd`). */
  isShell(message: string): boolean;
  /** Whether the message holds the part that stands for a compaction. */
  isCompaction(message: string): boolean;
}

/** What the note of a `!cmd` begins with (1.18.33). */
export const SHELL_NOTE = "The following tool was executed by the user";

/** A call of the model has its provider's id; one that the person made has a ULID (1.18.33). */
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** Whether the context must say what the parent of the part's message is. */
export function asksForParent({ data, message }: Part): boolean {
  return isPersonsCommand(data) || (data.type === "text" && message.isSummary);
}

/** The child session that a part names, if it is a task. */
export function childOfPart(data: JsonObject): SessionId | undefined {
  const state = asObject(data.state);
  if (data.type !== "tool" || data.tool !== "task" || state === undefined) return undefined;
  const metadata = asObject(state.metadata);
  return (
    sessionIdOf(metadata?.sessionId ?? metadata?.sessionID) ??
    childInOutput(asText(state.output) ?? "") ??
    sessionIdOf(asObject(state.input)?.task_id)
  );
}

/**
 * What a v1 part says (types of OpenCode 1.2 to 1.18). Never shown: synthetic text (file contents, hints, completions of
 * tasks), ignored text, files, mentions, steps, snapshots, patches, what is not known, and what a system's message says.
 */
export function partEntries(part: Part, context: PartContext): Entry[] {
  const { id, at, data, message } = part;
  if (message.role === "other") return [];
  const base = { at, pos: positionOf(id), id };
  switch (data.type) {
    case "text":
      return textEntries(part, base, context);
    case "reasoning": {
      const text = asText(data.text);
      return text === undefined ? [] : [{ ...base, kind: "reasoning", text }];
    }
    case "tool":
      return toolEntries(part, base, context);
    case "subtask": {
      const prompt = asText(data.prompt) ?? asText(data.description) ?? "";
      const command = asText(data.command);
      const head = command === undefined ? `@${asText(data.agent) ?? "agent"}` : `/${command.replace(/^\//, "")}`;
      return [{ ...base, kind: "user", text: `${head} ${prompt}`.trimEnd() }];
    }
    case "compaction":
      return [{ ...base, kind: "marker", marker: "compact", ...(data.auto === true && { summary: "automatic" }) }];
    case "retry": {
      const error = errorFacts(data.error);
      if (error === undefined) return [];
      return [errorEntry({ ...error, name: `attempt ${asNumber(data.attempt) ?? "?"}: ${error.name}` }, base)];
    }
    default:
      return [];
  }
}

/** What a message itself says, behind its parts: what it used, and how it failed. */
export function messageEntries(message: MessageFacts): Entry[] {
  const { id, at, model, tokens, cost, error, completed } = message;
  const pos = positionOf(id);
  const entries: Entry[] = [];
  if (message.role === "assistant" && tokens !== undefined && anyTokens(tokens)) {
    const said = { ...(model !== undefined && { model }), ...(cost !== undefined && { costUsd: cost }) };
    entries.push({ kind: "usage", at, pos, key: id, tokens, ...said });
  }
  if (error !== undefined) entries.push(errorEntry(error, { at: completed ?? at, pos, id }));
  return entries;
}

type Base = Pick<Entry, "at" | "pos" | "id">;

function textEntries({ data, message }: Part, base: Base, context: PartContext): Entry[] {
  const text = asText(data.text);
  if (text === undefined || data.synthetic === true || data.ignored === true) return [];
  if (speaker(data, message) === "user") return [{ ...base, kind: "user", text }];
  if (!message.isSummary) {
    return [{ ...base, kind: "assistant", text, ...(message.model !== undefined && { model: message.model }) }];
  }
  const summary: Entry = { ...base, kind: "marker", marker: "compact-summary", text };
  // Before there were compaction parts, the summary was all that told of one.
  const told = message.parent !== undefined && context.isCompaction(message.parent);
  return told
    ? [summary]
    : [
        { ...base, kind: "marker", marker: "compact" },
        { ...summary, id: `${base.id}:summary` },
      ];
}

/** Where the message can't be read: only an answer's text says when it was written. */
function speaker(data: JsonObject, { role }: MessageFacts): MessageFacts["role"] {
  return role ?? (asObject(data.time) === undefined ? "user" : "assistant");
}

function toolEntries({ data, message }: Part, base: Base, context: PartContext): Entry[] {
  const state = asObject(data.state) ?? {};
  const tool = asText(data.tool) ?? "tool";
  const metadata = asObject(state.metadata);
  const output = outputOf(state, metadata);
  const callId = asText(data.callID);
  const call: Entry = {
    ...base,
    kind: "tool-call",
    tool,
    ...(callId !== undefined && { callId }),
    input: inputOf(state),
    ...(tool === "invalid" && { summary: invalidSummary(state) }),
    ...(output !== undefined && { output }),
    ...(hasFailed(tool, state, metadata) && { isError: true }),
    ...(isUnfinished(state.status) && { isRunning: true }),
  };
  const child = childOfPart(data);
  if (child !== undefined) {
    const link = context.children.linkAt(child, message.at, {
      title: asText(asObject(state.input)?.description),
      resumes: asText(asObject(state.input)?.task_id) !== undefined,
    });
    return link === undefined ? [call] : [call, { ...base, id: `sub-${child}`, kind: "subagent", subagent: link }];
  }
  if (!isPersonsCommand(data) || message.parent === undefined || !context.isShell(message.parent)) return [call];
  const command = asText(asObject(state.input)?.command) ?? "";
  return [{ ...base, id: `${base.id}:command`, kind: "user", text: `!${command}` }, call];
}

function isPersonsCommand(data: JsonObject): boolean {
  return data.type === "tool" && data.tool === "bash" && ULID.test(asText(data.callID) ?? "");
}

/** A call that is still being written has its input as raw text. */
function inputOf(state: JsonObject): unknown {
  const input = asObject(state.input);
  const empty = input !== undefined && Object.keys(input).length === 0;
  return empty ? (asText(state.raw) ?? input) : state.input;
}

/** A running command keeps what it has printed so far in its metadata. */
function outputOf(state: JsonObject, metadata: JsonObject | undefined): string | undefined {
  switch (state.status) {
    case "completed":
      return asText(state.output) ?? "";
    case "error":
      return asText(state.error) ?? asText(state.output) ?? "";
    default:
      return asText(metadata?.output);
  }
}

function invalidSummary(state: JsonObject): string {
  const input = asObject(state.input);
  return [asText(input?.tool), asText(input?.error)].filter((text) => text !== undefined).join(": ");
}

/** A command that fails, or that the person stops, is `completed` all the same; so is a call of a tool that is none. */
function hasFailed(tool: string, state: JsonObject, metadata: JsonObject | undefined): boolean {
  const exit = metadata?.exit;
  return (
    state.status === "error" ||
    (typeof exit === "number" && exit !== 0) ||
    metadata?.interrupted === true ||
    (state.status === "completed" && tool === "invalid") ||
    (exit === null && (asText(state.output) ?? "").includes("User aborted the command"))
  );
}
