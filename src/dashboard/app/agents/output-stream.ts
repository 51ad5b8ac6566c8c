import type { Output } from "../wire.ts";

/** What is told of a session's output. */
export interface OutputTold {
  /** The next part, in order and without a gap unless it says `cut`. */
  part(output: Output): void;
  /** Nothing more will come. */
  end(): void;
}

/** ms until another try, where the browser does not try again by itself. */
const AGAIN = 3_000;

/**
 * Follows what the session at `at` prints. A browser has six connections to a server, for all of its tabs: this takes one
 * only while somebody looks at the tab, and goes on afterwards where it was.
 */
export function followOutput(at: string, told: OutputTold): { close(): void } {
  const left = new AbortController();
  let source: EventSource | undefined;
  let next = 0;

  const pause = (): void => {
    source?.close();
    source = undefined;
  };
  const look = (): void => {
    if (document.hidden || left.signal.aborted) pause();
    else source ??= open();
  };
  const close = (): void => {
    left.abort();
    pause();
  };
  const open = (): EventSource => {
    const opened = new EventSource(`${at}/output/stream?since=${next}`);
    opened.addEventListener("message", (event) => {
      const output: Output = JSON.parse(event.data);
      next = output.next;
      told.part(output);
    });
    opened.addEventListener("end", () => {
      close();
      told.end();
    });
    opened.addEventListener("error", () => {
      if (opened.readyState !== EventSource.CLOSED) return;
      pause();
      setTimeout(look, AGAIN);
    });
    return opened;
  };
  document.addEventListener("visibilitychange", look, { signal: left.signal });
  look();
  return { close };
}
