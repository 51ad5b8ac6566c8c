import type { EpochMs } from "../platform/clock.ts";
import type { MarkerName, SubagentLink, Tokens } from "../transcript/entry.ts";
import type { SessionId } from "../transcript/names.ts";

/** Where an export was read from: the agent's own store, or our recording (`events.jsonl`). */
export type ExportSource = "native" | "daemon";

/** What an export says of the session as a whole. Times in ms; a figure that the store does not give is absent, never 0. */
export interface ExportMeta {
  /** The agent that was at work: `claude`, `codex`, …; `daemon` for a recording of which nothing else is known. */
  readonly agent: string;
  /** The id in the store that the export was read from. */
  readonly sessionId: SessionId;
  /** The subagent's id, when the export is that of a subagent. */
  readonly child?: SessionId;
  readonly title?: string;
  /** The model that answered last. */
  readonly model?: string;
  readonly cwd?: string;
  readonly startedAt?: EpochMs;
  /** When its last record was written; absent while a process has it open. */
  readonly endedAt?: EpochMs;
  /** How many `messages` there are, those inside subagents not counted. */
  readonly messageCount: number;
  /** How many tool calls stand in them. */
  readonly toolCallCount: number;
  readonly tokens: Tokens;
  readonly costUsd?: number;
  readonly source: ExportSource;
}

/** What chats show as a tool's call though no tool was called. */
export type NoticeName = "plan" | "permission" | "notice";

/** A tool call. */
export interface ExportedCall {
  /** The store's id of the call, which `toolCallId` of its output names; absent where the store has none. */
  readonly id?: string;
  readonly name: string;
  /** As the store holds it: parsed where it is JSON, else text. */
  readonly input: unknown;
  /** What the store itself says that the call does, on one line. */
  readonly summary?: string;
}

/** One message of an export: complete, nothing in it is cut unless that was asked for. */
export interface ExportedMessage {
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly at?: EpochMs;
  /** What was said, or (`tool`) what the tool gave back, or (`system`) what happened. */
  readonly text?: string;
  /** What the agent thought before it spoke; only when asked for. */
  readonly reasoning?: string;
  /** On an answer, where the store says which model gave it. */
  readonly model?: string;
  /** On `tool`: the tool; absent when the call was not found. */
  readonly toolName?: string;
  /** On `tool`: the `id` of the call. */
  readonly toolCallId?: string;
  /** On `assistant`: what it called. */
  readonly toolCalls?: readonly ExportedCall[];
  readonly isError?: true;
  /** On `tool`: the call has not ended; `text` is what it has printed so far. */
  readonly isRunning?: true;
  /**
   * On `system`: what it marks; `compact-summary` is what a compaction left of what stood before it. Of recordings also a plan, a
   * question for leave with its answer, and a notice.
   */
  readonly marker?: MarkerName | NoticeName;
  /** On `system`, beside a text: on one line, what happened. */
  readonly summary?: string;
  /** A subagent, at its place in the chat. `messages` when subagents were asked for and its chat can be read. */
  readonly subagent?: SubagentLink & { readonly messages?: readonly ExportedMessage[] };
  /** The turn it stands in was taken back later, by the `rewind` that follows. */
  readonly takenBack?: true;
  /** Something of it was cut off, as was asked. */
  readonly cut?: true;
}
