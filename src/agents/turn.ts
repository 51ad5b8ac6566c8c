import type { SessionEvent, TurnEndReason } from "./event.ts";
import type { TurnEnd } from "./sessions.ts";

/** What one prompt is written down as besides the recording. */
export interface PromptLog {
  happened(event: SessionEvent): void;
  /** Comes back when all of it is written. Never fails. */
  end(reason: TurnEndReason, error: string | undefined): Promise<void>;
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
  /** What went wrong in it. */
  error: string | undefined;
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
