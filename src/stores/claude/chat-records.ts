import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { JsonlLine, RecordLine } from "../../jsonl/page.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import { oneLine } from "../../transcript/clip.ts";
import type { Entry, ToolResultEntry } from "../../transcript/entry.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type Call, callReference, findCalls, type Waiting } from "./calls.ts";
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
  readonly calls: readonly Call[];
}

interface Draft extends ChatRecord {
  readonly entries: Entry[];
  calls: readonly Call[];
}

const NO_CALLS: readonly Call[] = [];

/** Bytes of a record that is too long to be parsed that tell whose it is. */
const LONG_HEAD_BYTES = 512;

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
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index];
    if (line === undefined) continue;
    if (line.kind === "oversized") {
      const start = file.slice(line.start, Math.min(line.end, line.start + LONG_HEAD_BYTES));
      if (file.scope.includesLong(readHead(start), start.toString("latin1")))
        drafts.push(oversized(file, line.start, line.end));
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
  return { start, record: undefined, entries: [entry], calls: NO_CALLS };
}

function draftOf(file: ChatFile, record: JsonObject, start: ByteOffset, repeats: Repeats): Draft {
  const said = toEntries(record, { pos: posOf(start), fallbackAt: () => file.timeBefore(start) });
  return { start, record, entries: repeats.fresh(record, start, said), calls: NO_CALLS };
}

/** Gives results the name and the position of their calls; those whose call is not in the page wait. */
function answerCalls(draft: Draft, calls: Map<string, Call>, waiting: Map<string, Waiting[]>): void {
  const { start, entries } = draft;
  for (const entry of entries) {
    if (entry.kind === "tool-call") {
      const { callId: id, tool, input, at } = entry;
      if (id !== undefined) calls.set(id, { id, tool, input: asObject(input), at, start });
    }
    if (entry.kind !== "tool-result" || entry.callId === undefined) continue;
    const call = calls.get(entry.callId);
    if (call !== undefined) answer(draft, entry, call);
    else pushTo(waiting, entry.callId, { start, found: (found) => answer(draft, entry, found) });
  }
}

/** Completes a result in place: its entry was made just now, for this page alone. */
function answer(draft: Draft, result: ToolResultEntry, call: Call): void {
  Object.assign(result, callReference(call));
  draft.calls = draft.calls === NO_CALLS ? [call] : [...draft.calls, call];
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
