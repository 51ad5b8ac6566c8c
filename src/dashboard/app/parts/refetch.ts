import { Unreachable } from "../api.ts";

/** Fetches something again whenever it may have changed. */
export interface Refetch {
  /** It may have changed. */
  ask(): void;
  close(): void;
}

/** How something is fetched again. */
export interface RefetchOptions {
  /** What could not be fetched; nobody is told where it is left out. */
  readonly failed?: (error: unknown) => void;
  /** ms between two fetches, at least. */
  readonly gap?: number;
  /** Also while nobody looks at the tab. */
  readonly whileHidden?: boolean;
}

/** What it needs to know of the tab: tests have one without a page. */
interface Tab extends EventTarget {
  readonly hidden: boolean;
}

/** ms until another try, where that failed. */
const AGAIN = 3_000;

/**
 * Calls `fetch` when asked: never twice at a time, at most once in `gap` ms, and not while nobody looks at the tab. What
 * is asked for meanwhile is done once, afterwards. Where the server does not answer, it is tried again.
 */
export function refetching(
  fetch: (signal: AbortSignal) => Promise<void>,
  { failed, gap = 1_000, whileHidden = false }: RefetchOptions = {},
): Refetch {
  const tab: Tab = Reflect.get(globalThis, "document");
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
    if (!wanted || resting || ended.signal.aborted || (tab.hidden && !whileHidden)) return;
    wanted = false;
    resting = true;
    fetch(ended.signal).then(
      () => rest(gap),
      (error: unknown) => {
        if (ended.signal.aborted) return;
        failed?.(error);
        if (error instanceof Unreachable) wanted = true;
        rest(Math.max(gap, AGAIN));
      },
    );
  };
  tab.addEventListener("visibilitychange", run, { signal: ended.signal });
  return {
    ask() {
      wanted = true;
      run();
    },
    close: () => ended.abort(new DOMException("left", "AbortError")),
  };
}
