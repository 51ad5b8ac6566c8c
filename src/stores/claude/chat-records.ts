import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { JsonlLine, RecordLine } from "../../jsonl/page.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { oneLine } from "../../transcript/clip.ts";
import type { Entry, ToolResultEntry } from "../../transcript/entry.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type Call, callReference, callsOf, findCalls, type Waiting } from "./calls.ts";
import { type ChatFile, posOf } from "./chat-file.ts";
import { holds, readHead } from "./line-head.ts";
import { toEntries } from "./records.ts";
import { Repeats } from "./repeats.ts";
import { answeredPrompt, findRewinds, type Prompt } from "./rewinds.ts";

/** A record of a chat with all that it shows, save subagents. */
export interface ChatRecord {
  readonly start: ByteOffset;
  /** Undefined for one that is too long. */
  readonly record: JsonObject | undefined;
  readonly entries: readonly Entry[];
  /** The calls that its results answer, as far as they were found. */
  readonly calls: ReadonlyMap<string, Call>;
}

interface Draft extends ChatRecord {
  entries: Entry[];
  readonly calls: Map<string, Call>;
}

/** Lines of a page between a prompt and its parent that are looked through before all that stands before is searched. */
const NEAR_LINES = 12;

/**
 * Reads the lines of a page, which are used up when this returns. What a record can't say itself (its call's name, what
 * it repeats or takes back) is looked for in what stands before it, in the page as behind it, with the same answer.
 */
export function readChat(file: ChatFile, lines: readonly JsonlLine[]): ChatRecord[] {
  const drafts: Draft[] = [];
  const calls = new Map<string, Call>();
  const waiting = new Map<string, Waiting[]>();
  const prompts: Prompt[] = [];
  const repeats = new Repeats(file, lines[0]?.start ?? (0 as ByteOffset));
  for (const [index, line] of lines.entries()) {
    if (line.kind === "oversized") {
      const head = readHead(file.slice(line.start, Math.min(line.end, line.start + 512)));
      if (file.scope.includesLong(head)) drafts.push(oversized(file, line.start, line.end));
      continue;
    }
    for (const record of file.records(line.bytes)) {
      const draft = draftOf(file, record, line.start, repeats);
      drafts.push(draft);
      answerCalls(draft, calls, waiting);
      const prompt = file.scope.rewinds ? promptAt(draft) : undefined;
      if (prompt !== undefined && !settledNear(prompt, lines.slice(Math.max(0, index - NEAR_LINES), index), drafts)) {
        prompts.push(prompt);
      }
    }
  }
  findCalls(file, waiting);
  findRewinds(file, prompts);
  return drafts;
}

/** The entry that stands for a record over the limit of what is read at once. */
function oversized(file: ChatFile, start: ByteOffset, end: ByteOffset): Draft {
  const entry: Entry = {
    kind: "marker",
    marker: "oversized",
    at: file.timeOfLong(start, end),
    pos: posOf(start),
    summary: `a record of ${end - start} bytes, too large to show here`,
  };
  return { start, record: undefined, entries: [entry], calls: new Map() };
}

function draftOf(file: ChatFile, record: JsonObject, start: ByteOffset, repeats: Repeats): Draft {
  const said = toEntries(record, { pos: posOf(start), fallbackAt: () => file.timeBefore(start) });
  return { start, record, entries: [...repeats.fresh(record, start, said)], calls: new Map() };
}

/** Gives results the name and the position of their calls; those whose call is not in the page wait. */
function answerCalls(draft: Draft, calls: Map<string, Call>, waiting: Map<string, Waiting[]>): void {
  if (draft.record !== undefined) {
    for (const call of callsOf(draft.record, draft.start)) {
      const shown = draft.entries.some((entry) => entry.kind === "tool-call" && entry.callId === call.id);
      if (shown) calls.set(call.id, call);
    }
  }
  for (const [index, entry] of draft.entries.entries()) {
    if (entry.kind !== "tool-result" || entry.callId === undefined) continue;
    const { callId } = entry;
    const found = (call: Call): void => {
      draft.calls.set(callId, call);
      draft.entries[index] = { ...(draft.entries[index] as ToolResultEntry), ...callReference(call) };
    };
    const call = calls.get(callId);
    if (call !== undefined) found(call);
    else (waiting.get(callId) ?? waiting.set(callId, []).get(callId))?.push({ start: draft.start, found });
  }
}

function promptAt(draft: Draft): Prompt | undefined {
  const { record, start } = draft;
  if (record === undefined || record.type !== "user") return undefined;
  if (!draft.entries.some(({ kind }) => kind === "user")) return undefined;
  return {
    start,
    record,
    rewinds(first) {
      const [entry] = draft.entries;
      if (entry === undefined) return;
      const summary = `back to before: ${oneLine(first.slice(0, TITLE_CHARACTERS * 4))}`;
      draft.entries.unshift({ kind: "marker", marker: "rewind", at: entry.at, pos: entry.pos, summary });
    },
  };
}

/** Most prompts follow their parent closely: then what stands between is in the page, and mostly nothing. */
function settledNear(prompt: Prompt, before: readonly JsonlLine[], drafts: readonly Draft[]): boolean {
  const parent = asText(prompt.record.parentUuid);
  if (parent === undefined) return prompt.record.parentUuid !== null || prompt.start === 0;
  const needle = `"uuid":"${parent}"`;
  const line = before.findLast(
    (earlier): earlier is RecordLine => earlier.kind === "record" && holds(earlier.bytes, needle),
  );
  if (line === undefined) return false;
  const from = drafts.findLastIndex(({ start }) => start <= line.start) + 1;
  const between = drafts.slice(from).filter(({ start }) => start < prompt.start);
  const first = answeredPrompt(between.map(({ record }) => record).filter((record) => record !== undefined));
  if (first !== undefined) prompt.rewinds(first);
  return true;
}
