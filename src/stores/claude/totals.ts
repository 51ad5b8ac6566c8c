import { Continuity } from "../../jsonl/continuity.ts";
import { FILE_START, type JsonlCursor } from "../../jsonl/cursor.ts";
import { type JsonlLine, pageBuffer, type RecordLine, readPage } from "../../jsonl/page.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import { readRange } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import { type FileStamp, type OpenFile, sameStamp, withFile } from "../../platform/files.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { Totals } from "../store.ts";
import { FamilyFiles } from "./family-files.ts";
import { readHead } from "./line-head.ts";
import type { ClaudePlace } from "./place.ts";
import { statedCostOf, UsageSum, usageOf } from "./usage.ts";

/** Bytes that are read at a time; the usage of a longer record is not counted. */
const READ_BYTES = 2 * 1024 * 1024;

/** So much is counted while the asker waits; more goes on in the background. */
const AT_ONCE_BYTES = 1024 * 1024;

/** Sessions, and responses in all of them, that are remembered so that counting goes on where it stopped. */
const MOST_SESSIONS = 256;
const MOST_RESPONSES = 300_000;

/** Paths of unreadable transcripts that are remembered for the report. */
const MOST_UNREAD = 1_000;

/** How far a file has been counted. */
interface Counted {
  readonly stamp: FileStamp;
  readonly next: JsonlCursor;
  /** Undefined where it could not be read. */
  readonly edition: number | undefined;
  /** It was counted by who read it, and not yet to its end. */
  readonly begun?: true;
}

/** Lines of a transcript that were read for something else. */
export interface LinesRead {
  readonly open: OpenFile;
  readonly from: JsonlCursor;
  readonly next: JsonlCursor;
  readonly lines: readonly JsonlLine[];
  /** The records of a line that was parsed. */
  parsed(line: Buffer): readonly JsonObject[] | undefined;
}

/** What has been counted of a session. */
interface Count {
  sum: UsageSum;
  readonly files: Map<string, Counted>;
  running: boolean;
}

/**
 * Counts the tokens of sessions and of subagents, each over its own and its agents' transcripts, from where the last count stopped. What is
 * much is read in the background, one session after another, a page at a time.
 */
export class TotalsCounter {
  readonly #family = new FamilyFiles();
  readonly #counts = new Map<string, Count>();
  readonly #unread = new Set<string>();
  readonly #continuity = new Continuity();
  #background: Promise<unknown> = Promise.resolve();
  #bytes = 0;

  /** Bytes of transcripts that were read for counting so far. */
  get bytesRead(): number {
    return this.#bytes;
  }

  /** Transcripts of agents and sessions that could not be read when they were to be counted. */
  get unread(): readonly string[] {
    return [...this.#unread];
  }

  /** The totals as of now; undefined when there is much to count, which then goes on in the background. */
  async totals(place: ClaudePlace): Promise<Totals | undefined> {
    // What a subagent used whose records stand in its parent's file is not told apart from what that used.
    if (place.sidechain !== undefined) return { tokens: {} };
    const files = await this.#family.of(place);
    const count = this.#countFor(place, files);
    if (count.running) return undefined;
    const left = files.filter((file) => !isCounted(count, file));
    if (left.length === 0) return count.sum.totals();
    count.running = true;
    if (left.reduce((sum, file) => sum + bytesLeft(count, file), 0) <= AT_ONCE_BYTES) {
      await this.#run(place, files, count);
      return count.sum.totals();
    }
    this.#background = this.#background.then(() => this.#run(place, files, count));
    return undefined;
  }

  /**
   * Counts lines of a session that were read for its chat, where they go on where its count has come to, or begin it: who
   * reads all of a transcript need not have it read again.
   */
  follow(place: ClaudePlace, { open, from, next, lines, parsed }: LinesRead): void {
    const { path } = open.stamp;
    const count = this.#counts.get(place.mainFile) ?? newCount();
    const counted = count.files.get(path) ?? { next: FILE_START, edition: undefined };
    const goesOn = counted.next.offset === from.offset && counted.next.discarding === from.discarding;
    if (count.running || !goesOn || from.offset === next.offset) return;
    if (next.discarding && !from.discarding && !isNoAnswer(open, lines.at(-1)?.end ?? from.offset)) return;
    const { edition } = this.#continuity.now(open);
    if (counted.edition !== undefined && counted.edition !== edition) return;
    const main = path === place.mainFile;
    for (const line of lines)
      if (line.kind === "record") countRecords(parsed(line.bytes) ?? mayCount(line, main), main, count.sum);
    const begun = next.offset < open.size ? { begun: true as const } : {};
    count.files.set(path, { stamp: open.stamp, next, edition, ...begun });
    if (from.offset === 0) this.#counts.set(place.mainFile, count);
    this.#forgetOldest();
  }

  /** Waits until nothing is being counted in the background. */
  async idle(): Promise<void> {
    await this.#background;
  }

  /** What is known of the session; nothing, when one of its files went or is not the one that was counted. */
  #countFor(place: ClaudePlace, files: readonly FileStamp[]): Count {
    const key = place.file;
    const held = this.#counts.get(key);
    this.#counts.delete(key);
    const usable = held !== undefined && (held.running || [...held.files.values()].every((file) => fits(file, files)));
    const count = usable ? held : newCount();
    this.#counts.set(key, count);
    this.#forgetOldest();
    return count;
  }

  #forgetOldest(): void {
    let responses = 0;
    for (const count of this.#counts.values()) responses += count.sum.responses;
    for (const [key, count] of this.#counts) {
      if (this.#counts.size <= MOST_SESSIONS && responses <= MOST_RESPONSES) return;
      if (count.running || this.#counts.size === 1) continue;
      this.#counts.delete(key);
      responses -= count.sum.responses;
    }
  }

  async #run(place: ClaudePlace, files: readonly FileStamp[], count: Count): Promise<void> {
    try {
      for (const file of files) {
        if (isCounted(count, file) || (await this.#countFile(place, file, count))) continue;
        // It was written anew under its old inode: what was counted of it can't be taken back alone.
        count.sum = new UsageSum();
        count.files.clear();
        for (const again of files) await this.#countFile(place, again, count);
        return;
      }
    } finally {
      count.running = false;
    }
  }

  /** Counts what is new in `file`; false when it does not go on where it was left. */
  async #countFile(place: ClaudePlace, file: FileStamp, count: Count): Promise<boolean> {
    const { next: from, edition: before } = count.files.get(file.path) ?? { next: FILE_START, edition: undefined };
    try {
      return await withFile(place.root, file.path, async (open) => {
        const { edition } = this.#continuity.now(open);
        if (before !== undefined && before !== edition) return false;
        const next = await this.#countPages(open, from, file.path === place.mainFile, count.sum);
        if (next !== undefined) count.files.set(file.path, { stamp: open.stamp, next, edition });
        this.#unread.delete(file.path);
        return next !== undefined;
      });
    } catch {
      // Nothing more is known of it; it is tried again when it has changed.
      if (this.#unread.size < MOST_UNREAD) this.#unread.add(file.path);
      count.files.set(file.path, { stamp: file, next: from, edition: before });
      return true;
    }
  }

  async #countPages(open: OpenFile, from: JsonlCursor, main: boolean, sum: UsageSum): Promise<JsonlCursor | undefined> {
    const breather = new Breather();
    // One byte more than is left, so that a half-written last line is not taken for one that outgrows the page.
    const buffer = pageBuffer(Math.max(1, Math.min(READ_BYTES, open.size - from.offset + 1)));
    for (let cursor = from; ; ) {
      const page = await readPage(open, cursor, buffer);
      if (page.reset) return undefined;
      for (const line of page.lines) {
        if (line.kind === "record") countRecords(mayCount(line, main), main, sum);
        await breather.pause();
      }
      if (page.next.offset === cursor.offset) return page.next;
      this.#bytes += page.next.offset - cursor.offset;
      cursor = page.next;
    }
  }
}

const USAGE = Buffer.from('"usage":');
const ASSISTANT = Buffer.from('"assistant"');
const COST_STATE = Buffer.from('{"type":"cost-state"');

function newCount(): Count {
  return { sum: new UsageSum(), files: new Map<string, Counted>(), running: false };
}

/** Bytes that tell what a line is that no page holds. */
const HEAD_BYTES = 512;

/** Whether the line at `start` is surely none that is counted. */
function isNoAnswer(open: OpenFile, start: number): boolean {
  const { kind } = readHead(readRange(open, start, Math.min(open.size, start + HEAD_BYTES)));
  return kind === "user" || kind === "system" || kind === "attachment";
}

function recordsOf(line: Buffer): JsonObject[] {
  return parseRecords(line)
    .map(asObject)
    .filter((record) => record !== undefined);
}

/** The records of a line, when its bytes tell that they may count. */
function mayCount({ bytes }: RecordLine, main: boolean): readonly JsonObject[] {
  const states = main && bytes.subarray(0, COST_STATE.length).equals(COST_STATE);
  return states || (bytes.includes(USAGE) && bytes.includes(ASSISTANT)) ? recordsOf(bytes) : [];
}

function countRecords(records: readonly JsonObject[], main: boolean, sum: UsageSum): void {
  for (const record of records) {
    const usage = usageOf(record);
    if (usage !== undefined) sum.add(usage);
    if (main && record.type === "cost-state") sum.state(statedCostOf(record));
  }
}

/** Whether a file that was counted is still there, and the same, grown or not. */
function fits(counted: Counted, files: readonly FileStamp[]): boolean {
  const now = files.find((file) => file.path === counted.stamp.path);
  const { dev, ino } = counted.stamp;
  return now !== undefined && now.ino === ino && now.dev === dev && now.size >= counted.stamp.size;
}

function isCounted(count: Count, file: FileStamp): boolean {
  const counted = count.files.get(file.path);
  return counted !== undefined && !counted.begun && sameStamp(counted.stamp, file);
}

function bytesLeft(count: Count, file: FileStamp): number {
  return file.size - (count.files.get(file.path)?.next.offset ?? 0);
}
