import type { ByteOffset } from "../../jsonl/cursor.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import type { ChatFile, EarlierLine } from "./chat-file.ts";
import { promptOf } from "./records.ts";

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
  rewinds(first: string): void;
}

const UUID = Buffer.from('"uuid":"');

/** Tells which of a page's prompts take turns back; all of them in one search. */
export function findRewinds(file: ChatFile, prompts: readonly Prompt[]): void {
  const open = new Map<string, Prompt[]>();
  for (const prompt of prompts) {
    const parent = asText(prompt.record.parentUuid);
    if (parent !== undefined) open.set(parent, [...(open.get(parent) ?? []), prompt]);
    else if (prompt.record.parentUuid === null) tell(prompt, firstTurnOfFile(file, prompt.start));
  }
  if (open.size === 0) return;
  file.nearest(UUID, open, (prompt, place) => {
    tell(prompt, firstTurn(file, place, prompt.start));
    return true;
  });
}

function tell(prompt: Prompt, first: string | undefined): void {
  if (first !== undefined) prompt.rewinds(first);
}

/** The first prompt behind the line at `place` that has an answer before `end`. */
function firstTurn(file: ChatFile, place: ByteOffset, end: ByteOffset): string | undefined {
  const lines = file.linesFrom(place, end);
  lines.next();
  return answeredPrompt(recordsOf(file, lines));
}

/** The first answered prompt of the file, when it is near enough and no compaction has cut the chain of parents. */
function firstTurnOfFile(file: ChatFile, end: ByteOffset): string | undefined {
  if (end > LOOK_BACK_BYTES) return undefined;
  for (const cut of ['"subtype":"compact_boundary"', '"isCompactSummary":true']) {
    if (!file.places(cut, end).next().done) return undefined;
  }
  return answeredPrompt(recordsOf(file, file.linesFrom(0, end)));
}

function* recordsOf(file: ChatFile, lines: Iterable<EarlierLine>): Generator<JsonObject> {
  for (const { bytes } of lines) yield* file.records(bytes);
}

/** The first prompt of `records` that is followed by an answer. */
export function answeredPrompt(records: Iterable<JsonObject>): string | undefined {
  let first: string | undefined;
  for (const record of records) {
    if (record.type === "assistant" && first !== undefined) return first;
    first ??= promptOf(record);
  }
  return undefined;
}
