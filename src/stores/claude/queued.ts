import type { ByteOffset } from "../../jsonl/cursor.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { ChatFile } from "./chat-file.ts";
import { textsTyped } from "./records.ts";

/*
 * A prompt that was queued in mid-turn stands in an attachment, and nowhere else when the agent took it then. When the turn
 * ended before that, it follows as a prompt of its own: with no answer in between it is the same one, and shown once.
 */

/** How far back the attachment is looked for. */
const WINDOW_BYTES = PAGE_BYTES;

/** Follows the lines of a chat and tells which prompts were shown where they were queued. */
export class Queued {
  readonly #file: ChatFile;
  readonly #pageStart: ByteOffset;
  /** Where each prompt was queued that no answer and no prompt has followed; undefined as long as that is not known. */
  #open: Map<string, ByteOffset> | undefined;

  constructor(file: ChatFile, pageStart: ByteOffset) {
    this.#file = file;
    this.#pageStart = pageStart;
  }

  /** The entries of the next record, less a prompt that was shown where it was queued. */
  fresh(record: JsonObject, start: ByteOffset, entries: Entry[]): Entry[] {
    if (record.type === "assistant") this.#open = new Map();
    const queues = isQueued(record);
    if (!queues && record.type !== "user") return entries;
    const typed = entries.filter((entry) => entry.kind === "user").map(({ text }) => text);
    if (typed.length === 0) return entries;
    this.#open ??= openBefore(this.#file, this.#pageStart, start);
    const open = this.#open;
    if (queues) {
      for (const text of typed) open.set(text, start);
      return entries;
    }
    const shown = typed.filter((text) => start - (open.get(text) ?? Number.NEGATIVE_INFINITY) <= WINDOW_BYTES);
    for (const text of typed) open.delete(text);
    return shown.length === 0 ? entries : entries.filter((entry) => entry.kind !== "user");
  }
}

/** Where the prompt `record`, which starts at `start`, shows: where it was queued, or where it stands. */
export function shownPlace(file: ChatFile, record: JsonObject, start: ByteOffset): ByteOffset {
  const open = openBefore(file, start, start);
  const places = textsTyped(record).map((text) => open.get(text));
  const [first] = places;
  return first !== undefined && places.every((place) => place !== undefined && start - place <= WINDOW_BYTES)
    ? first
    : start;
}

/** Whether `record` is a prompt that was queued in mid-turn. */
export function isQueued(record: JsonObject): boolean {
  return record.type === "attachment" && asObject(record.attachment)?.type === "queued_command";
}

/** The prompts that are open where a page begins, as far as a record at `start` looks back. */
function openBefore(file: ChatFile, pageStart: ByteOffset, start: ByteOffset): Map<string, ByteOffset> {
  const open = new Map<string, ByteOffset>();
  const done = new Set<string>();
  const [last] = file.places('"queued_command"', pageStart, WINDOW_BYTES);
  if (last === undefined) return open;
  for (const line of file.linesBefore(pageStart, start - WINDOW_BYTES)) {
    for (const record of file.records(line.bytes).reverse()) {
      if (record.type === "assistant") return open;
      const queues = isQueued(record);
      if (!queues && record.type !== "user") continue;
      for (const text of textsTyped(record)) {
        if (queues && !done.has(text) && !open.has(text)) open.set(text, line.start);
        if (!queues) done.add(text);
      }
    }
  }
  return open;
}
