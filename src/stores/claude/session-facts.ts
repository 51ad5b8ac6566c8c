import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { asObject, asString, asText } from "../../platform/read.ts";
import { START } from "../../transcript/cursor.ts";
import { toItem } from "../../transcript/item.ts";
import { readHead } from "./line-head.ts";
import { fieldsType, type LineWindow, type WindowKey, windowKey, windowType } from "./line-window.ts";
import { promptTitle, titleLine } from "./prompt-title.ts";
import { isSidechain, type RecordPlace, toEntries, typedTexts } from "./records.ts";

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

/** A field of the session: the records it stands in, and its key there. */
interface SessionField {
  readonly type: Buffer;
  readonly key: WindowKey;
}

const sessionField = (type: string, key: string): SessionField => ({ type: fieldsType(type), key: windowKey(key) });

const CUSTOM_TITLE = sessionField("custom-title", "customTitle");
const AI_TITLE = sessionField("ai-title", "aiTitle");
const LAST_PROMPT = sessionField("last-prompt", "lastPrompt");
const SUMMARY = sessionField("summary", "summary");
/** What both titles' keys end with: one quick search tells whether a window has any. */
const ANY_TITLE = Buffer.from('Title"');
const RELOCATED = sessionField("relocated", "relocatedCwd");

/** The title of a session in which nothing says what it is about. */
const UNTITLED = "Untitled";

/** What the client itself writes in an answer's name has this model. */
const SYNTHETIC = "<synthetic>";

/** A record's time this much later than its file was last written is not believed: ms. */
const BELIEVED_AHEAD_MS = 86_400_000;

/** Characters of what can be a version. */
const LONGEST_VERSION = 40;

/** Bytes of a long text that are enough for a title. */
const LONG_TEXT_BYTES = 8192;

/** For entries of which only what they show is asked. */
const NOWHERE: RecordPlace = { pos: START, fallbackAt: () => 0 as EpochMs };

/** How many answers (or prompts) are parsed in search of one with a model (or with something typed). */
const MOST_TRIES = 24;

/**
 * The title by the order of the official reader: the last custom title, generated title, prompt or summary near the end
 * (titles also near the start), each repeated by the CLI as the file grows; undefined when there is none.
 */
export function statedTitle(head: LineWindow, tail: LineWindow): string | undefined {
  const titled = [tail, head].filter((window) => window.has(ANY_TITLE));
  return (
    lastTitle(titled, CUSTOM_TITLE) ??
    lastTitle(titled, AI_TITLE) ??
    promptTitle(lastValue(tail, LAST_PROMPT) ?? "")?.title ??
    lastTitle([tail], SUMMARY)
  );
}

/** The first prompt that was typed, else the first slash command, as a title. */
export function firstPromptTitle(head: LineWindow): string | undefined {
  let command: string | undefined;
  let tries = 0;
  for (const record of head.recordsForward(USER)) {
    for (const text of isSidechain(record) ? [] : typedTexts(record)) {
      const found = promptTitle(text);
      if (found?.command === false) return found.title;
      command ??= found?.title;
    }
    if (++tries === MOST_TRIES) break;
  }
  return command;
}

/**
 * What the text in a prompt gives as a title that is too long to be read whole (a picture stands in it, or a book), where
 * nothing but its beginning is in the window.
 */
export function longPromptTitle(window: LineWindow): string | undefined {
  const line = window.lineCutAtEnd();
  if (line === undefined || readHead(line).kind !== "user" || readHead(line).sidechain) return undefined;
  const head = line.toString("latin1", 0, 1024);
  if (/"isMeta": ?true|"isCompactSummary": ?true|"type": ?"tool_result"/.test(head)) return undefined;
  for (
    let at = line.indexOf('"text":'), tries = 0;
    at >= 0 && ++tries < MOST_TRIES;
    at = line.indexOf('"text":', at + 1)
  ) {
    const title = titleInText(line.toString("utf8", at + 7, at + LONG_TEXT_BYTES));
    if (title !== undefined) return title;
  }
  const content = line.indexOf('"content":');
  const title = content < 0 ? undefined : titleInText(line.toString("utf8", content + 10, content + LONG_TEXT_BYTES));
  return title ?? (line.includes('"type":"image"') ? "[image]" : undefined);
}

/** The title that the beginning of a JSON text gives. */
function titleInText(json: string): string | undefined {
  const text = /^ ?"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*)/.exec(json)?.[1];
  return text === undefined ? undefined : promptTitle(JSON.parse(`"${text}"`))?.title;
}

/**
 * Whether a chat shows anything of the records in `window`, and the title that the first prompt among them gives, however it
 * was given (queued, a picture, a command that the client itself ran). A file that shows nothing (session fields, a
 * client's own notes, a subagent's records) is no session.
 */
export function firstShown(window: LineWindow): { readonly title?: string } | undefined {
  let tries = 0;
  for (const record of window.records()) {
    if (isSidechain(record)) continue;
    const shown = toEntries(record, NOWHERE).filter((entry) => toItem(entry) !== undefined);
    const prompt = shown.find((entry) => entry.kind === "user");
    const title = prompt?.kind === "user" ? titleLine(prompt.text) : undefined;
    if (title !== undefined) return { title };
    if ((tries > 0 || shown.length > 0) && ++tries === MOST_TRIES) break;
  }
  return tries === 0 ? undefined : {};
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
  const lastCwd = tail.lastText(CWD);
  // A session that was moved to another project folder goes on there, so its records have another folder, too.
  const cwds = [lastCwd === cwd ? undefined : lastValue(tail, RELOCATED), lastCwd, cwd];
  const branch = tail.lastText(GIT_BRANCH) ?? head.lastText(GIT_BRANCH);
  const model = lastModel(tail) ?? lastModel(head);
  const believed = (text: string | undefined): EpochMs => {
    const time = epochMsFromIso(text);
    return time === undefined || time > modifiedAt + BELIEVED_AHEAD_MS ? modifiedAt : time;
  };
  const versions = [head.firstText(VERSION), tail.lastText(VERSION)].filter(
    (version): version is string => version !== undefined && version.length <= LONGEST_VERSION,
  );
  const updatedAt = believed(last);
  // Where the first record is too long to be read here, when the file was written last stands in its place.
  const startedAt = believed(first);
  return {
    title: title ?? UNTITLED,
    cwd,
    cwds: [...new Set(cwds.filter((folder): folder is string => folder !== undefined && folder !== ""))],
    ...(branch !== undefined && { branch }),
    startedAt: Math.min(startedAt, updatedAt) as EpochMs,
    updatedAt,
    ...(model !== undefined && { model }),
    versions: [...new Set(versions)],
  };
}

/** The field's last value in the first window that has it, as a title. A blank one is none: it takes an older one back. */
function lastTitle(windows: readonly LineWindow[], field: SessionField): string | undefined {
  for (const window of windows) {
    const value = lastValue(window, field);
    if (value !== undefined) return titleLine(value);
  }
  return undefined;
}

function lastValue(window: LineWindow, { type, key }: SessionField): string | undefined {
  return asString(window.lastFields(type, key)?.[key.name]);
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
