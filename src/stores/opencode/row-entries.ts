import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asArray, asNumber, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChildNames } from "./child-names.ts";
import { positionOf } from "./cursor.ts";
import { anyTokens, childInOutput, errorEntry, errorFacts, isUnfinished, tokensOf } from "./text.ts";

/** A row of `session_message` (v2: one row a message, with its content inside). */
export interface MessageRow {
  readonly id: string;
  readonly type: string;
  readonly at: EpochMs;
  readonly data: JsonObject;
}

/** What a row needs to know of other rows. */
export interface RowContext {
  readonly children: ChildNames;
  /** Whether the answer before this end-of-turn mark already says that it was stopped. */
  isToldStopped(row: MessageRow): boolean;
}

/** Tools that start a subagent: 2.0 calls it `subagent`. */
const SUBAGENT_TOOLS: readonly unknown[] = ["subagent", "task"];

/** The child sessions that a row's calls name. */
export function childrenOfRow({ type, data }: MessageRow): SessionId[] {
  if (type !== "assistant") return [];
  return (asArray(data.content) ?? []).flatMap((block) => childOfBlock(asObject(block)) ?? []);
}

/**
 * What a v2 row says (types of 1.18.33's preview and of 2.0). Each entry's id is the row's id and its index in the row, as
 * the row grows in place. Never shown: synthetic and system text, skill bodies, changes of agent, model or place.
 */
export function rowEntries(row: MessageRow, context: RowContext): Entry[] {
  const { id, type, at, data } = row;
  const base = { at, pos: positionOf(id), id: `${id}:0` };
  switch (type) {
    case "user": {
      const text = asText(data.text);
      return text === undefined ? [] : [{ ...base, kind: "user", text }];
    }
    case "assistant":
      return assistantEntries(row, context);
    case "shell":
      return shellEntries(row, base);
    case "compaction":
      return compactionEntries(row, base);
    case "idle": {
      const stopped = data.outcome === "interrupted" && !context.isToldStopped(row);
      return stopped ? [{ ...base, kind: "marker", marker: "interrupted" }] : [];
    }
    default:
      return [];
  }
}

type Base = Pick<Entry, "at" | "pos" | "id">;

function assistantEntries({ id, at, data }: MessageRow, context: RowContext): Entry[] {
  const pos = positionOf(id);
  const model = asText(asObject(data.model)?.id) ?? asText(data.model);
  const said = model === undefined ? {} : { model };
  const entries = (asArray(data.content) ?? []).flatMap((value, index): Entry[] => {
    const block = asObject(value);
    if (block === undefined) return [];
    const base = { at: epochMsOf(asObject(block.time)?.created) ?? at, pos, id: `${id}:${index}` };
    if (block.type === "tool") return toolEntries(block, base, at, context);
    const text = asText(block.text);
    if (text === undefined) return [];
    if (block.type === "text") return [{ ...base, kind: "assistant", text, ...said }];
    return block.type === "reasoning" ? [{ ...base, kind: "reasoning", text }] : [];
  });
  const tokens = tokensOf(data.tokens);
  const cost = asNumber(data.cost);
  if (tokens !== undefined && anyTokens(tokens)) {
    entries.push({ kind: "usage", at, pos, key: id, tokens, ...said, ...(cost !== undefined && { costUsd: cost }) });
  }
  const error = errorFacts(data.error);
  const ended = epochMsOf(asObject(data.time)?.completed) ?? at;
  return error === undefined ? entries : [...entries, errorEntry(error, { at: ended, pos, id })];
}

function toolEntries(block: JsonObject, base: Base, calledAt: EpochMs, { children }: RowContext): Entry[] {
  const state = asObject(block.state) ?? {};
  const callId = asText(block.id);
  const output = outputOf(state);
  const call: Entry = {
    ...base,
    kind: "tool-call",
    tool: asText(block.name) ?? "tool",
    ...(callId !== undefined && { callId }),
    input: state.input,
    ...(output !== undefined && { output }),
    ...(hasFailed(state) && { isError: true }),
    ...(isUnfinished(state.status) && { isRunning: true }),
  };
  const child = childOfBlock(block);
  if (child === undefined) return [call];
  const input = asObject(state.input);
  const resumes = asText(input?.sessionID) !== undefined;
  const link = children.linkAt(child, calledAt, { title: asText(input?.description), resumes });
  return link === undefined ? [call] : [call, { ...base, id: `sub-${child}`, kind: "subagent", subagent: link }];
}

/** The child session that a call in a v2 row names, if it starts a subagent. */
export function childOfBlock(block: JsonObject | undefined): SessionId | undefined {
  if (block?.type !== "tool" || !SUBAGENT_TOOLS.includes(block.name)) return undefined;
  const state = asObject(block.state) ?? {};
  const facts = factsOf(state);
  return (
    sessionIdOf(facts?.sessionID ?? facts?.sessionId) ??
    childInOutput(outputOf(state) ?? "") ??
    sessionIdOf(asObject(state.input)?.sessionID)
  );
}

/** What a tool says of its run: `structured` in 1.18 and early 2.0, `metadata` later. */
function factsOf(state: JsonObject): JsonObject | undefined {
  return asObject(state.metadata) ?? asObject(state.structured);
}

function hasFailed(state: JsonObject): boolean {
  const facts = factsOf(state);
  const exit = facts?.exit;
  return state.status === "error" || (typeof exit === "number" && exit !== 0) || facts?.interrupted === true;
}

function outputOf(state: JsonObject): string | undefined {
  const error = state.status === "error" ? errorFacts(state.error)?.message : undefined;
  if (error !== undefined) return error;
  const texts = (asArray(state.content) ?? []).flatMap((block) => asText(asObject(block)?.text) ?? []);
  const text = texts.reduce((all, next) => (all === "" || all.endsWith("\n") ? all + next : `${all}\n${next}`), "");
  return text === "" && state.status !== "completed" ? undefined : text;
}

function shellEntries({ id, data }: MessageRow, base: Base): Entry[] {
  const command = asText(data.command);
  if (command === undefined) return [];
  const output = shellOutput(data.output);
  const failed = (typeof data.exit === "number" && data.exit !== 0) || data.status === "failed";
  return [
    { ...base, kind: "user", text: `!${command}` },
    {
      ...base,
      id: `${id}:1`,
      kind: "tool-call",
      tool: "bash",
      input: { command },
      ...(output !== undefined && { output }),
      ...(failed && { isError: true }),
      ...(isUnfinished(data.status) && { isRunning: true }),
    },
  ];
}

/** A text in 1.18; an object that holds the text in 2.0. */
function shellOutput(output: unknown): string | undefined {
  const fields = asObject(output);
  return typeof output === "string"
    ? output
    : (asText(fields?.text) ?? asText(fields?.output) ?? asText(fields?.preview));
}

function compactionEntries({ id, data }: MessageRow, base: Base): Entry[] {
  const failed = data.status === "failed";
  const summary = failed ? "failed" : data.reason === "auto" ? "automatic" : undefined;
  const mark: Entry = {
    ...base,
    kind: "marker",
    marker: "compact",
    ...(summary !== undefined && { summary }),
    ...(failed && { isError: true }),
  };
  const text = asText(data.summary);
  return text === undefined
    ? [mark]
    : [mark, { ...base, id: `${id}:1`, kind: "marker", marker: "compact-summary", text }];
}
