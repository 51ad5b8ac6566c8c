import type { SessionEvent, TurnEndReason } from "./event.ts";
import type { TurnEnd } from "./sessions.ts";

/** What one prompt is written down as besides the recording. */
export interface PromptLog {
  happened(event: SessionEvent): void;
  /** When so much of it is written that it is known of whatever becomes of us, or will not be. Never fails. */
  readonly begun: Promise<unknown>;
  /** Comes back when all of it is written. Never fails. */
  end(reason: TurnEndReason, error: string | undefined): Promise<void>;
}

/** How a prompt is written down. */
export interface PromptLogging {
  /** Who asked, where it was no person. */
  readonly source?: string | undefined;
  /** When what was written of the session before is done. Never fails. */
  readonly after: Promise<unknown>;
}

/** One prompt, until the agent has answered it. */
export class Turn {
  readonly log: PromptLog;
  /** When it has ended, or waits for the answer to a question: whichever is first. Never fails. */
  readonly paused: Promise<TurnEnd>;
  /** When it has ended. */
  readonly over: Promise<void>;
  /** Someone has asked for its end. */
  cancelled = false;
  #error: string | undefined;
  #code: number | string | undefined;
  readonly #seq: () => number;
  #pause: (end: TurnEnd) => void = () => {};
  #finish: () => void = () => {};

  /** `seq` gives the number of the newest record. */
  constructor(log: PromptLog, seq: () => number) {
    this.log = log;
    this.#seq = seq;
    this.paused = new Promise((resolve) => {
      this.#pause = resolve;
    });
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** What went wrong in it: one line for a person. */
  get error(): string | undefined {
    return this.#error;
  }

  /** The same in the agent's word, where it has one. */
  get code(): number | string | undefined {
    return this.#code;
  }

  failed(error: string, code?: number | string): void {
    this.#error = error;
    this.#code = code;
  }

  /** A question waits for its answer. */
  waits(): void {
    this.#pause({ reason: "awaiting-input", seq: this.#seq() });
  }

  /** It has ended. */
  ended(end: TurnEnd): void {
    this.#pause(end);
    this.#finish();
  }
}
