import { bytesSource } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, sameStamp, stampOf, withFile, withFileNow } from "../../platform/files.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { RolloutFile } from "./catalog.ts";
import { timeOf } from "./header.ts";
import { markAt } from "./mark.ts";
import { continueScan, HeadScan, modelIn } from "./scan.ts";
import type { Unpacker } from "./unpack.ts";
import type { Work } from "./work.ts";

/** What is known of one state of a rollout. */
export interface FileFacts {
  readonly stamp: FileStamp;
  /** What its first records tell; goes on as the file grows, so it belongs to the file, not to the state. */
  readonly scan: HeadScan;
  /** Tells a file that grew from one that was written anew in place. */
  readonly mark?: number;
  /** The time of its last record. */
  readonly lastAt?: EpochMs;
  /** The model of its last turn, where that stands near the end. */
  readonly model?: string;
  /** Why it can't be shown. */
  readonly problem?: string;
}

/** Bytes of a head that mostly tell all, and of a tail in which the last model and mostly the last time stand. */
const FIRST_BYTES = 32 * 1024;
/** Bytes of a tail in which the last time is looked for; a shorter file is read as a whole. */
const LOOK_BYTES = 64 * 1024;
/** Bytes of a head in which the header and the first words are looked for. */
const HEAD_BYTES = PAGE_BYTES;

/** The problem of a file whose first records (mostly: none yet) do not say what it is. */
export const NO_HEADER = "no readable header";

/** A file is no longer the one whose first records were read: it was written anew in place. */
export class Rewritten extends Error {}

/** Opens rollouts, and keeps what lists need of each until it changes. */
export class Rollouts {
  readonly #unpacker: Unpacker;
  readonly #work: Work;
  readonly #facts = new Map<string, FileFacts>();
  readonly #look = Buffer.allocUnsafeSlow(LOOK_BYTES);

  constructor(unpacker: Unpacker, work: Work) {
    this.#unpacker = unpacker;
    this.#work = work;
  }

  /** Opens `file` as plain JSONL. The stamp given to `use` is that of the file in the store. @throws Failure not-found */
  async open<T>(file: RolloutFile, use: (open: OpenFile) => T | Promise<T>): Promise<T> {
    this.#work.count("open");
    if (!file.compressed) return withFile(file.root, file.path, use);
    const stamp = stampOf(file.path);
    const plain = await this.#unpacker.plain(file);
    return withFile(plain.root, plain.path, (open) => use({ ...open, stamp: stamp ?? open.stamp }));
  }

  /** The facts of `file` as it is now; undefined when it is gone. An unchanged file is not opened. */
  async facts(file: RolloutFile): Promise<FileFacts | undefined> {
    const known = this.#facts.get(file.path);
    if (known === undefined && !file.compressed) return this.#first(file);
    const stamp = stampOf(file.path);
    if (stamp === undefined) {
      this.#facts.delete(file.path);
      return undefined;
    }
    if (known !== undefined && sameStamp(known.stamp, stamp)) return known;
    const facts = await this.#read(file, stamp, mayHaveGrown(file, known, stamp) ? known : undefined);
    this.#facts.set(file.path, facts);
    return facts;
  }

  /** As `facts`, at once: undefined where that takes longer, and `facts` is to be asked. */
  factsNow(file: RolloutFile): FileFacts | undefined {
    if (file.compressed) return undefined;
    const known = this.#facts.get(file.path);
    if (known === undefined) return this.#firstNow(file);
    const stamp = stampOf(file.path);
    return stamp !== undefined && sameStamp(known.stamp, stamp) ? known : undefined;
  }

  /**
   * As `facts`, but what a growing file's end says may be older: a chat needs only the head, and a settled head is not
   * read again. Who opens the file then asks `confirm`.
   */
  async head(file: RolloutFile): Promise<FileFacts | undefined> {
    const stamp = stampOf(file.path);
    const known = this.#facts.get(file.path);
    if (stamp === undefined || known?.scan.settled !== true || !mayHaveGrown(file, known, stamp))
      return this.facts(file);
    return { ...known, stamp };
  }

  /** @throws Rewritten when `open` is no longer the file whose first records are `scan` */
  confirm(file: RolloutFile, scan: HeadScan, open: OpenFile): void {
    const known = this.#facts.get(file.path);
    if (file.compressed || known === undefined) return;
    const isSame = known.scan === scan;
    if (isSame && (sameStamp(known.stamp, open.stamp) || hasGrown(known, open))) return;
    if (isSame) this.#facts.delete(file.path);
    throw new Rewritten();
  }

  /** Reads on until what a chat needs of the head is known, however far that is. Undefined when the file is gone. */
  async readable(file: RolloutFile): Promise<FileFacts | undefined> {
    const facts = await this.head(file);
    if (facts === undefined || facts.scan.readable || facts.problem !== undefined) return facts;
    await this.#scanOn(file, facts.scan, (scan) => scan.readable);
    return facts;
  }

  /** Reads on until the first words of a child's own history are known. */
  async settled(file: RolloutFile): Promise<FileFacts | undefined> {
    const facts = await this.head(file);
    if (facts === undefined || facts.scan.settled || facts.problem !== undefined) return facts;
    await this.#scanOn(file, facts.scan, (scan) => scan.settled);
    return facts;
  }

  /** Compressed files whose unpacking came to no end, with why. */
  refused(files: Iterable<RolloutFile>): { readonly reason: string; readonly example: string }[] {
    return this.#unpacker.refused(files);
  }

  /** Forgets the files that are not among `paths` any more. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#facts.keys()) if (!paths.has(path)) this.#facts.delete(path);
  }

  /** What is known of a file, without looking. */
  known(file: RolloutFile): FileFacts | undefined {
    return this.#facts.get(file.path);
  }

  /** A file that nothing is known of is opened at once: what is opened has its stamp. */
  async #first(file: RolloutFile): Promise<FileFacts | undefined> {
    const scan = new HeadScan(file.thread);
    try {
      this.#work.count("open");
      const facts = await withFile(file.root, file.path, (open) => this.#readOpen(open, scan, undefined));
      this.#facts.set(file.path, facts);
      return facts;
    } catch (error) {
      const stamp = stampOf(file.path);
      if (stamp === undefined) return undefined;
      const facts = { stamp, scan, problem: reasonOf(error) };
      this.#facts.set(file.path, facts);
      return facts;
    }
  }

  #firstNow(file: RolloutFile): FileFacts | undefined {
    const scan = new HeadScan(file.thread);
    try {
      const facts = withFileNow(file.root, file.path, (open) => this.#readNow(open, scan));
      this.#work.count("open");
      if (facts === undefined) return undefined;
      this.#facts.set(file.path, facts);
      return facts;
    } catch {
      // Told by `facts`, with its reason.
      return undefined;
    }
  }

  async #scanOn(file: RolloutFile, scan: HeadScan, enough: (scan: HeadScan) => boolean): Promise<void> {
    await this.open(file, (open) => continueScan(scan, open, enough, Number.MAX_SAFE_INTEGER, new Breather()));
  }

  async #read(file: RolloutFile, stamp: FileStamp, before: FileFacts | undefined): Promise<FileFacts> {
    const scan = before?.scan ?? new HeadScan(file.thread);
    try {
      if (file.compressed) return await this.#readPacked(file, stamp, scan);
      this.#work.count("open");
      return await withFile(file.root, file.path, (open) => this.#readOpen(open, scan, before));
    } catch (error) {
      return { stamp, scan, problem: reasonOf(error) };
    }
  }

  async #readOpen(open: OpenFile, scan: HeadScan, before: FileFacts | undefined): Promise<FileFacts> {
    if (before !== undefined && !hasGrown(before, open)) return this.#readOpen(open, scan.afresh(), undefined);
    const facts = this.#readNow(open, scan, before);
    if (facts !== undefined) return facts;
    this.#work.count("head");
    await continueScan(scan, open, (found) => found.settled, HEAD_BYTES, new Breather());
    return this.#readTail(open, scan, before);
  }

  /** One synchronous step, so that one buffer serves all files; undefined where the head has to be read on. */
  #readNow(open: OpenFile, scan: HeadScan, before?: FileFacts): FileFacts | undefined {
    if (open.size <= LOOK_BYTES) {
      // Head and tail are the same bytes: one read.
      this.#work.count("head");
      const whole = this.#look.subarray(0, open.read(this.#look.subarray(0, open.size), 0));
      scan.take(whole, 0);
      return factsOf(open.stamp, scan, tailOf(whole), before, markAt(bytesSource(whole), whole.length));
    }
    const reads = !scan.settled && scan.scanned < HEAD_BYTES;
    if (reads && scan.scanned === 0) scan.take(this.#bytes(open, 0, FIRST_BYTES), 0);
    if (!scan.settled && scan.scanned < HEAD_BYTES) return undefined;
    if (reads) this.#work.count("head");
    return this.#readTail(open, scan, before);
  }

  #readTail(open: OpenFile, scan: HeadScan, before: FileFacts | undefined): FileFacts {
    this.#work.count("tail");
    let tail = tailOf(this.#bytes(open, open.size - FIRST_BYTES, FIRST_BYTES));
    if (tail.lastAt === undefined) tail = tailOf(this.#bytes(open, open.size - LOOK_BYTES, LOOK_BYTES));
    return factsOf(open.stamp, scan, tail, before, markAt(open, open.size));
  }

  #bytes(open: OpenFile, position: number, length: number): Buffer {
    const target = this.#look.subarray(0, length);
    return target.subarray(0, open.read(target, position));
  }

  /** A compressed file's end can't be read without the whole, so the time of its last change stands for it. */
  async #readPacked(file: RolloutFile, stamp: FileStamp, scan: HeadScan): Promise<FileFacts> {
    this.#work.count("head");
    const head = await this.#unpacker.head(file, HEAD_BYTES);
    await continueScan(scan, bytesSource(head), (found) => found.settled, HEAD_BYTES, new Breather());
    return factsOf(stamp, scan, {}, undefined);
  }
}

function reasonOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.message : "unreadable");
}

function factsOf(
  stamp: FileStamp,
  scan: HeadScan,
  tail: Tail,
  before: FileFacts | undefined,
  mark?: number,
): FileFacts {
  const stated = tail.model ?? before?.model;
  // Mostly all turns have one model, whose name is then kept once.
  const model = stated === undefined || stated === scan.model ? scan.model : stated;
  return {
    stamp,
    scan,
    ...(mark !== undefined && { mark }),
    // Records of a flat file have no times; what was found there is the header's.
    ...(tail.lastAt !== undefined && scan.header?.enveloped === true && { lastAt: tail.lastAt }),
    ...(model !== undefined && { model }),
    ...(scan.header === undefined && { problem: NO_HEADER }),
  };
}

interface Tail {
  readonly lastAt?: EpochMs;
  readonly model?: string;
}

/** Bytes of a tail in which the last turn's model is looked for: farther back it costs more than it tells. */
const MODEL_BYTES = FIRST_BYTES;
const TIMESTAMP = Buffer.from('"timestamp":');
const TURN_CONTEXT = Buffer.from('turn_context"');
/** Of its bytes those that are searched for: few, the last of them a rare one, since Node goes from one of those to the next. */
const CONTEXT_MARK = Buffer.from("contex");
const MARK_AT = TURN_CONTEXT.indexOf(CONTEXT_MARK);

/** What the last complete lines of a file tell, found by bytes. */
function tailOf(bytes: Buffer): Tail {
  const end = bytes.lastIndexOf(0x0a);
  if (end < 0) return {};
  const lines = bytes.subarray(0, end + 1);
  const lastAt = lastTime(lines);
  const near = lines.subarray(-MODEL_BYTES);
  const context = lastContext(near);
  const model = context < 0 ? undefined : modelIn(near.subarray(context, near.indexOf(0x0a, context)));
  return { ...(lastAt !== undefined && { lastAt }), ...(model !== undefined && { model }) };
}

/** Where `TURN_CONTEXT` last stands in `bytes`, or -1. */
function lastContext(bytes: Buffer): number {
  for (let at = bytes.lastIndexOf(CONTEXT_MARK); at >= MARK_AT; at = bytes.lastIndexOf(CONTEXT_MARK, at - 1)) {
    const start = at - MARK_AT;
    if (bytes.compare(TURN_CONTEXT, 0, TURN_CONTEXT.length, start, start + TURN_CONTEXT.length) === 0) return start;
  }
  return -1;
}

/** The time of the last record that has one. Records' times stand at the start of their lines. */
function lastTime(lines: Buffer): EpochMs | undefined {
  for (let end = lines.length - 1; end > 0; ) {
    const start = lines.lastIndexOf(0x0a, end - 1) + 1;
    const at = lines.subarray(start, Math.min(end, start + 200)).indexOf(TIMESTAMP);
    const text =
      at < 0 ? "" : lines.toString("latin1", start + at + TIMESTAMP.length, start + at + TIMESTAMP.length + 44);
    const match = /^\s*(?:"([^"]*)"|(\d{9,16}))/.exec(text);
    const time = timeOf(match?.[1] ?? (match?.[2] === undefined ? undefined : Number(match[2])));
    if (time !== undefined) return time;
    end = start - 1;
  }
  return undefined;
}

/**
 * Whether the file may still be the one whose facts these are, only longer; without more bytes it was not appended to, and
 * a compressed one never is: it is written as a whole.
 */
function mayHaveGrown(file: RolloutFile, known: FileFacts | undefined, stamp: FileStamp): known is FileFacts {
  return !file.compressed && known !== undefined && isLonger(known.stamp, stamp);
}

function isLonger(before: FileStamp, { dev, ino, size }: FileStamp): boolean {
  return before.ino === ino && before.dev === dev && size > before.size;
}

/** Whether what was known of the open file still stands there as it did. */
function hasGrown(known: FileFacts, open: OpenFile): boolean {
  return isLonger(known.stamp, open.stamp) && known.mark === markAt(open, known.stamp.size);
}
