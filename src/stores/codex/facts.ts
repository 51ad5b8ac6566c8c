import { bytesSource } from "../../jsonl/source.ts";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { RolloutFile } from "./catalog.ts";
import { timeOf } from "./header.ts";
import { continueScan, HeadScan, modelIn } from "./scan.ts";
import type { Unpacker } from "./unpack.ts";
import type { Work } from "./work.ts";

/** What is known of one state of a rollout. */
export interface FileFacts {
  readonly stamp: FileStamp;
  /** What its first records tell; goes on as the file grows, so it belongs to the file, not to the state. */
  readonly scan: HeadScan;
  /** The time of its last record. */
  readonly lastAt?: EpochMs;
  /** The model of its last turn, where that stands near the end. */
  readonly model?: string;
  /** Why it can't be shown. */
  readonly problem?: string;
}

/** Bytes of a head that nearly always tell all, and of a tail in which the last time and model are looked for. */
const LOOK_BYTES = 64 * 1024;
/** Bytes of a head in which the header and the first words are looked for. */
const HEAD_BYTES = PAGE_BYTES;

/** The problem of a file whose first records (mostly: none yet) do not say what it is. */
export const NO_HEADER = "no readable header";

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
    const facts = await this.#read(file, stamp, sameFile(known, stamp) ? known : undefined);
    this.#facts.set(file.path, facts);
    return facts;
  }

  /**
   * As `facts`, but what a growing file's end says may be older: a chat needs only the head, and a settled head is not
   * read again.
   */
  async head(file: RolloutFile): Promise<FileFacts | undefined> {
    const stamp = stampOf(file.path);
    const known = this.#facts.get(file.path);
    if (stamp === undefined || known?.scan.settled !== true || !sameFile(known, stamp)) return this.facts(file);
    return { ...known, stamp };
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

  /** One synchronous step, so that one buffer serves all files. */
  #readOpen(open: OpenFile, scan: HeadScan, before: FileFacts | undefined): FileFacts | Promise<FileFacts> {
    if (open.size > LOOK_BYTES) return this.#readLong(open, scan, before);
    // Head and tail are the same bytes: one read.
    this.#work.count("head");
    const whole = this.#look.subarray(0, open.read(this.#look.subarray(0, open.size), 0));
    scan.take(whole, 0);
    return factsOf(open.stamp, scan, tailOf(whole), before);
  }

  async #readLong(open: OpenFile, scan: HeadScan, before: FileFacts | undefined): Promise<FileFacts> {
    if (!scan.settled && scan.scanned < HEAD_BYTES) {
      this.#work.count("head");
      if (scan.scanned === 0) scan.take(this.#look.subarray(0, open.read(this.#look, 0)), 0);
      await continueScan(scan, open, (found) => found.settled, HEAD_BYTES, new Breather());
    }
    this.#work.count("tail");
    const tail = this.#look.subarray(0, open.read(this.#look, open.size - LOOK_BYTES));
    return factsOf(open.stamp, scan, tailOf(tail), before);
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

function factsOf(stamp: FileStamp, scan: HeadScan, tail: Tail, before: FileFacts | undefined): FileFacts {
  const model = tail.model ?? before?.model ?? scan.model;
  return {
    stamp,
    scan,
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
const MODEL_BYTES = 32 * 1024;
const TIMESTAMP = Buffer.from('"timestamp":');
const TURN_CONTEXT = Buffer.from('turn_context"');

/** What the last complete lines of a file tell, found by bytes. */
function tailOf(bytes: Buffer): Tail {
  const end = bytes.lastIndexOf(0x0a);
  if (end < 0) return {};
  const lines = bytes.subarray(0, end + 1);
  const lastAt = lastTime(lines);
  const near = lines.subarray(-MODEL_BYTES);
  const context = near.lastIndexOf(TURN_CONTEXT);
  const model = context < 0 ? undefined : modelIn(near.subarray(context, near.indexOf(0x0a, context)));
  return { ...(lastAt !== undefined && { lastAt }), ...(model !== undefined && { model }) };
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

/** Whether the file is still the one whose facts these are, only longer. */
function sameFile(known: FileFacts | undefined, stamp: FileStamp): boolean {
  return (
    known !== undefined &&
    known.stamp.ino === stamp.ino &&
    known.stamp.dev === stamp.dev &&
    stamp.size >= known.stamp.size
  );
}
