import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import { type LineWindow, windowKey, windowType } from "./line-window.ts";
import { promptTitle, titleLine } from "./prompt-title.ts";

/** What a list says of a session, as its transcript's beginning and end give it. */
export interface SessionFacts {
  readonly title: string;
  /** The first record's folder; empty when none is stated. */
  readonly cwd: string;
  /** Every folder it is known to have been in, the one it should be resumed in first. */
  readonly cwds: readonly string[];
  readonly branch?: string;
  readonly startedAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly model?: string;
  /** The Claude Code versions that wrote its beginning and its end. */
  readonly versions: readonly string[];
}

const TIMESTAMP = windowKey("timestamp");
const CWD = windowKey("cwd");
const GIT_BRANCH = windowKey("gitBranch");
const VERSION = windowKey("version");

const USER = windowType("user");
const ASSISTANT = windowType("assistant");

/** The title of a session in which nothing says what it is about. */
const UNTITLED = "Untitled";

/** What the client itself writes in an answer's name has this model. */
const SYNTHETIC = "<synthetic>";

/** A record's time this much later than its file was last written is not believed: ms. */
const BELIEVED_AHEAD_MS = 86_400_000;

/** Characters of what can be a version. */
const LONGEST_VERSION = 40;

/** How many answers (or prompts) are parsed in search of one with a model (or with something typed). */
const MOST_TRIES = 24;

/**
 * The title by the order of the official reader: the last custom title, generated title, prompt or summary near the end
 * (titles also near the start), each repeated by the CLI as the file grows; undefined when there is none.
 */
export function statedTitle(head: LineWindow, tail: LineWindow): string | undefined {
  return (
    lastTitle(tail, "custom-title", "customTitle") ??
    lastTitle(head, "custom-title", "customTitle") ??
    lastTitle(tail, "ai-title", "aiTitle") ??
    lastTitle(head, "ai-title", "aiTitle") ??
    lastPromptTitle(tail) ??
    lastTitle(tail, "summary", "summary")
  );
}

/** The first prompt that was typed, else the first slash command, as a title. */
export function firstPromptTitle(head: LineWindow): string | undefined {
  let command: string | undefined;
  let tries = 0;
  for (const record of head.recordsForward(USER)) {
    for (const text of typedTexts(record)) {
      const found = promptTitle(text);
      if (found?.command === false) return found.title;
      command ??= found?.title;
    }
    if (++tries === MOST_TRIES) break;
  }
  return command;
}

/**
 * Whether it holds an answer, or a prompt that is a picture: without either, and without any title, a file of session fields
 * or of a client's own notes is no session (the official reader leaves out such files, too).
 */
export function hasConversation(window: LineWindow): boolean {
  for (const _ of window.recordsForward(ASSISTANT)) return true;
  for (const record of window.recordsForward(USER)) if (isPicturePrompt(record)) return true;
  return false;
}

/**
 * The facts of a session whose title is known or not. `updatedAt` is the last record's time and not the file's: a copied or
 * restored history keeps its order that way, and a title or a cost that is written later is no activity. The file's time
 * stands in where no record has one, or an incredible one.
 */
export function sessionFacts(
  head: LineWindow,
  tail: LineWindow,
  title: string | undefined,
  modifiedAt: EpochMs,
): SessionFacts {
  // Times first: most records' envelope follows their time, so that one small parse gives the rest, too.
  const [first, last] = [head.firstText(TIMESTAMP), tail.lastText(TIMESTAMP)];
  const cwd = head.firstText(CWD) ?? tail.firstText(CWD) ?? "";
  const cwds = [asText(tail.lastFields("relocated")?.relocatedCwd), tail.lastText(CWD), cwd];
  const branch = tail.lastText(GIT_BRANCH) ?? head.lastText(GIT_BRANCH);
  const model = lastModel(tail) ?? lastModel(head);
  const believed = (text: string | undefined): EpochMs => {
    const time = epochMsFromIso(text);
    return time === undefined || time > modifiedAt + BELIEVED_AHEAD_MS ? modifiedAt : time;
  };
  const versions = [head.firstText(VERSION), tail.lastText(VERSION)].filter(
    (version): version is string => version !== undefined && version.length <= LONGEST_VERSION,
  );
  return {
    title: title ?? UNTITLED,
    cwd,
    cwds: [...new Set(cwds.filter((folder): folder is string => folder !== undefined && folder !== ""))],
    ...(branch !== undefined && { branch }),
    startedAt: believed(first),
    updatedAt: believed(last),
    ...(model !== undefined && { model }),
    versions: [...new Set(versions)],
  };
}

/** The text under `key` of the last record of a type; a blank one is none, since that takes an older title back. */
function lastTitle(window: LineWindow, type: string, key: string): string | undefined {
  return titleLine(asString(window.lastFields(type)?.[key]) ?? "");
}

function lastPromptTitle(tail: LineWindow): string | undefined {
  return promptTitle(asString(tail.lastFields("last-prompt")?.lastPrompt) ?? "")?.title;
}

function lastModel(window: LineWindow): string | undefined {
  let tries = 0;
  for (const record of window.recordsBackward(ASSISTANT)) {
    const model = record.isSidechain === true ? undefined : asText(asObject(record.message)?.model);
    if (model !== undefined && model !== SYNTHETIC) return model;
    if (++tries === MOST_TRIES) break;
  }
  return undefined;
}

/** The texts of a user record that may have been typed: none of a tool's result, of meta or of summary records. */
function typedTexts(record: JsonObject): string[] {
  if (record.isMeta === true || record.isCompactSummary === true) return [];
  if (record.isSidechain === true) return [];
  const content = asObject(record.message)?.content;
  const text = asText(content);
  if (text !== undefined) return [text];
  const blocks = (asArray(content) ?? []).map((block) => asObject(block) ?? { type: "text", text: block });
  if (blocks.some((block) => block.type === "tool_result")) return [];
  return blocks.flatMap((block) => (block.type === "text" ? (asText(block.text) ?? []) : []));
}

function isPicturePrompt(record: JsonObject): boolean {
  if (record.isMeta === true) return false;
  const blocks = asArray(asObject(record.message)?.content) ?? [];
  return blocks.some((block) => ["image", "document"].includes(asString(asObject(block)?.type) ?? ""));
}
