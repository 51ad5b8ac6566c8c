import type { EpochMs } from "../../platform/clock.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { type Call, callsOf, codexItemsText, contentText, IMAGE, isErrorOutput, reasoningText } from "./content.ts";
import type { MessageRow, MessageTexts } from "./messages.ts";

/** What surrounds a row and bears on what it shows. */
export interface RowContext {
  readonly at: EpochMs;
  readonly pos: Cursor;
  readonly model: string | undefined;
  /** Rows that may be read in one page: bytes. */
  readonly mostBytes: number;
  /** The row begins what follows a compaction that split the conversation. */
  readonly isSeam: boolean;
  /** For a summary: whether such a seam tells of its compaction already. */
  readonly isToldBySeam: () => boolean;
  /** The call that a result answers. */
  call(callId: string): { readonly tool: string; readonly pos: Cursor } | undefined;
}

/**
 * How texts begin that Hermes writes in the user's name (compactor, process registry and delegation, mid-2026): no person
 * said them.
 */
const INJECTED =
  /^\s*\[(?:PRIOR CONTEXT|ASYNC DELEGATION|IMPORTANT: Background process|Your active task list was preserved across context compression\])/;

/** How a summary begins where the row does not say that it is one (before the column `_compressed_summary`). */
const SUMMARY = /^\s*\[CONTEXT (?:COMPACTION|SUMMARY)\b/;

/** The entries of one row, in the order in which they are read. */
export function entriesOfRow(row: MessageRow, context: RowContext): Entry[] {
  const { at, pos } = context;
  const seam: Entry[] = context.isSeam
    ? [{ kind: "marker", at, pos, marker: "compact", summary: "the conversation was compacted" }]
    : [];
  if (row.isHidden || row.isCopy) return seam;
  if (row.bytes > context.mostBytes) {
    return [...seam, { kind: "marker", at, pos, marker: "oversized", summary: `a message of ${row.bytes} bytes` }];
  }
  if (row.texts === undefined) return seam;
  return [...seam, ...saidBy(row, row.texts, context)];
}

function saidBy(row: MessageRow, texts: MessageTexts, context: RowContext): Entry[] {
  const text = contentText(texts.content);
  if (row.role !== "tool" && (row.isSummary || SUMMARY.test(text))) return summaryEntries(text, context);
  switch (row.role) {
    case "user":
      return userEntries(text || contentText(texts.content, IMAGE), context);
    case "tool":
      return [resultEntry(texts, contentText(texts.content, IMAGE), context)];
    default:
      return answerEntries(texts, text, context);
  }
}

/** Images are told only where nothing was written beside them. */
function userEntries(text: string, { at, pos }: RowContext): Entry[] {
  return text === "" || INJECTED.test(text) ? [] : [{ kind: "user", at, pos, text }];
}

function summaryEntries(text: string, { at, pos, isToldBySeam }: RowContext): Entry[] {
  const summary: Entry = { kind: "marker", at, pos, marker: "compact-summary", text };
  if (isToldBySeam()) return [summary];
  return [{ kind: "marker", at, pos, marker: "compact", summary: "the conversation was compacted" }, summary];
}

function answerEntries(texts: MessageTexts, content: string, { at, pos, model }: RowContext): Entry[] {
  const entries: Entry[] = [];
  const { reasoning, reasoningContent, reasoningDetails, codexReasoning } = texts;
  const thought = reasoningText(reasoning, reasoningContent, [reasoningDetails, codexReasoning]);
  if (thought !== "") entries.push({ kind: "reasoning", at, pos, text: thought });
  const text = content === "" ? codexItemsText(texts.codexItems) : content;
  if (text !== "") entries.push({ kind: "assistant", at, pos, text, ...(model !== undefined && { model }) });
  for (const { callId, tool, input } of callsOf(texts.toolCalls)) {
    entries.push({ kind: "tool-call", at, pos, tool, ...(callId !== undefined && { callId }), input });
  }
  return entries;
}

function resultEntry(texts: MessageTexts, text: string, { at, pos, call }: RowContext): Entry {
  const { toolCallId: callId } = texts;
  const called = callId === undefined ? undefined : call(callId);
  const tool = texts.toolName ?? called?.tool;
  return {
    kind: "tool-result",
    at,
    pos,
    ...(callId !== undefined && { callId }),
    ...(tool !== undefined && { tool }),
    ...(called !== undefined && { of: called.pos }),
    text,
    ...(isErrorOutput(text) && { isError: true }),
  };
}

/** The calls of a row that is read. */
export function callsOfRow({ role, texts }: MessageRow): readonly Call[] {
  return role === "assistant" ? callsOf(texts?.toolCalls) : [];
}

/** Whether a row starts subagents. */
export function delegates(row: MessageRow): boolean {
  return callsOfRow(row).some(({ tool }) => tool.startsWith("delegate"));
}
