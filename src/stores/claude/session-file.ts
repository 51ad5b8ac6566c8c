import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, stampFrom } from "../../platform/files.ts";
import { isSpaced } from "./line-head.ts";
import { LineWindow, type WindowPlace } from "./line-window.ts";
import {
  firstPromptTitle,
  firstShown,
  longPromptTitle,
  type SessionFacts,
  sessionFacts,
  statedTitle,
} from "./session-facts.ts";

/** How much is read at a transcript's start and at its end, as the official reader does. */
const END_BYTES = 64 * 1024;

/** How far a first prompt is looked for when nothing else gives a title: one 76 KiB line stands before it in 2.1.332. */
const FIRST_PROMPT_BYTES = 512 * 1024;

/** What listing has cost so far. Tests hold it to what had to be done. */
export interface ListingWork {
  /** Folders whose names were read. */
  folders: number;
  /** Files and folders that were asked for their state. */
  stats: number;
  /** Transcripts opened. */
  opens: number;
  /** Reads of transcripts. */
  reads: number;
  /** Calls of `JSON.parse`. */
  parses: number;
}

/** Work that has not begun. */
export function noWork(): ListingWork {
  return { folders: 0, stats: 0, opens: 0, reads: 0, parses: 0 };
}

/** Why a file in a project folder is not listed. */
export type SkipReason =
  | "could not be read"
  | "a link that leads out of the store"
  | "a subagent's transcript"
  | "no conversation in it"
  | "not named by a session id"
  | "not a regular file";

/** What came of reading a transcript's ends. */
export type SessionReading =
  | { readonly kind: "session"; readonly stamp: FileStamp; readonly facts: SessionFacts }
  | { readonly kind: "skipped"; readonly stamp?: FileStamp; readonly reason: SkipReason }
  | { readonly kind: "gone" };

/** Stands in every record. */
const ANY_RECORD = Buffer.from('"type":');

/** Reads the ends of transcripts into buffers of its own, one transcript at a time. */
export class SessionFileReader {
  readonly #ends = Buffer.allocUnsafe(2 * END_BYTES);
  readonly #work: ListingWork;

  constructor(work: ListingWork) {
    this.#work = work;
  }

  /**
   * The facts of the transcript at `path`, whose folder the caller has found to lie in the store: a link in the last place
   * is not followed. One open; two reads where the file is long.
   */
  read(path: string): SessionReading {
    return this.#read(path, false);
  }

  /** The same of a transcript that lists leave out: what is known of a session in which nothing is said yet. */
  readUnlisted(path: string): SessionReading {
    return this.#read(path, true);
  }

  #read(path: string, silent: boolean): SessionReading {
    let descriptor: number;
    try {
      this.#work.opens++;
      descriptor = openSync(path, OPEN_FLAGS);
    } catch (error) {
      return notOpened(error);
    }
    try {
      return this.#readOpen(path, descriptor, silent);
    } catch {
      return { kind: "skipped", reason: "could not be read" };
    } finally {
      closeSync(descriptor);
    }
  }

  #readOpen(path: string, descriptor: number, silent: boolean): SessionReading {
    const stats = fstatSync(descriptor, { bigint: true });
    const stamp = stampFrom(path, stats);
    if (!stats.isFile()) return { kind: "skipped", stamp, reason: "not a regular file" };
    const [head, tail] = this.#windows(descriptor, stamp.size);
    if (!silent && isSubagents(head, tail)) return { kind: "skipped", stamp, reason: "a subagent's transcript" };
    const title = statedTitle(head, tail) ?? firstPromptTitle(head) ?? this.#laterPrompt(descriptor, stamp.size);
    const shown = title === undefined ? firstShown(head) : {};
    const hasRecords = head.has(ANY_RECORD) || tail.has(ANY_RECORD);
    if (!silent && (stamp.size <= this.#ends.length ? shown === undefined : title === undefined && !hasRecords)) {
      return { kind: "skipped", stamp, reason: "no conversation in it" };
    }
    return { kind: "session", stamp, facts: sessionFacts(head, tail, title ?? shown?.title, modifiedAt(stamp)) };
  }

  /** The first and the last 64 KiB; one window of both where they meet. */
  #windows(descriptor: number, size: number): readonly [LineWindow, LineWindow] {
    if (size <= this.#ends.length) {
      const bytes = this.#fill(descriptor, this.#ends.subarray(0, size), 0);
      const whole = this.#window(bytes, { startsLine: true, endsFile: true }, isSpaced(bytes));
      return [whole, whole];
    }
    const head = this.#fill(descriptor, this.#ends.subarray(0, END_BYTES), 0);
    const tail = this.#fill(descriptor, this.#ends.subarray(END_BYTES), size - END_BYTES);
    const spaced = isSpaced(head);
    return [
      this.#window(head, { startsLine: true, endsFile: false }, spaced),
      this.#window(tail, { startsLine: false, endsFile: true }, spaced),
    ];
  }

  #window(bytes: Buffer, where: WindowPlace, spaced: boolean): LineWindow {
    return new LineWindow(spaced ? unspaced(bytes, this.#work) : bytes, where, this.#work);
  }

  /** The title that a first prompt gives which stands behind the first 64 KiB. */
  #laterPrompt(descriptor: number, size: number): string | undefined {
    if (size <= this.#ends.length) return undefined;
    const bytes = this.#fill(descriptor, Buffer.allocUnsafe(Math.min(size, FIRST_PROMPT_BYTES)), 0);
    const window = this.#window(bytes, { startsLine: true, endsFile: bytes.length === size }, isSpaced(bytes));
    return firstPromptTitle(window) ?? longPromptTitle(window);
  }

  #fill(descriptor: number, target: Buffer, position: number): Buffer {
    this.#work.reads++;
    return target.subarray(0, readSync(descriptor, target, 0, target.length, position));
  }
}

/**
 * Whether a file begins as a subagent's and shows nothing of a session's own. A file that was joined, or copied in the middle
 * of a turn (2.0 and older), may begin with a subagent's record, too.
 */
function isSubagents(head: LineWindow, tail: LineWindow): boolean {
  if (!head.firstLineHas('"isSidechain":true', '"isSidechain": true')) return false;
  return firstShown(head) === undefined && (head === tail || firstShown(tail) === undefined);
}

/** The same lines as Claude Code writes them, so that the search for bytes finds what it knows; a broken one as it is. */
function unspaced(bytes: Buffer, work: ListingWork): Buffer {
  const lines = bytes.toString().split("\n");
  return Buffer.from(lines.map((line) => withoutSpaces(line, work)).join("\n"));
}

function withoutSpaces(line: string, work: ListingWork): string {
  if (line.trim() === "") return line;
  work.parses++;
  try {
    return JSON.stringify(JSON.parse(line));
  } catch {
    return line;
  }
}

/** A pipe in a project folder must not block, a terminal not become ours, and a link in the last place not be followed. */
const OPEN_FLAGS =
  constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0) | (constants.O_NOFOLLOW ?? 0);

function notOpened(error: unknown): SessionReading {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return { kind: "gone" };
  return { kind: "skipped", reason: "could not be read" };
}

function modifiedAt(stamp: FileStamp): EpochMs {
  return epochMsOf(Number(stamp.mtimeNs / 1_000_000n)) ?? (0 as EpochMs);
}
