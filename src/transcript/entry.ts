import type { EpochMs } from "../platform/clock.ts";
import type { Cursor } from "./cursor.ts";
import type { AgentName, SessionId } from "./names.ts";

/** Token counts; a figure that the store does not give is absent, never 0. */
export interface Tokens {
  /** Prompt tokens that were neither read from nor written to a cache. */
  readonly input?: number;
  /** Tokens of the answer without its reasoning where the store tells them apart. */
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** What a subagent is called, and where its own chat is. */
export interface SubagentLink {
  readonly id: SessionId;
  /** At most 160 characters. */
  readonly title: string;
  readonly agent: AgentName;
}

/** What every entry has. */
interface EntryBase {
  /** When the record was written: ms since the epoch. */
  readonly at: EpochMs;
  /** The position of the record it came from; a cursor of the same store, so reading can start there. */
  readonly pos: Cursor;
  /** Only where the store updates records in place: entries with the same id replace each other. */
  readonly id?: string;
}

/** What the person (or the program in their place) said; never what a CLI injects in the user's name. */
export interface UserEntry extends EntryBase {
  readonly kind: "user";
  readonly text: string;
  /**
   * What it goes on from stands further back than is looked, so that it may take turns back: then `record`, given a bound,
   * gives a `rewind` before it. Chats show no mark there.
   */
  readonly goesFarBack?: true;
}

/** What the agent answered. */
export interface AssistantEntry extends EntryBase {
  readonly kind: "assistant";
  readonly text: string;
  readonly model?: string;
}

/** What the agent thought, where the store keeps it readable. Never shown in a chat. */
export interface ReasoningEntry extends EntryBase {
  readonly kind: "reasoning";
  readonly text: string;
}

/** A change of a file as an agent told it. */
export interface FileDiff {
  readonly path: string;
  /** Null where the file is new. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** A tool call; in stores that keep call and output in one record (OpenCode, recordings) with its output. */
export interface ToolCallEntry extends EntryBase {
  readonly kind: "tool-call";
  readonly tool: string;
  readonly callId?: string;
  /** The input as the store holds it: parsed where it is JSON, else text. */
  readonly input: unknown;
  /** A summary that the store itself gives; without it one is made from the input. */
  readonly summary?: string;
  readonly output?: string;
  /** The changes of files that its agent told beside its input. */
  readonly diffs?: readonly FileDiff[];
  readonly isError?: boolean;
  /** It has not ended, where the store's record says so: `output` is what it has printed so far. */
  readonly isRunning?: true;
  /** No call that the agent made, though chats show it as one: a plan, a question for leave with its answer, a notice. */
  readonly isNotice?: true;
  /** It tells more of a call that began further back than is looked; the store's `farCall` tells this with that call. */
  readonly continues?: true;
}

/** A tool's output in a record of its own, with the escape sequences that it printed. */
export interface ToolResultEntry extends EntryBase {
  readonly kind: "tool-result";
  readonly callId?: string;
  /** The tool's name, once its call is found; absent when it stands further back than is looked. */
  readonly tool?: string;
  /** The position of its call. */
  readonly of?: Cursor;
  readonly text: string;
  readonly isError?: boolean;
  /** It ends a call that began further back than is looked; the store's `farCall` tells this with that call. */
  readonly continues?: true;
  /** `text` is only the beginning: the store keeps the whole elsewhere, and `record` gives it, if it is still there. */
  readonly isPreview?: true;
}

/** A subagent, at its place in the parent's chat: once per child. */
export interface SubagentEntry extends EntryBase {
  readonly kind: "subagent";
  readonly subagent: SubagentLink;
}

/** Tokens and cost of one response; not shown in a chat, counted by usage and export. */
export interface UsageEntry extends EntryBase {
  readonly kind: "usage";
  /** What tells one response from another: several entries with one key are one response, the largest counts. */
  readonly key: string;
  readonly tokens: Tokens;
  readonly model?: string;
  readonly costUsd?: number;
}

/** What a marker marks; shown as a tool item of that name, save `compact-summary`, which only exports use. */
export type MarkerName = "interrupted" | "error" | "compact" | "compact-summary" | "rewind" | "oversized" | "command";

/** An event of the conversation that nobody said: an interruption, an API error, a compaction, … */
export interface MarkerEntry extends EntryBase {
  readonly kind: "marker";
  readonly marker: MarkerName;
  /** On one line, what happened. */
  readonly summary?: string;
  /** What was printed or reported, in full, escape sequences included. */
  readonly text?: string;
  readonly isError?: boolean;
  /**
   * On a `rewind`: the `pos` of the first prompt (a user entry) that it takes back; all that stands from there to this mark
   * is taken back. Absent where the prompt stands further back than is looked. Chats show only the mark; an export folds.
   */
  readonly takesBack?: Cursor;
}

/** One thing that a record says, uncut; what every store gives and chat, export, search and usage are made from. */
export type Entry =
  | UserEntry
  | AssistantEntry
  | ReasoningEntry
  | ToolCallEntry
  | ToolResultEntry
  | SubagentEntry
  | UsageEntry
  | MarkerEntry;
