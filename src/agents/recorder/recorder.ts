import type { Clock } from "../../platform/clock.ts";
import type { Timer } from "../../platform/timer.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { SessionEvent } from "../event.ts";
import type { Loss, Recording } from "../recording.ts";
import type { RecordingFiles } from "./file.ts";
import type { LossTold } from "./loss-book.ts";
import { OpenCalls } from "./open-calls.ts";
import { isRecorded, RecordLines } from "./record-line.ts";
import { TextLines } from "./text-lines.ts";
import { RecordWriter } from "./writer.ts";

/** How long the beginning of a line waits for the rest of it: ms since the last chunk. */
const PARTIAL_MS = 250;

/** What is given up last when nothing can be written: what tells how turns begin and end. */
const ESSENTIAL: ReadonlySet<string> = new Set<SessionEvent["kind"]>([
  "user-prompt",
  "agent-prompt",
  "permission-resolved",
  "turn-end",
  "error",
  "usage_snapshot",
]);

/** What a recorder is made with. */
export interface RecorderParts extends LossTold {
  readonly path: string;
  readonly sessionId: SessionId;
  /** The number of the last record that the file holds. */
  readonly seq: number;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly files: RecordingFiles;
}

/** Makes records of what happens in a session: lines of text, the newest update of each call, and everything else as it is. */
export class Recorder implements Recording {
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #lines: RecordLines;
  readonly #writer: RecordWriter;
  readonly #text: TextLines;
  readonly #calls: OpenCalls;
  #chunks = 0;
  #lastChunkAt = 0;
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  constructor({ path, sessionId, seq, clock, timer, files, lost, late }: RecorderParts) {
    this.#clock = clock;
    this.#timer = timer;
    this.#lines = new RecordLines(clock, sessionId);
    const notice = (number: number, text: string): string => this.#lines.line(number, { kind: "notice", text });
    this.#writer = new RecordWriter({ path, files, timer, seq, notice, lost, late });
    this.#text = new TextLines((kind, text, partial) => {
      this.#writer.add((number) => this.#lines.textLine(number, kind, text, partial));
    });
    this.#calls = new OpenCalls((record) => this.#put(record));
  }

  get seq(): number {
    return this.#writer.seq;
  }

  get loss(): Loss | undefined {
    return this.#writer.loss;
  }

  take(event: SessionEvent): number {
    if (this.#closed || !isRecorded(event.kind)) return this.seq;
    switch (event.kind) {
      case "text-delta":
      case "thought":
        this.#text.take(event.kind, event.text);
        this.#settleSoon();
        break;
      case "tool-call":
        this.#calls.call(event);
        break;
      case "tool-result":
        this.#calls.result(event);
        break;
      case "turn-end":
        this.#calls.endAll();
        this.#put(event);
        break;
      default:
        this.#put(event);
    }
    return this.seq;
  }

  room(): Promise<void> {
    return this.#writer.room();
  }

  written(): Promise<void> {
    return this.#writer.writtenAll();
  }

  async close(): Promise<void> {
    if (!this.#closed) {
      this.#text.flush();
      this.#calls.endAll();
      this.#closed = true;
      this.#cancelTimer?.();
    }
    await this.#writer.close();
  }

  /** What is no text comes behind the text that was said before it. */
  #put(body: SessionEvent): void {
    this.#text.flush();
    this.#writer.add((seq) => this.#lines.line(seq, body), ESSENTIAL.has(body.kind));
  }

  /** A timer for each chunk would cost more than the chunk: one that runs is set anew when it is due. */
  #settleSoon(): void {
    if (!this.#text.waits) return;
    this.#chunks++;
    this.#lastChunkAt = this.#clock.now();
    if (this.#cancelTimer === undefined) this.#settleAfter(PARTIAL_MS);
  }

  #settleAfter(ms: number): void {
    const chunks = this.#chunks;
    this.#cancelTimer = this.#timer.after(ms, () => {
      this.#cancelTimer = undefined;
      if (!this.#text.waits) return;
      const passed = this.#clock.now() - this.#lastChunkAt;
      // A clock that was set back must not make the text wait for ever.
      if (chunks === this.#chunks || passed >= PARTIAL_MS) this.#text.settle();
      else this.#settleAfter(passed >= 0 ? PARTIAL_MS - passed : PARTIAL_MS);
    });
  }
}
