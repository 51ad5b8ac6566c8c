import type { SessionEvent, UsageFigures } from "./event.ts";
import type { Output } from "./output.ts";
import type { Recording } from "./recording.ts";
import { UsageTally } from "./usage-tally.ts";

/** Where all that happens in a session is taken: it is recorded, shown, and its usage is summed up. */
export class SessionTap {
  readonly output: Output;
  readonly #usage = new UsageTally();
  readonly #show: (event: SessionEvent) => string;
  #recording: Recording | undefined;

  /** `show`: what of an event a terminal shows. */
  constructor(output: Output, show: (event: SessionEvent) => string) {
    this.output = output;
    this.#show = show;
  }

  /** From now on it is recorded. */
  recordTo(recording: Recording): void {
    this.#recording = recording;
  }

  /** The number of the newest record; 0 before the first. */
  get seq(): number {
    return this.#recording?.seq ?? 0;
  }

  /** What could not be recorded so far. */
  get loss(): Recording["loss"] {
    return this.#recording?.loss;
  }

  /** What was used so far, as far as the agent states it. */
  get usage(): UsageFigures {
    return this.#usage.figures();
  }

  /** Takes what happened; gives the number of its record. */
  take(event: SessionEvent): number {
    if (event.kind === "usage_update") this.#usage.told(event);
    const shown = this.#show(event);
    if (shown !== "") this.output.write(shown);
    return this.#recording?.take(event) ?? 0;
  }

  /** A turn has ended that used this. */
  spent(usage: UsageFigures | undefined): void {
    this.#usage.turn(usage);
  }

  /** Takes what was used so far. */
  snapshot(): void {
    this.take({ kind: "usage_snapshot", ...this.usage, source: "adapter" });
  }

  /** Comes back when more may be taken. */
  async room(): Promise<void> {
    await this.#recording?.room();
  }

  /** Comes back when what was taken is written, or known to be lost. */
  async written(): Promise<void> {
    await this.#recording?.written();
  }

  /** The session has ended. */
  async close(): Promise<void> {
    if (this.seq > 0) this.snapshot();
    await this.#recording?.close();
    this.output.end();
  }
}
