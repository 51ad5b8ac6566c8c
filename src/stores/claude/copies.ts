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
  /** Where each record of the page stands, by id and time. */
  readonly #page = new Map<string, ByteOffset>();
  /** The ids that stand in the window before the page; undefined until they are asked for. */
  #before: ReadonlySet<string> | undefined;

  constructor(file: ChatFile, pageStart: ByteOffset) {
    this.#file = file;
    this.#pageStart = pageStart;
  }

  /** Whether the next record of the page is a copy of an earlier one. */
  isCopy(record: JsonObject, start: ByteOffset): boolean {
    const id = idOf(record);
    if (id === undefined) return false;
    const key = `${id} ${timeIn(record)}`;
    const earlier = this.#page.get(key);
    this.#page.set(key, start);
    if (earlier !== undefined && start - earlier <= WINDOW_BYTES) return true;
    this.#before ??= idsBetween(this.#file, Math.max(0, this.#pageStart - WINDOW_BYTES), this.#pageStart);
    return this.#before.has(id) && isCopy(this.#file, record, start);
  }
}

/** Whether `record`, which starts at `start`, is a copy of one in the window before it. */
export function isCopy(file: ChatFile, record: JsonObject, start: ByteOffset): boolean {
  const id = idOf(record);
  if (id === undefined) return false;
  // The value alone, since it may stand behind a space; it also stands there as a parent, mostly right behind.
  for (const place of file.places(`"${id}"`, start, WINDOW_BYTES)) {
    if (!isValueOf(file, place, UUID)) continue;
    const line = file.lineAt(place);
    if (line !== undefined && line.start >= start - WINDOW_BYTES && holdsRecord(file, line.bytes, record)) return true;
  }
  return false;
}

/** Those that are copies of a record in the 8 MiB before them, in one pass for all. */
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
    const found = line !== undefined && line.start < one.start && holdsRecord(file, line.bytes, one.record);
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

function isValueOf(file: ChatFile, place: number, key: string): boolean {
  const before = file.slice(Math.max(0, place - key.length - 1), place).toString("latin1");
  return before.trimEnd().endsWith(key);
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
