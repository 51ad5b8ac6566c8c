import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { type Asker, type ChatFile, isPlainId } from "./chat-file.ts";

/*
 * Bad resumes and programs that join transcripts write lines again that stand in the file already. Such a record has the
 * id and the time of an earlier one; another record that was only given the same id has its own time, and is shown.
 */

/** How far back a record's first writing is looked for: each page pays for it, so no further than a page. */
const WINDOW_BYTES = PAGE_BYTES;

const UUID = '"uuid":';

/** Follows the lines of a page and tells which records were written before. */
export class Copies {
  readonly #file: ChatFile;
  readonly #pageStart: number;
  /** The ids of the records of the page. */
  readonly #page = new Set<string>();
  /** The ids that stand in the window before the page; undefined until they are asked for. */
  #before: ReadonlySet<string> | undefined;
  /** The time of the last record; undefined before the first. */
  #lastTime: string | undefined;
  #lastWasCopy = false;

  constructor(file: ChatFile, pageStart: ByteOffset) {
    this.#file = file;
    this.#pageStart = pageStart;
  }

  /**
   * Whether the next record of the page is a copy of an earlier one. Copies stand in runs that begin by going back in time,
   * so all that stands before the page is looked through only where a run may have begun, or go on.
   */
  isCopy(record: JsonObject, start: ByteOffset): boolean {
    const id = idOf(record);
    if (id === undefined) return false;
    const isCopy = this.#isCopy(record, id, start);
    this.#lastTime = timeIn(record);
    this.#lastWasCopy = isCopy;
    return isCopy;
  }

  #isCopy(record: JsonObject, id: string, start: ByteOffset): boolean {
    if (this.#page.has(id)) return isCopy(this.#file, record, start);
    this.#page.add(id);
    if (this.#lastTime === undefined) return isCopy(this.#file, record, start);
    if (!this.#lastWasCopy && timeIn(record) > this.#lastTime) return false;
    this.#before ??= idsBetween(this.#file, Math.max(0, this.#pageStart - WINDOW_BYTES), this.#pageStart);
    return this.#before.has(id) && isCopy(this.#file, record, start);
  }
}

/** Whether `record`, which starts at `start`, is a copy of one in the window before it. */
export function isCopy(file: ChatFile, record: JsonObject, start: ByteOffset): boolean {
  const id = idOf(record);
  if (id === undefined) return false;
  const from = Math.max(0, start - WINDOW_BYTES);
  const bytes = file.slice(from, start);
  for (let at = bytes.indexOf(id, 0, "latin1"); at >= 0; at = bytes.indexOf(id, at + 1, "latin1")) {
    // It also stands there as a parent. Behind the colon there may be a space.
    const before = bytes.toString("latin1", Math.max(0, at - UUID.length - 2), at);
    if (!/"uuid": ?"$/.test(before)) continue;
    const line = file.lineAt(byteOffsetOf(from + at));
    if (line !== undefined && line.start >= from && holdsRecord(file, line.bytes, record)) return true;
  }
  return false;
}

/** Those whose id a record in the 8 MiB before them has, whatever its time, in one pass for all. */
export function farCopies<R extends Asker & { readonly record: JsonObject }>(
  file: ChatFile,
  records: readonly R[],
): ReadonlySet<R> {
  const copies = new Set<R>();
  const asked = new Map<string, R[]>();
  for (const one of records) {
    const id = idOf(one.record);
    if (id !== undefined) pushTo(asked, id, one);
  }
  if (asked.size === 0) return copies;
  file.nearest(Buffer.from(UUID), asked, (one, place) => {
    const line = file.lineAt(place);
    const isOne = (other: JsonObject): boolean => other.uuid === one.record.uuid;
    const found = line !== undefined && line.start < one.start && file.records(line.bytes).some(isOne);
    if (found) copies.add(one);
    return found;
  });
  return copies;
}

/** Whether a line holds a record with the id and the time of `record`. */
function holdsRecord(file: ChatFile, line: Buffer, record: JsonObject): boolean {
  const time = timeIn(record);
  return file.records(line).some((other) => other.uuid === record.uuid && timeIn(other) === time);
}

/** The time of a record as it stands there. */
function timeIn({ timestamp }: JsonObject): string {
  return typeof timestamp === "string" || typeof timestamp === "number" ? String(timestamp) : "";
}

function idOf(record: JsonObject): string | undefined {
  const id = asText(record.uuid);
  return id !== undefined && isPlainId(id) ? id : undefined;
}

/** The ids of the records between two places, and of records that are nested in these. */
function idsBetween(file: ChatFile, start: number, end: number): ReadonlySet<string> {
  const ids = new Set<string>();
  if (start >= end) return ids;
  const text = file.slice(byteOffsetOf(start), byteOffsetOf(end)).toString("latin1");
  for (let at = text.indexOf(UUID); at >= 0; at = text.indexOf(UUID, at)) {
    at += UUID.length;
    const open = text.charAt(at) === " " ? at + 1 : at;
    const close = text.charAt(open) === '"' ? text.indexOf('"', open + 1) : -1;
    if (close > 0) ids.add(text.slice(open + 1, close));
  }
  return ids;
}
