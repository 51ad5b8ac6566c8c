import type { Timer } from "./timer.ts";

/** How long one listens at most. */
export interface Patience {
  readonly timer: Timer;
  readonly ms: number;
}

/** Wakes the one that listens. Rings that nobody listens to are one ring for whoever listens next. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Comes back at the next ring (or one that was missed), at the signal, or when patience ends, and leaves nothing behind. */
  listen(signal: AbortSignal, patience?: Patience): Promise<void> {
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      const wake = (): void => {
        cancel?.();
        signal.removeEventListener("abort", wake);
        this.#wake = undefined;
        this.#rung = false;
        resolve();
      };
      if (this.#rung || signal.aborted) return wake();
      this.#wake = wake;
      signal.addEventListener("abort", wake, { once: true });
      cancel = patience?.timer.after(patience.ms, wake);
    });
  }
}

/** Comes back after `ms` milliseconds, or at the signal. */
export function pause(timer: Timer, ms: number, signal: AbortSignal): Promise<void> {
  return new Bell().listen(signal, { timer, ms });
}
