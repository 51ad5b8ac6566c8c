import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { type Asker, type ChatFile, isPlainId } from "./chat-file.ts";

/*
 * Bad resumes and programs that join transcripts write lines again that stand in the file already. Such a record has the
 * id and the time of an earlier one; another record that was only given the same id has its own time, and is shown.
 */

/** How far back a record's first writing is looked for: each page pays for the whole of it, whether it holds copies or not. */
const WINDOW_BYTES = 128 * 1024;

const UUID = '"uuid":';
/** Node searches for six bytes several times as fast as for seven. */
const UUID_END = Buffer.from('uuid":');
const QUOTE = 0x22;
const SPACE = 0x20;

/** Follows the lines of a page and tells which records were written before. */
export class Copies {
  readonly #file: ChatFile;
  readonly #pageStart: number;
  /** The ids of the records of the page. */
  readonly #page = new Set<string>();
  /** The hashes of the ids that stand in the window before the page; undefined until they are asked for. */
  #before: ReadonlySet<number> | undefined;

  constructor(file: ChatFile, pageStart: ByteOffset) {
    this.#file = file;
    this.#pageStart = pageStart;
  }

  /**
   * Whether the next record of the page is a copy of one in the window before it, wherever the page began. Each is asked
   * for: no sign in its neighbours (such as times that go back) tells it of the records in the middle of a run of copies.
   */
  isCopy(record: JsonObject, start: ByteOffset): boolean {
    const id = idOf(record);
    if (id === undefined) return false;
    const inPage = this.#page.has(id);
    this.#page.add(id);
    this.#before ??= hashesBetween(this.#file, Math.max(0, this.#pageStart - WINDOW_BYTES), this.#pageStart);
    return (inPage || this.#before.has(hashOf(id))) && isCopy(this.#file, record, start);
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

/** The hashes of the ids of the records between two places, and of records that are nested in these. */
function hashesBetween(file: ChatFile, start: number, end: number): ReadonlySet<number> {
  const hashes = new Set<number>();
  if (start >= end) return hashes;
  const bytes = file.slice(start, end);
  for (let at = bytes.indexOf(UUID_END); at >= 0; at = bytes.indexOf(UUID_END, at)) {
    const isKey = bytes[at - 1] === QUOTE;
    at += UUID_END.length;
    if (bytes[at] === SPACE) at++;
    if (!isKey || bytes[at] !== QUOTE) continue;
    let hash = 0;
    for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) hash = hashWith(hash, bytes[at] ?? 0);
    hashes.add(hash);
  }
  return hashes;
}

/** A number for a plain id, whose characters are bytes: the window of every page is looked through, and texts are dear. */
function hashOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = hashWith(hash, id.charCodeAt(at));
  return hash;
}

function hashWith(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) & 0x3fffffff;
}
