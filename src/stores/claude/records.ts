import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { asArray, asCount, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toolResult, toolResultOf } from "./tool-results.ts";
import { usageOf } from "./usage.ts";
import { readUserText } from "./user-text.ts";

/** Where a record stands, and when it is to be when it does not say itself. */
export interface RecordPlace {
  readonly pos: Cursor;
  /** Asked only for a record without a readable time. */
  fallbackAt(): EpochMs;
}

/** What an entry of a record has before it is told where the record stands. */
type Said = Entry extends infer E ? (E extends Entry ? Omit<E, "at" | "pos"> : never) : never;

/**
 * All that one record says, of any type and shape; nothing for a type that is not known. What a record can't say itself
 * is not there: the tool of an output, rewinds, subagents, and which texts of an older CLI's snapshots are repeats.
 */
export function toEntries(record: unknown, place: RecordPlace): Entry[] {
  const fields = asObject(record);
  const said = fields === undefined ? [] : saidBy(fields);
  if (fields === undefined || said.length === 0) return [];
  const at = timeOf(fields) ?? place.fallbackAt();
  // These were made just now, so they are completed in place.
  for (const entry of said as { at?: EpochMs; pos?: Cursor }[]) {
    entry.at = at;
    entry.pos = place.pos;
  }
  return said as Entry[];
}

/** The time that a record states. */
export function timeOf(record: JsonObject): EpochMs | undefined {
  const { timestamp } = record;
  const isNumber = typeof timestamp === "string" && timestamp.length < 16 && /^\d{12,14}$/.test(timestamp);
  return epochMsFromIso(isNumber ? Number(timestamp) : timestamp);
}

/** Whether a record belongs to a subagent whose records stand in its parent's file (Claude Code 2.0 and older). */
export function isSidechain(record: JsonObject): boolean {
  return record.isSidechain === true;
}

/** What was typed, when `record` is a prompt, a slash command or a `!` command of the user. */
export function promptOf(record: JsonObject): string | undefined {
  if (record.type !== "user") return undefined;
  const entry = saidByUser(record).find(({ kind }) => kind === "user");
  return entry?.kind === "user" ? entry.text : undefined;
}

/** What `record` shows as typed by the user. */
export function textsTyped(record: JsonObject): string[] {
  return saidBy(record).flatMap((said) => (said.kind === "user" ? [said.text] : []));
}

/** The texts of a user record that may have been typed, as they stand: none of a tool's output, of meta or of summaries. */
export function typedTexts(record: JsonObject): string[] {
  const content = contentOf(record);
  if (isMeta(record) || isInjected(record) || isCompactSummary(record, content)) return [];
  const blocks = asArray(content) ?? [content];
  if (blocks.some((block) => toolResultOf(block) !== undefined)) return [];
  return blocks.map(textOf).filter((text) => text !== undefined);
}

function saidBy(record: JsonObject): Said[] {
  switch (record.type) {
    case "user":
      return saidByUser(record);
    case "assistant":
      return saidByAssistant(record);
    case "system":
      return saidBySystem(record);
    case "attachment":
      return saidByAttachment(record, asObject(record.attachment));
    default:
      return [];
  }
}

// --- user lines: prompts, tool results, and all that Claude Code says in the user's name ---

function saidByUser(record: JsonObject): Said[] {
  if (isMeta(record)) return [];
  const content = contentOf(record);
  if (isCompactSummary(record, content)) return compactSummary(record, content);
  const blocks = asArray(content);
  if (blocks?.some((block) => toolResultOf(block) !== undefined)) return saidByResults(blocks, record.toolUseResult);
  return isInjected(record) ? [] : saidInName(content);
}

/** Tool results, and an interruption beside them; no other text there was typed. */
function saidByResults(blocks: readonly unknown[], structured: unknown): Said[] {
  const said: Said[] = [];
  for (const block of blocks) {
    const result = toolResult(block, structured);
    if (result !== undefined) said.push(result);
  }
  if (said.length === blocks.length) return said;
  return [...said, ...saidInName(blocks).filter((other) => other.kind === "marker" && other.marker === "interrupted")];
}

/** What goes with a turn and is no part of it: caveats, bodies of skills, companions of pictures. */
function isMeta(record: JsonObject): boolean {
  return record.isMeta === true || record.turnCompanion === true;
}

/**
 * Records that say themselves that nobody typed them (2.1.3xx); older ones are told by their text. A teammate speaks to the
 * session under the team's name; in a subagent's own chat that is what it was asked to do.
 */
function isInjected(record: JsonObject): boolean {
  if (!isHuman(record.origin) || record.promptSource === "system") return true;
  return asText(record.teamName) !== undefined && !isSidechain(record);
}

/** Whether `origin` states that somebody typed it, or nothing: it may also be a task's end, a coordinator, a channel. */
function isHuman(origin: unknown): boolean {
  return (asText(asObject(origin)?.kind) ?? "human") === "human";
}

/** What a text, or the blocks of a prompt, say in the user's name. */
function saidInName(content: unknown): Said[] {
  const said: Said[] = [];
  const typed: string[] = [];
  let placeholders = "";
  for (const block of asArray(content) ?? [content]) {
    const text = textOf(block);
    if (text === undefined) {
      placeholders += placeholderOf(block);
      continue;
    }
    const read = readUserText(text);
    if (read.kind === "prompt") typed.push(read.text);
    if (read.kind === "prompt" && read.output !== undefined) said.push(bashResult(read.output));
    if (read.kind === "interruption") said.push({ kind: "marker", marker: "interrupted", summary: read.text });
    if (read.kind === "bash-output") said.push(bashResult(read.text));
    if (read.kind === "command-output") said.push(commandMarker(read.text, read.isError));
  }
  const prompt = typed.length > 0 ? typed.join("\n") : said.length === 0 ? placeholders.trim() : "";
  return prompt === "" ? said : [{ kind: "user", text: prompt }, ...said];
}

/** What a prompt shows of what is not text, when it has no text at all: never the data itself. */
function placeholderOf(block: unknown): string {
  const type = asObject(block)?.type;
  return type === "image" || type === "document" ? ` [${type}]` : "";
}

function bashResult(text: string): Said {
  return { kind: "tool-result", tool: "bash", text };
}

function commandMarker(text: string, isError: boolean): Said {
  return { kind: "marker", marker: "command", text, ...(isError && { isError }) };
}

/** How Claude Code begins the summary that goes on after a compaction; older releases (1.0) mark it with nothing else. */
const CONTINUED = "This session is being continued from a previous conversation that ran out of context.";

function isCompactSummary(record: JsonObject, content: unknown): boolean {
  return record.isCompactSummary === true || textOf((asArray(content) ?? [content])[0])?.startsWith(CONTINUED) === true;
}

/** Where no `compact_boundary` stands before it (its parent), the summary itself marks the compaction (1.0 and older). */
function compactSummary(record: JsonObject, content: unknown): Said[] {
  const texts = (asArray(content) ?? [content]).map(textOf).filter((text) => text !== undefined);
  const summary: Said = { kind: "marker", marker: "compact-summary", text: texts.join("\n") };
  return asText(record.parentUuid) === undefined ? [{ kind: "marker", marker: "compact" }, summary] : [summary];
}

// --- assistant lines: one block of a response each; older ones held several ---

function saidByAssistant(record: JsonObject): Said[] {
  const message = asObject(record.message);
  const content = contentOf(record);
  const model = asText(message?.model);
  const synthetic = model === "<synthetic>";
  const blocks = asArray(content) ?? [content];
  if (record.isApiErrorMessage === true)
    return [
      apiError(
        blocks
          .map(textOf)
          .filter((text) => text)
          .join("\n"),
      ),
    ];
  const said: Said[] = [];
  for (const block of blocks) {
    const one = saidByBlock(block, synthetic ? undefined : model);
    if (one !== undefined) said.push(one);
  }
  const usage = usageEntry(record, model);
  if (usage !== undefined) said.push(usage);
  return said;
}

/** What the client itself puts where an answer would stand when none was asked for. */
const NO_ANSWER = "No response requested.";

function saidByBlock(block: unknown, model: string | undefined): Said | undefined {
  const text = textOf(block);
  if (text !== undefined) {
    if (text.trim() === "" || (model === undefined && text === NO_ANSWER)) return undefined;
    return model === undefined ? { kind: "assistant", text } : { kind: "assistant", text, model };
  }
  const fields = asObject(block);
  const type = asString(fields?.type);
  if (fields === undefined || type === undefined) return undefined;
  if (type === "thinking") {
    const thought = asText(fields.thinking);
    return thought === undefined ? undefined : { kind: "reasoning", text: thought };
  }
  if (type.endsWith("tool_use")) {
    const callId = asText(fields.id);
    const tool = asText(fields.name) ?? "tool";
    const { input } = fields;
    return callId === undefined ? { kind: "tool-call", tool, input } : { kind: "tool-call", tool, callId, input };
  }
  return toolResult(fields, undefined);
}

function usageEntry(record: JsonObject, model: string | undefined): Said | undefined {
  const usage = usageOf(record);
  return usage && { kind: "usage", ...usage, ...(model !== undefined && { model }) };
}

// --- system lines and attachments ---

function saidBySystem(record: JsonObject): Said[] {
  const text = asText(record.content);
  switch (record.subtype) {
    case "compact_boundary":
      return [{ kind: "marker", marker: "compact", summary: compactionSummary(asObject(record.compactMetadata)) }];
    case "local_command":
      return text === undefined ? [] : saidByLocalCommand(text);
    case "api_error":
      return retriedError(record);
    default:
      return [];
  }
}

/** The command as it was typed, or what it printed, which may also stand there without its wrapper. */
function saidByLocalCommand(text: string): Said[] {
  const read = readUserText(text);
  const plain = read.kind === "prompt" && read.command === undefined;
  return plain ? [commandMarker(read.text, false)] : saidInName(text);
}

function compactionSummary(metadata: JsonObject | undefined): string {
  const trigger = asText(metadata?.trigger);
  const before = asCount(metadata?.preTokens);
  const after = asCount(metadata?.postTokens);
  const sizes = before === undefined ? "" : after === undefined ? `${before} tokens` : `${before} → ${after} tokens`;
  return [trigger, sizes].filter((part) => part).join(", ") || "conversation compacted";
}

/** Of the attempts at one request only the first is told; when all have failed, an error in the answer's place says so. */
function retriedError(record: JsonObject): Said[] {
  if ((asCount(record.retryAttempt) ?? 1) > 1) return [];
  const error = asObject(record.error);
  const status = asCount(error?.status);
  const text =
    asText(error?.formatted) ??
    asText(error?.message) ??
    asText(asObject(error?.error)?.message) ??
    asText(record.content);
  return [apiError(text ?? (status === undefined ? "API error" : `API error ${status}`))];
}

function apiError(text: string): Said {
  return { kind: "marker", marker: "error", text, isError: true };
}

/** A prompt that was typed while the agent worked and given to it in mid-turn stands in an attachment alone. */
function saidByAttachment(record: JsonObject, attachment: JsonObject | undefined): Said[] {
  if (attachment?.type !== "queued_command" || attachment.isMeta === true) return [];
  if ((asText(attachment.commandMode) ?? "prompt") !== "prompt") return [];
  return isHuman(attachment.origin ?? record.origin) ? saidInName(attachment.prompt) : [];
}

// --- shapes that every kind of line has ---

function contentOf(record: JsonObject): unknown {
  const message = asObject(record.message);
  return message === undefined ? record.message : message.content;
}

/** The text of a block; content may also be a plain text, or an array of them. */
function textOf(block: unknown): string | undefined {
  if (typeof block === "string") return block;
  const fields = asObject(block);
  return fields?.type === "text" ? asString(fields.text) : undefined;
}
