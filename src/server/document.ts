import type { ServerResponse } from "node:http";
import { Breather } from "../platform/breather.ts";
import { drained } from "./drained.ts";
import { startDocument } from "./respond.ts";
import type { DocumentAnswer } from "./route.ts";

/** How long a client may take nothing before it is cut off: it would keep the document for as long as it likes. ms. */
export const STALL_MS = 60_000;

/** How a document is written. */
export interface DocumentTerms {
  /** Aborts when the client has gone or the server ends. */
  readonly signal: AbortSignal;
  /** Whether the client may have what comes next; asked before each piece. */
  readonly mayGoOn: () => boolean;
  readonly stallMs: number;
}

/**
 * Writes a document, a piece whenever the client has taken the one before, and closes it, whatever ends it. A client that
 * can't have all of it is cut off: what it has got must not look whole.
 * @throws what reading it throws · the signal's reason when it has aborted before · Error when it is not as long as it says
 */
export async function writeDocument(
  response: ServerResponse,
  document: DocumentAnswer,
  { signal, mayGoOn, stallMs }: DocumentTerms,
): Promise<void> {
  const stalled = setTimeout(() => response.destroy(), stallMs);
  const breather = new Breather();
  const mayHaveMore = (): boolean => !signal.aborted && !response.destroyed && mayGoOn();
  try {
    signal.throwIfAborted();
    startDocument(response, document);
    let left = document.size;
    for await (const piece of document.body) {
      left -= piece.length;
      if (left < 0 || !mayHaveMore()) break;
      stalled.refresh();
      if (!response.write(piece)) await drained(response, signal);
      await breather.pause();
    }
    if (left === 0 && !signal.aborted) response.end();
    else if (mayHaveMore()) throw new Error("a document is not as long as it says");
  } finally {
    clearTimeout(stalled);
    if (response.headersSent && !response.writableEnded) response.destroy();
    await document.close();
  }
}
