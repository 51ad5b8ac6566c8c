import { Unreachable } from "../api.ts";

/** Fetches something again whenever it may have changed. */
export interface Refetch {
  /** It may have changed. */
  ask(): void;
  close(): void;
}

/** ms between two fetches, where nothing else is said. */
const GAP = 1_000;
/** ms until another try, where the server did not answer. */
const AGAIN = 3_000;

/**
 * Calls `fetch` when asked: never twice at a time, at most once in `gap` ms, and not while nobody looks at the tab. What
 * is asked for meanwhile is done once, afterwards. Where the server does not answer, it is tried again.
 */
export function refetching(
  fetch: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
  gap = GAP,
): Refetch {
  const ended = new AbortController();
  let wanted = false;
  let resting = false;

  const rest = (ms: number): void => {
    setTimeout(() => {
      resting = false;
      run();
    }, ms);
  };
  const run = (): void => {
    if (!wanted || resting || document.hidden || ended.signal.aborted) return;
    wanted = false;
    resting = true;
    fetch(ended.signal).then(
      () => rest(gap),
      (error: unknown) => {
        if (ended.signal.aborted) return;
        failed(error);
        if (error instanceof Unreachable) wanted = true;
        rest(AGAIN);
      },
    );
  };
  document.addEventListener("visibilitychange", run, { signal: ended.signal });
  return {
    ask() {
      wanted = true;
      run();
    },
    close: () => ended.abort(new DOMException("left", "AbortError")),
  };
}
