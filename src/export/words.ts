import type { EpochMs } from "../platform/clock.ts";
import type { MarkerName } from "../transcript/entry.ts";
import { readableLine } from "../transcript/printable.ts";
import type { ExportedMessage, ExportMeta } from "./model.ts";

/** One thing that is known of the session. */
export interface Fact {
  readonly label: string;
  /** On one line, readable. */
  readonly text: string;
  /** The text is not ours. */
  readonly isForeign?: true;
  /** The time that `text` says. */
  readonly at?: EpochMs;
}

/** What the document is called: on one line, readable, never empty. */
export function titleOf(meta: ExportMeta): string {
  return readableLine(meta.title ?? "") || readableLine(`${meta.agent} session ${meta.child ?? meta.sessionId}`);
}

/** What is known of the session, in the order in which one asks; what is not known is left out. */
export function factsOf(meta: ExportMeta): Fact[] {
  return [
    foreign("Agent", meta.agent),
    foreign("Session", meta.sessionId),
    foreign("Subagent", meta.child),
    foreign("Folder", meta.cwd),
    foreign("Model", meta.model),
    time("Started", meta.startedAt),
    time("Ended", meta.endedAt),
    own("Messages", counted(meta.messageCount)),
    own("Tool calls", counted(meta.toolCallCount)),
    own("Tokens", tokensText(meta.tokens)),
    own("Cost", meta.costUsd === undefined ? "" : usdText(meta.costUsd)),
    own("Source", meta.source === "native" ? "the agent's own records" : "the recording of agent-bridge"),
  ].filter((fact) => fact.text !== "");
}

/** `at` as people read it, `2026-11-30 09:24:05 UTC`; "" for a time that no calendar has. */
export function timeText(at: EpochMs): string {
  return isoText(at)
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
}

/** `at` as programs read it, `2026-11-30T09:24:05.000Z`; "" for a time that no calendar has. */
export function isoText(at: EpochMs): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

const MARKER_WORDS: { readonly [K in MarkerName]: string } = {
  interrupted: "Interrupted",
  error: "Error",
  compact: "Context compacted",
  "compact-summary": "Summary of what was compacted",
  rewind: "Turns taken back",
  oversized: "Record left out: too long",
  command: "Command output",
};

/** Who speaks in a message, or what happens in it. */
export function roleWords(message: ExportedMessage): string {
  switch (message.role) {
    case "user":
      return "User";
    case "assistant":
      return "Assistant";
    case "tool":
      return message.isError ? "Tool error" : "Tool output";
    case "system":
      if (message.subagent !== undefined) return "Subagent";
      if (message.marker !== undefined) return MARKER_WORDS[message.marker];
      return message.isError ? "Error" : "System";
  }
}

/**
 * What happened, on a line where it is said on one: `line` is readable and `text`, which is left then, as it is. What was
 * printed or thrown is always a text.
 */
export function eventOf(message: ExportedMessage): { readonly line: string; readonly text: string | undefined } {
  const { role, marker, summary, text } = message;
  const isLine = role === "system" && marker !== "command" && marker !== "error" && marker !== "compact-summary";
  if (!isLine || summary !== undefined || text === undefined || text.length > 200 || /[\r\n]/.test(text)) {
    return { line: readableLine(summary ?? ""), text };
  }
  return { line: readableLine(text), text: undefined };
}

/** What else is to be said of a message, in sentences. */
export function remarksOn(message: ExportedMessage): string {
  return [message.isRunning ? "Still running: there may be more." : "", message.cut ? "Cut, as was asked." : ""]
    .filter((remark) => remark !== "")
    .join(" ");
}

/** The line over turns that were taken back. */
export function takenBackWords(messages: number): string {
  return messages === 1 ? "1 message that was taken back" : `${counted(messages)} messages that were taken back`;
}

/** What stands in place of messages when there are none. */
export const NO_MESSAGES = "There are no messages.";

function foreign(label: string, text: string | undefined): Fact {
  return { label, text: readableLine(text ?? ""), isForeign: true };
}

function own(label: string, text: string): Fact {
  return { label, text };
}

function time(label: string, at: EpochMs | undefined): Fact {
  return at === undefined ? own(label, "") : { label, text: timeText(at), at };
}

function tokensText(tokens: ExportMeta["tokens"]): string {
  const parts: readonly (readonly [number | undefined, string])[] = [
    [tokens.input, "input"],
    [tokens.output, "output"],
    [tokens.cacheRead, "read from the cache"],
    [tokens.cacheWrite, "written to the cache"],
    [tokens.reasoning, "reasoning"],
  ];
  return parts.flatMap(([count, what]) => (count === undefined ? [] : [`${counted(count)} ${what}`])).join(", ");
}

/** Dollars to the cent, or to the first two figures of less than ten cents. */
function usdText(usd: number): string {
  const digits = usd > 0 && usd < 0.1 ? Math.min(9, 1 - Math.floor(Math.log10(usd))) : 2;
  return `$${usd.toFixed(digits)}`;
}

/** `1,234,567` */
function counted(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
