import { type CallPart, callParts, callSummary } from "./call-parts.ts";
import { fenced, inline } from "./markdown-text.ts";
import type { ExportedCall, ExportedMessage, ExportMeta } from "./model.ts";
import { eventOf, factsOf, NO_MESSAGES, remarksOn, roleWords, takenBackWords, timeText, titleOf } from "./words.ts";
import type { DocumentWriter, MessagePlace } from "./writer.ts";

/**
 * Writes Markdown that reads well as it is, in a terminal, and rendered. Foreign texts stand in fenced blocks and, on lines
 * of ours, as `inline` writes them; what folds is fixed.
 */
export function markdownWriter(): DocumentWriter {
  return {
    type: "text/markdown; charset=utf-8",
    extension: "md",
    head,
    message: (message, place) => blocks([heading(message, place), ...said(message)]),
    beginSubagent: (message, place) => blocks([heading(message, place), ...said(message), opened("Its messages")]),
    endSubagent: () => blocks([CLOSED]),
    takenBack: {
      kind: "fold",
      begin: (messages) => blocks([opened(takenBackWords(messages))]),
      end: () => blocks([CLOSED]),
    },
    foot: (meta) => blocks(meta.messageCount === 0 ? [NO_MESSAGES] : []),
  };
}

/** The tags stand on lines of their own with blank lines around, so that what they hold is Markdown again. */
const CLOSED = "</details>";

function opened(summary: string): string {
  return `<details>\n<summary>${summary}</summary>`;
}

function folded(summary: string, block: string): string[] {
  return block === "" ? [] : [opened(summary), block, CLOSED];
}

/** Every block after a blank line. */
function blocks(all: readonly string[]): string {
  return all.map((block) => `\n${block}\n`).join("");
}

function head(meta: ExportMeta): string {
  const facts = factsOf(meta).map(({ label, text, isForeign }) => `- ${label}: ${isForeign ? inline(text) : text}`);
  return `# ${inline(titleOf(meta))}\n${blocks([facts.join("\n")])}`;
}

/** `## Assistant · 2026-11-30 09:24:05 UTC`, deeper in subagents. */
function heading(message: ExportedMessage, { depth }: MessagePlace): string {
  const named = inline(message.subagent?.title ?? message.toolName ?? "");
  const parts = [
    named === "" ? roleWords(message) : `${roleWords(message)}: ${named}`,
    inline(message.model ?? ""),
    message.at === undefined ? "" : timeText(message.at),
  ];
  return `${"#".repeat(Math.min(6, depth + 2))} ${parts.filter((part) => part !== "").join(" · ")}`;
}

function said(message: ExportedMessage): string[] {
  const { subagent, reasoning, toolCalls, marker } = message;
  const { line, text } = eventOf(message);
  const language = message.role === "assistant" ? "markdown" : message.role === "user" ? "text" : "";
  const block = fenced(text, language);
  return [
    ...(subagent === undefined ? [] : [`Agent: ${inline(subagent.agent)}, id: ${inline(subagent.id)}`]),
    ...folded("Reasoning", fenced(reasoning, "text")),
    ...present(inline(line)),
    ...(marker === "compact-summary" ? folded("The summary", block) : present(block)),
    ...(block === "" && message.role === "tool" && !message.isRunning ? ["Nothing was printed."] : []),
    ...(toolCalls ?? []).flatMap(called),
    ...present(remarksOn(message)),
  ];
}

/** The tool and what it was to do, then its input, unless that is already said. */
function called(call: ExportedCall): string[] {
  const summary = callSummary(call);
  const parts = callParts(call.input);
  const isSaid = parts.length === 1 && parts[0]?.name !== undefined && parts[0].text === summary;
  const title = `**Tool call:** ${inline(call.name) || "without a name"}${summary === "" ? "" : ` — ${inline(summary)}`}`;
  return [title, ...(isSaid ? [] : parts.flatMap(partOf))];
}

function partOf({ name, text, isJson }: CallPart): string[] {
  const label = inline(name ?? "");
  return [...present(label === "" ? "" : `${label}:`), ...present(fenced(text, isJson ? "json" : ""))];
}

function present(text: string): string[] {
  return text === "" ? [] : [text];
}
