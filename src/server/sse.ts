import type { ServerResponse } from "node:http";
import { drained } from "./drained.ts";
import { startEvents } from "./respond.ts";
import type { SseBlock, SseEvent } from "./route.ts";

/** How long a stream may be silent before a comment shows that it is alive (and finds out whether the client is). */
export const KEEP_ALIVE_MS = 15_000;

/** How often a stream asks whether its client may still have it. */
export const RECHECK_MS = 1_000;

/** How a stream is written. */
export interface StreamTerms {
  /** Aborts when the client has gone or the server ends. */
  readonly signal: AbortSignal;
  /** Milliseconds of silence before a comment is sent. */
  readonly keepAliveMs?: number;
  /** Whether the client may have what comes next; asked before each write and every `recheckMs`. */
  readonly mayGoOn?: () => boolean;
  readonly recheckMs?: number;
}

const NEWLINE = /\r\n|\r|\n/;

/** An event as it stands on the wire. A line's end inside an id or a name would begin another field, so it is dropped. */
export function formatEvent({ event, id, data }: SseEvent): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const lines = text.split(NEWLINE).map((line) => `data: ${line}\n`);
  const name = event === undefined ? "" : `event: ${onOneLine(event)}\n`;
  const position = id === undefined ? "" : `id: ${onOneLine(id)}\n`;
  return `${name}${position}${lines.join("")}\n`;
}

/**
 * Writes `events` until they end, the client goes, may no longer have them or `signal` aborts. The next one is asked for only when the client has
 * taken the last, so a slow client costs one event of memory. Whatever ends it, the iterator is returned.
 * @throws what the iterator throws
 */
export async function writeEvents(
  response: ServerResponse,
  events: AsyncIterable<SseEvent | SseBlock>,
  { signal, keepAliveMs = KEEP_ALIVE_MS, mayGoOn = () => true, recheckMs = RECHECK_MS }: StreamTerms,
): Promise<void> {
  startEvents(response);
  const iterator = events[Symbol.asyncIterator]();
  const end = new AbortController();
  const stop = (): void => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const checked = (): boolean => {
    if (!end.signal.aborted && !mayGoOn()) stop();
    return !end.signal.aborted;
  };
  const recheck = setInterval(checked, recheckMs);
  const keepAlive = setInterval(() => {
    if (checked() && !response.writableNeedDrain) response.write(": \n\n");
  }, keepAliveMs);
  try {
    while (!end.signal.aborted) {
      const next = await orAborted(iterator.next(), end.signal);
      if (next === undefined || next.done || !checked()) break;
      keepAlive.refresh();
      const written = "wire" in next.value ? next.value.wire : formatEvent(next.value);
      if (!response.write(written)) await drained(response, end.signal);
    }
  } finally {
    clearInterval(recheck);
    clearInterval(keepAlive);
    signal.removeEventListener("abort", stop);
    response.end();
    // A client that takes nothing would keep what is left, and the chat behind it, for as long as it likes.
    if (end.signal.aborted && response.writableNeedDrain) response.destroy();
    // Not waited for: a generator that is busy returns only when it comes to its next yield.
    iterator.return?.().catch(() => {});
  }
}

function onOneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, "");
}

/** What `promise` gives, or undefined as soon as the signal aborts. Leaves no listener behind. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(undefined);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
