import type { IncomingMessage } from "node:http";
import { Failure } from "../platform/failure.ts";
import { headerValues } from "./origin.ts";

/** Bytes of a request's body. */
export const BODY_BYTES = 1024 * 1024;

/** How a body is read. */
export interface BodyTerms {
  /** Milliseconds until the whole body must be there. */
  readonly timeoutMs: number;
  /** Tells a client that waits for it (`Expect: 100-continue`) to send the body. */
  proceed(): void;
  readonly signal: AbortSignal;
}

/** Whether a request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers["content-length"];
  return request.headers["transfer-encoding"] !== undefined || (length !== undefined && Number(length) > 0);
}

/**
 * The JSON value that a POST carries; undefined for an empty body.
 * @throws Failure unsupported-media-type · body-too-large: over 1 MiB · bad-request: no UTF-8, no JSON, or too slow
 */
export async function readJsonBody(request: IncomingMessage, terms: BodyTerms): Promise<unknown> {
  checkContentType(request);
  if (Number(request.headers["content-length"] ?? 0) > BODY_BYTES) throw tooLarge();
  if (!hasBody(request)) return undefined;
  terms.proceed();
  return parsed(await readBytes(request, terms));
}

/**
 * Reads on and throws away what a refused client is still sending, until it pauses or has sent `most.bytes`: a
 * client that is cut off in the middle of its body may never see the answer.
 */
export async function passOver(request: IncomingMessage, most: { bytes: number; pauseMs: number }): Promise<void> {
  if (request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off("data", count).off("end", done).off("close", done).off("error", done);
      resolve();
    };
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > most.bytes) done();
      else timer.refresh();
    };
    const timer = setTimeout(done, most.pauseMs);
    request.on("end", done).on("close", done).on("error", done).on("data", count);
  });
}

function checkContentType(request: IncomingMessage): void {
  const [type = "", ...more] = headerValues(request, "content-type");
  const json = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type.trim()) && more.length === 0;
  const plain = ["", "identity"].includes(request.headers["content-encoding"]?.toLowerCase() ?? "");
  if (!json || !plain) {
    throw new Failure("unsupported-media-type", "the body must be JSON in UTF-8: send Content-Type: application/json");
  }
}

function readBytes(request: IncomingMessage, { timeoutMs, signal }: BodyTerms): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", gone);
      request.off("data", take).off("end", end).off("error", gone);
      finish();
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > BODY_BYTES) settle(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const end = (): void => settle(() => resolve(Buffer.concat(chunks)));
    const gone = (): void =>
      settle(() => reject(signal.aborted ? signal.reason : new Failure("bad-request", CUT_SHORT)));
    const late = (): void => settle(() => reject(new Failure("bad-request", "the body took too long to arrive")));
    const timer = setTimeout(late, timeoutMs);
    signal.addEventListener("abort", gone);
    request.on("data", take).on("end", end).on("error", gone);
    if (signal.aborted) gone();
  });
}

const CUT_SHORT = "the body ended too early";

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Failure("bad-request", "the body is not valid JSON in UTF-8", error);
  }
}

function tooLarge(): Failure {
  return new Failure("body-too-large", "the body is over 1 MiB");
}
