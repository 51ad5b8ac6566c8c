import type { SessionEvent } from "./event.ts";

/** Records that could not be written. */
export interface Loss {
  readonly records: number;
  /** Why, as the system says it (`ENOSPC`), what stands in the file's place, or `unknown error`. */
  readonly why: string;
}

/** The `events.jsonl` of one agent session, while it is written. */
export interface Recording {
  /** The number of the newest record; 0 before the first. Goes on from what the file holds. */
  readonly seq: number;
  /**
   * Takes what happened, in the order of the calls; gives the number of the newest record that this made (or `seq`, when it
   * made none yet). Never waits and never fails.
   */
  take(event: SessionEvent): number;
  /** Comes back when so little is waiting to be written that more may be taken. At once, most of the time. */
  room(): Promise<void>;
  /** Comes back when all that was taken, text that waits for its line's end left out, is written, or is known to be lost. */
  written(): Promise<void>;
  /** What was given up so far; what waits until it can be written is not lost. */
  readonly loss: Loss | undefined;
  /** Writes what still waits, open calls ended, and closes. Nothing is taken after it. */
  close(): Promise<void>;
}
