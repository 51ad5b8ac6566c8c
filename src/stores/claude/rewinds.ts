import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import { type ChatFile, isPlainId } from "./chat-file.ts";
import { shownPlace } from "./queued.ts";
import { promptOf } from "./records.ts";
import { Turns } from "./turns.ts";

/*
 * Going back in a chat leaves no record of its own: the next prompt simply names an older record as its parent (the
 * first prompt, when all is taken back, none). Parallel calls and prompts that were queued give records an older parent
 * too, so a prompt takes turns back only when another prompt and an answer to it stand between its parent and itself.
 */

/** A prompt whose parent is to be found. */
export interface Prompt {
  readonly start: ByteOffset;
  readonly record: JsonObject;
  /** Told with the first prompt that is taken back. */
  rewinds(first: TakenPrompt): void;
  /** Told when its parent stands further back than is looked. */
  goesFarBack(): void;
}

/** The first prompt that is taken back. */
export interface TakenPrompt {
  readonly text: string;
  /** Where the first record starts that shows what the user said, of all that is taken back. */
  readonly shownAt: ByteOffset;
}

const UUID = Buffer.from('"uuid":');

/** What cuts the chain of parents, so that a prompt behind it without a parent has taken nothing back: key and value. */
const CUTS = [
  ['"subtype":', '"compact_boundary"'],
  ['"isCompactSummary":', "true"],
] as const;

/** Tells which of a page's prompts take turns back; all of them in one search. */
export function findRewinds(file: ChatFile, prompts: readonly Prompt[]): void {
  const turns = new Turns(file);
  const open = new Map<string, Prompt[]>();
  const roots: Prompt[] = [];
  for (const prompt of prompts) {
    const parent = asText(prompt.record.parentUuid);
    if (parent !== undefined && isPlainId(parent)) pushTo(open, parent, prompt);
    else if (prompt.record.parentUuid !== null) continue;
    else if (prompt.start <= LOOK_BACK_BYTES) roots.push(prompt);
    else prompt.goesFarBack();
  }
  findRewindsToStart(file, turns, roots);
  const found: { readonly prompt: Prompt; readonly place: ByteOffset }[] = [];
  file.nearest(UUID, open, (prompt, place) => found.push({ prompt, place }) > 0);
  const near = new Set(found.map(({ prompt }) => prompt));
  for (const prompt of [...open.values()].flat()) {
    if (prompt.start > LOOK_BACK_BYTES && !near.has(prompt)) prompt.goesFarBack();
  }
  // In the order of the file, so that the search for one goes on where that for the last has ended.
  for (const { prompt, place } of found.sort((a, b) => a.prompt.start - b.prompt.start)) {
    const next = file.lineEnd(place);
    if (next !== undefined) tell(prompt, turns.firstAnswered(next, prompt.start));
  }
}

/** Prompts without a parent take back all that the file tells before them, as far as no compaction lies between. */
function findRewindsToStart(file: ChatFile, turns: Turns, roots: readonly Prompt[]): void {
  const last = roots.at(-1);
  if (last === undefined) return;
  const firstCut = firstCutBefore(file, last.start);
  for (const prompt of roots) {
    if (firstCut >= prompt.start) tell(prompt, turns.firstAnswered(byteOffsetOf(0), prompt.start));
  }
}

/** Where the first cut stands, as far as it is looked for; infinity when there is none. */
function firstCutBefore(file: ChatFile, end: ByteOffset): number {
  let first = Number.POSITIVE_INFINITY;
  for (const [key, value] of CUTS) {
    for (const place of file.places(key, end)) {
      const start = place + key.length;
      const found = file.slice(start, start + value.length + 1).toString("latin1");
      if (found.trimStart().startsWith(value)) first = Math.min(first, place);
    }
  }
  return first;
}

function tell(prompt: Prompt, first: TakenPrompt | undefined): void {
  if (first !== undefined) prompt.rewinds(first);
}

/** A record that shows in a chat, and what it shows. */
interface ShownRecord {
  readonly start: ByteOffset;
  readonly record: JsonObject | undefined;
  readonly entries: readonly Entry[];
}

/** The first prompt of `records` that is followed by an answer. */
export function answeredPrompt(file: ChatFile, records: Iterable<ShownRecord>): TakenPrompt | undefined {
  let first: TakenPrompt | undefined;
  let shownAt: ByteOffset | undefined;
  for (const { start, record, entries } of records) {
    if (record === undefined) continue;
    if (first !== undefined) {
      if (record.type === "assistant") return first;
      continue;
    }
    if (entries.some(({ kind }) => kind === "user")) shownAt ??= start;
    const text = promptOf(record);
    if (text !== undefined) first = { text, shownAt: shownAt ?? shownPlace(file, record, start) };
  }
  return undefined;
}
