import { Failure } from "../platform/failure.ts";
import { parseJson } from "../platform/read.ts";
import { EventReader, type ServerEvent } from "./event-reader.ts";
import { bodyOf, chunksOf, type ServerAddress, sendToServer } from "./request.ts";

export { pathOf, type ServerAddress } from "./request.ts";

/** How long the server may take to answer what it answers from what it has: ms. */
const PATIENCE_MS = 30_000;

/** How a call is made. */
export interface CallTerms {
  /** Leaves the call; the server goes on with what it was asked. */
  readonly signal?: AbortSignal;
  /** Milliseconds that the whole answer may take: 30 s when absent, `Infinity` for what may take any time. */
  readonly patienceMs?: number;
}

/**
 * What the server answers to a request: its JSON, parsed. A POST without a body sends `{}`.
 * @throws Failure of the kind that the server's refusal is, in its words · failed: no answer, or none in time · the signal's reason
 */
export async function callServer(
  server: ServerAddress,
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
  { signal, patienceMs = PATIENCE_MS }: CallTerms = {},
): Promise<unknown> {
  const end = new AbortController();
  const leave = (): void => end.abort(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  const late = new Failure("failed", "the server took too long to answer: see whether it still works");
  const timeout = Number.isFinite(patienceMs) ? setTimeout(() => end.abort(late), patienceMs) : undefined;
  try {
    const request = {
      method,
      path,
      signal: end.signal,
      ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
    };
    return parsed(await bodyOf(await sendToServer(server, request)));
  } catch (error) {
    throw end.signal.aborted ? end.signal.reason : error;
  } finally {
    clearTimeout(timeout);
    signal?.removeEventListener("abort", leave);
  }
}

/**
 * The events of a stream of the server, until it ends it or the signal aborts; with `lastEventId` those behind that one. A
 * reader that is slow holds the server back.
 * @throws Failure of the kind that the server's refusal is, in its words · failed: no answer, or it broke off
 */
export async function* serverEvents(
  server: ServerAddress,
  path: string,
  { signal, lastEventId }: { readonly signal: AbortSignal; readonly lastEventId?: string | undefined },
): AsyncGenerator<ServerEvent, void> {
  const left = new AbortController();
  const leave = (): void => left.abort();
  if (signal.aborted) return;
  signal.addEventListener("abort", leave, { once: true });
  const headers = { Accept: "text/event-stream", ...(lastEventId && { "Last-Event-ID": lastEventId }) };
  try {
    const response = await sendToServer(server, { method: "GET", path, headers, signal: left.signal });
    const reader = new EventReader();
    for await (const chunk of chunksOf(response)) yield* reader.take(chunk);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", leave);
    left.abort();
  }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Failure("failed", "the server's answer is no JSON: is it of another version? restart it", error);
  }
}
