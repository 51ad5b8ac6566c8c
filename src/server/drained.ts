import type { ServerResponse } from "node:http";

/** Waits until the client has taken what was written, or is gone, or the signal aborts. */
export function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
    signal.addEventListener("abort", done);
    if (response.destroyed || signal.aborted) done();
  });
}
