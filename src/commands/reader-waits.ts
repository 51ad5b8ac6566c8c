import type { Interrupt } from "./interruption.ts";

/** Whoever read stdout has gone (`| head`), or takes nothing and is not to be waited for: the command ends, and nothing is wrong. */
export class OutputClosed extends Error {}

/** So long a reader that is slow may still take what was written before an interrupt: ms. */
const GRACE_MS = 200;

/** One write that was not taken yet. */
interface Wait {
  stops: number;
  giveUp(): void;
}

/**
 * The waits for those who read what we write. A pipe that nobody reads takes nothing, for hours: whoever asks the process to
 * end meanwhile must not have to wait for that too.
 */
export class ReaderWaits {
  readonly #waits = new Set<Wait>();
  #isEnding = false;

  /** Waits for `writing`. @throws OutputClosed: the wait was given up · what `writing` throws */
  wait(writing: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      let giving: NodeJS.Timeout | undefined;
      const giveUp = (): void => {
        giving ??= setTimeout(() => reject(new OutputClosed("nobody reads the output")), GRACE_MS);
      };
      const wait = { stops: 0, giveUp };
      this.#waits.add(wait);
      if (this.#isEnding) giveUp();
      writing.then(resolve, reject).finally(() => {
        this.#waits.delete(wait);
        clearTimeout(giving);
      });
    });
  }

  /**
   * A request to end ends the waits, also those that are yet to come. The first to stop is left to the command, which may
   * have something to stop when its output is taken; another in the same wait ends that.
   */
  interrupted(asked: Interrupt): void {
    if (asked === "end") this.#isEnding = true;
    for (const wait of this.#waits) if (this.#isEnding || ++wait.stops > 1) wait.giveUp();
  }
}
