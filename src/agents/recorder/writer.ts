import { errorCode, Failure } from "../../platform/failure.ts";
import type { Timer } from "../../platform/timer.ts";
import type { Loss } from "../recording.ts";
import type { RecordingFile, RecordingFiles } from "./file.ts";
import { LossBook, type LossTold } from "./loss-book.ts";
import { linesIn, renumbered } from "./record-line.ts";
import { type Tail, tailOf } from "./tail.ts";

/** Characters that may wait before more is held back; while nothing can be written, more are given up. */
const MOST_WAITING = 8 * 1024 * 1024;
/** What tells how turns begin and end may wait beyond that. */
const ESSENTIAL_WAITING = MOST_WAITING + 2 * 1024 * 1024;
/** Characters that one append writes at most, or one line. */
const BATCH_CHARACTERS = 1024 * 1024;
/** How long a file that could not be written is left alone: ms, twice as long each time. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** What a writer is made with. */
export interface WriterParts extends LossTold {
  readonly path: string;
  readonly files: RecordingFiles;
  readonly timer: Timer;
  /** The number of the last record that the file holds. */
  readonly seq: number;
  /** Makes a `notice` that tells of a loss. */
  readonly notice: (seq: number, text: string) => string;
}

/** Whoever waits until so many lines of all are written. */
interface Waiting {
  readonly count: number;
  readonly resolve: () => void;
}

/**
 * Numbers records and appends them to a file, in order, in as few writes as it takes, one at a time. What can't be written
 * waits and is tried again; only beyond a bound records are given up. Those never get a number: numbers are gapless in
 * the file, and a notice stands where they would have stood.
 */
export class RecordWriter {
  readonly #parts: WriterParts;
  readonly #book: LossBook;
  #seq: number;
  #file: RecordingFile | undefined;
  /** The file ends in a line without its newline. */
  #torn = false;
  /** How long the file is as far as we know: bytes. */
  #end = 0;
  #lines: string[] = [];
  #characters = 0;
  /** Lines that were written so far. */
  #written = 0;
  #run: Promise<void> | undefined;
  #fault: string | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelRetry: (() => void) | undefined;
  #waiting: Waiting[] = [];
  #closing: Promise<void> | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#seq = parts.seq;
    this.#book = new LossBook(parts);
  }

  /** The number of the newest record. */
  get seq(): number {
    return this.#seq;
  }

  /** What is lost so far: not what waits until it can be written. */
  get loss(): Loss | undefined {
    return this.#book.loss;
  }

  /** Takes the record that `line` makes of its number. `essential`: it is among the last to be given up. */
  add(line: (seq: number) => string, essential = false): void {
    if (this.#closing !== undefined) return;
    if (this.#fault !== undefined && this.#characters > (essential ? ESSENTIAL_WAITING : MOST_WAITING)) {
      this.#book.giveUp(this.#fault);
      return;
    }
    this.#mark();
    this.#accept(line);
    if (this.#fault === undefined) this.#start();
  }

  /** Comes back when little is waiting, or when waiting would not help. */
  async room(): Promise<void> {
    while (this.#characters > MOST_WAITING && this.#fault === undefined && this.#run !== undefined) {
      await this.#until(this.#written + 1);
    }
  }

  /** Comes back when all that was added is written, or could not be written when it was tried last. */
  async writtenAll(): Promise<void> {
    const count = this.#written + this.#lines.length;
    while (this.#written < count && this.#run !== undefined) await this.#until(count);
  }

  /** Writes what waits, if that is possible now, and closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#run;
    this.#cancelRetry?.();
    this.#start();
    await this.#run;
    if (this.#lines.length > 0) this.#book.giveUp(this.#fault ?? "unknown error", this.#lines.length);
    this.#lines = [];
    this.#characters = 0;
    this.#closeFile();
    this.#book.close();
  }

  #accept(line: (seq: number) => string): void {
    const text = line(++this.#seq);
    this.#lines.push(text);
    this.#characters += text.length;
  }

  /** Says in the file how many records were given up since this was last said. */
  #mark(): void {
    const text = this.#book.unmarked();
    if (text !== undefined) this.#accept((seq) => this.#parts.notice(seq, text));
  }

  #start(): void {
    if (this.#lines.length === 0) return;
    // Not at once: what is taken in the same turn of the event loop is written together.
    this.#run ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#lines.length > 0) await this.#writeBatch();
      this.#run = undefined;
    } catch (error) {
      this.#run = undefined;
      this.#failed(whyNot(error));
    }
    this.#wake();
  }

  async #writeBatch(): Promise<void> {
    // Someone else has cut it, or written to it: it may end in mid-line, or with other numbers.
    if (this.#file !== undefined && this.#file.sizeNow() !== this.#end) this.#closeFile();
    this.#file ??= await this.#open();
    const batch = this.#batch();
    const bytes = Buffer.from(`${this.#torn ? "\n" : ""}${batch.join("")}`);
    const file = this.#file;
    let done = 0;
    try {
      while (done < bytes.length) {
        const count = await file.append(bytes.subarray(done));
        if (count === 0) throw new Error("the system takes no bytes");
        done += count;
      }
    } catch (error) {
      if (file.isInPlace()) this.#count(linesIn(batch, done - (this.#torn ? 1 : 0)));
      throw error;
    }
    // What went into a file that nobody can find any more is written again, into the one that takes its place.
    if (!file.isInPlace()) return this.#closeFile();
    this.#end += bytes.length;
    this.#torn = false;
    this.#count(batch.length);
    this.#recovered();
  }

  #batch(): readonly string[] {
    let characters = 0;
    let count = 0;
    for (const { length } of this.#lines) {
      if (count > 0 && characters + length > BATCH_CHARACTERS) break;
      characters += length;
      count++;
    }
    return this.#lines.slice(0, count);
  }

  /** The first `count` lines are in the file. */
  #count(count: number): void {
    for (const { length } of this.#lines.slice(0, count)) this.#characters -= length;
    this.#lines = this.#lines.slice(count);
    this.#written += count;
    this.#wake();
  }

  /** Opens the file, and makes what waits go on with what it holds. */
  async #open(): Promise<RecordingFile> {
    const file = this.#parts.files.open(this.#parts.path);
    let tail: Tail;
    try {
      tail = await tailOf(file);
    } catch (error) {
      file.close();
      throw error;
    }
    this.#torn = !tail.endsLine;
    this.#end = file.size;
    const before = this.#seq - this.#lines.length;
    if (tail.seq > before) {
      this.#lines = this.#lines.map((line, index) => renumbered(line, tail.seq + 1 + index));
      this.#seq = tail.seq + this.#lines.length;
    } else if (tail.seq < before) {
      this.#book.removed(before - tail.seq);
      this.#mark();
    }
    return file;
  }

  #closeFile(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #failed(why: string): void {
    this.#closeFile();
    this.#fault = why;
    this.#book.failing(why, this.#lines.length);
    if (this.#closing !== undefined) return;
    this.#cancelRetry = this.#parts.timer.after(this.#pauseMs, () => this.#start());
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #recovered(): void {
    if (this.#fault === undefined) return;
    this.#fault = undefined;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#book.recovered();
    this.#mark();
  }

  /** When so many lines are written, or the next time that writing fails. */
  #until(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  #wake(): void {
    const isOver = this.#run === undefined;
    const due = this.#waiting.filter(({ count }) => isOver || count <= this.#written);
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting));
    for (const { resolve } of due) resolve();
  }
}

/** Why a file could not be written, as short as it can be told. */
function whyNot(error: unknown): string {
  return errorCode(error) ?? (error instanceof Failure ? error.message : "unknown error");
}
