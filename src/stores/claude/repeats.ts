import type { ByteOffset } from "../../jsonl/cursor.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { type ChatFile, posOf } from "./chat-file.ts";
import { promptOf, toEntries } from "./records.ts";

/*
 * Older releases (2.1.2xx and before) wrote an answer again and again while it grew, under one message id: each line may
 * hold what the lines before it held. What a line repeats is not shown again; of a text that grew only the rest is.
 * Newer lines hold one block each and number it (`apiBlockIndex`): they repeat nothing.
 */

/** How far back a repeat is looked for. */
const WINDOW_BYTES = PAGE_BYTES;

/** A line of an answer that may be written again. */
interface GrowingLine {
  readonly start: ByteOffset;
  readonly texts: readonly string[];
  readonly thoughts: readonly string[];
  readonly callIds: readonly string[];
}

/** Follows the lines of a chat and takes away what an answer's line repeats of the lines before it. */
export class Repeats {
  readonly #file: ChatFile;
  readonly #pageStart: ByteOffset;
  #id: string | undefined;
  /** The lines of the answer in hand; undefined as long as those before the page are not known. */
  #lines: GrowingLine[] | undefined;

  constructor(file: ChatFile, pageStart: ByteOffset) {
    this.#file = file;
    this.#pageStart = pageStart;
  }

  /** The entries of the next record, less what it repeats. */
  fresh(record: JsonObject, start: ByteOffset, entries: Entry[]): Entry[] {
    const id = growingId(record);
    if (id === undefined) {
      if (record.type === "assistant" || (record.type === "user" && holdsPrompt(entries))) this.#lines = [];
      return entries;
    }
    if (this.#lines === undefined || this.#id !== id) {
      this.#lines = this.#lines === undefined ? linesBefore(this.#file, id, this.#pageStart, start) : [];
      this.#id = id;
    }
    const lines = this.#lines;
    const near = lines.filter((line) => start - line.start <= WINDOW_BYTES);
    lines.push(growingLine(start, entries));
    return near.length === 0 ? entries : entries.flatMap((entry) => freshPart(entry, near));
  }
}

/** Where the call `callId` of `record` was first written, when its answer grew: that one is shown. */
export function earliestRepeat(file: ChatFile, record: JsonObject, start: ByteOffset, callId: string): ByteOffset {
  const id = growingId(record);
  const lines = id === undefined ? [] : linesBefore(file, id, start, start);
  return lines.find((line) => line.callIds.includes(callId))?.start ?? start;
}

/** The message id of an answer's line that may be written again. */
function growingId(record: JsonObject): string | undefined {
  if (record.type !== "assistant" || record.apiBlockIndex !== undefined) return undefined;
  return asText(asObject(record.message)?.id);
}

/** An answer ends with another answer's line or with a prompt; tool results and notices may stand inside it. */
function endsAnswer(record: JsonObject): boolean {
  return record.type === "assistant" || promptOf(record) !== undefined;
}

function holdsPrompt(entries: readonly Entry[]): boolean {
  return entries.some(({ kind }) => kind === "user");
}

/** The lines of the answer `id` that stand before `end`, as far as a record at `start` looks back; the first first. */
function linesBefore(file: ChatFile, id: string, end: ByteOffset, start: ByteOffset): GrowingLine[] {
  const lines: GrowingLine[] = [];
  for (const line of file.linesBefore(end, start - WINDOW_BYTES)) {
    for (const record of file.records(line.bytes).reverse()) {
      const other = growingId(record);
      if (other === id) lines.push(growingLine(line.start, entriesOf(record, line.start)));
      else if (other !== undefined || endsAnswer(record)) return lines.reverse();
    }
  }
  return lines.reverse();
}

function entriesOf(record: JsonObject, start: ByteOffset): Entry[] {
  return toEntries(record, { pos: posOf(start), fallbackAt: () => 0 as never });
}

function growingLine(start: ByteOffset, entries: readonly Entry[]): GrowingLine {
  return {
    start,
    texts: textsOf(entries, "assistant"),
    thoughts: textsOf(entries, "reasoning"),
    callIds: entries.flatMap((entry) => (entry.kind === "tool-call" && entry.callId ? [entry.callId] : [])),
  };
}

function textsOf(entries: readonly Entry[], kind: "assistant" | "reasoning"): string[] {
  return entries.flatMap((entry) => (entry.kind === kind ? [entry.text] : []));
}

/** `entry` without what `lines` hold of it already. */
function freshPart(entry: Entry, lines: readonly GrowingLine[]): readonly Entry[] {
  if (entry.kind === "tool-call") {
    return lines.some(({ callIds }) => entry.callId !== undefined && callIds.includes(entry.callId)) ? [] : [entry];
  }
  if (entry.kind !== "assistant" && entry.kind !== "reasoning") return [entry];
  let shown = 0;
  for (const text of lines.flatMap(({ texts, thoughts }) => (entry.kind === "assistant" ? texts : thoughts))) {
    if (text.startsWith(entry.text)) return [];
    if (entry.text.startsWith(text)) shown = Math.max(shown, text.length);
  }
  return shown === 0 ? [entry] : [{ ...entry, text: entry.text.slice(shown) }];
}
