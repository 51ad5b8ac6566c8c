import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { JsonlLine, RecordLine } from "../../jsonl/page.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import { oneLine } from "../../transcript/clip.ts";
import type { Entry, ToolResultEntry } from "../../transcript/entry.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type Call, callReference, findCalls, type Waiting } from "./calls.ts";
import { type ChatFile, isPlainId, posOf } from "./chat-file.ts";
import { Copies, farCopies } from "./copies.ts";
import { holds, readHead } from "./line-head.ts";
import { Queued } from "./queued.ts";
import { toEntries } from "./records.ts";
import { Repeats } from "./repeats.ts";
import { answeredPrompt, findRewinds, type Prompt, type TakenPrompt } from "./rewinds.ts";

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
  const rewound: Rewound[] = [];
  const pageStart = lines[0]?.start ?? (0 as ByteOffset);
  const memory = {
    repeats: new Repeats(file, pageStart),
    queued: new Queued(file, pageStart),
    copies: new Copies(file, pageStart),
  };
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
      const draft = draftOf(file, record, line.start, memory);
      if (draft === undefined) continue;
      drafts.push(draft);
      answerCalls(draft, calls, waiting);
      const prompt = file.scope.rewinds ? promptAt(draft, rewound) : undefined;
      if (
        prompt !== undefined &&
        !settledNear(file, prompt, lines.slice(Math.max(0, index - NEAR_LINES), index), drafts)
      ) {
        prompts.push(prompt);
      }
    }
  }
  findCalls(file, waiting);
  findRewinds(file, prompts);
  markRewinds(file, rewound);
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

/** What a page remembers of the records before the one in hand. */
interface Memory {
  readonly repeats: Repeats;
  readonly queued: Queued;
  readonly copies: Copies;
}

/** Undefined for a record that was written before. */
function draftOf(file: ChatFile, record: JsonObject, start: ByteOffset, memory: Memory): Draft | undefined {
  const said = toEntries(record, { pos: posOf(start), fallbackAt: () => file.timeBefore(start) });
  const entries = memory.queued.fresh(record, start, memory.repeats.fresh(record, start, said));
  return memory.copies.isCopy(record, start) ? undefined : { start, record, entries, calls: NO_CALLS };
}

/** Gives results the name and the position of their calls; those whose call is not in the page wait. */
function answerCalls(draft: Draft, calls: Map<string, Call>, waiting: Map<string, Waiting[]>): void {
  const { start, entries } = draft;
  for (const entry of entries) {
    if (entry.kind === "tool-call") {
      const { callId: id, tool, input, at } = entry;
      if (id !== undefined && isPlainId(id)) calls.set(id, { id, tool, input: asObject(input), at, start });
    }
    if (entry.kind !== "tool-result" || entry.callId === undefined || !isPlainId(entry.callId)) continue;
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

function promptAt(draft: Draft, rewound: Rewound[]): Prompt | undefined {
  const { record, start } = draft;
  if (record === undefined || record.type !== "user") return undefined;
  if (!draft.entries.some(({ kind }) => kind === "user")) return undefined;
  const { entries } = draft;
  return {
    start,
    record,
    rewinds: (first) => rewound.push({ start, record, entries, first }),
    goesFarBack: () => {
      for (const entry of entries) if (entry.kind === "user") Object.assign(entry, { goesFarBack: true });
    },
  };
}

/** A prompt that takes back turns, from the prompt `first` on. */
interface Rewound {
  readonly start: ByteOffset;
  readonly record: JsonObject;
  readonly entries: Entry[];
  readonly first: TakenPrompt;
}

/** Puts a mark before the prompts that take turns back: not before copies that stand too far apart to be left out. */
function markRewinds(file: ChatFile, rewound: readonly Rewound[]): void {
  const copies = farCopies(file, rewound);
  for (const one of rewound) {
    const [entry] = one.entries;
    if (entry === undefined || copies.has(one)) continue;
    one.entries.unshift(rewindMark(entry, one.first));
  }
}

/** The mark before the prompt `entry` that takes back all from the prompt `first` on. */
export function rewindMark({ at, pos }: Entry, first: TakenPrompt): Entry {
  const summary = `back to before: ${oneLine(first.text.slice(0, TITLE_CHARACTERS * 4))}`;
  return { kind: "marker", marker: "rewind", at, pos, summary, takesBack: posOf(first.shownAt) };
}

/** Most prompts follow their parent closely: then what stands between is in the page, and mostly nothing. */
function settledNear(file: ChatFile, prompt: Prompt, before: readonly JsonlLine[], drafts: readonly Draft[]): boolean {
  const parent = asText(prompt.record.parentUuid);
  if (parent === undefined) return prompt.record.parentUuid !== null || prompt.start === 0;
  if (!isPlainId(parent)) return true;
  const needle = `"uuid":"${parent}"`;
  const line = before.findLast(
    (earlier): earlier is RecordLine => earlier.kind === "record" && holds(earlier.bytes, needle),
  );
  if (line === undefined) return false;
  const from = drafts.findLastIndex(({ start }) => start <= line.start) + 1;
  const between = drafts.slice(from).filter(({ start }) => start < prompt.start);
  const first = answeredPrompt(file, between);
  if (first !== undefined) prompt.rewinds(first);
  return true;
}
