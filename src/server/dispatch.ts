import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import { hasBody, passOver } from "./body.ts";
import { type DocumentTerms, writeDocument } from "./document.ts";
import { type EtagMemo, etagOf, namesEtag } from "./etag.ts";
import { admit, type Found, findRoute, isStillAdmitted } from "./guard.ts";
import { type ServerLog, type ServerLogRecord, traceOf } from "./log.ts";
import { headerValues } from "./origin.ts";
import { refusalOf, respondFailure, respondJson, respondNotModified, respondText } from "./respond.ts";
import type { Answer, RouteRequest, Validity } from "./route.ts";
import type { Router } from "./router.ts";
import { type StreamTerms, writeEvents } from "./sse.ts";

/** What a request's way through the server needs. */
export interface DispatchOptions {
  readonly router: Router;
  /** The key as it is now. @throws Failure when it can't be read */
  readonly key: () => string;
  /** What is told to who comes without it. */
  readonly noKey: string;
  readonly memo: EtagMemo;
  /** Goes into every ETag: the program's version. */
  readonly salt: string;
  readonly clock: Clock;
  readonly log: ServerLog;
  /** Milliseconds that a request's body may take. */
  readonly bodyTimeoutMs: number;
  /** Milliseconds of silence on a stream before a comment is sent. */
  readonly keepAliveMs: number;
  /** Milliseconds between two looks whether an open stream's client still has the right key. */
  readonly recheckMs: number;
  /** Milliseconds that the client of a document may take nothing. */
  readonly stallMs: number;
}

/** How much a refused client may still send before it is cut off. */
const PASSED_OVER = { bytes: 16 * 1024 * 1024, pauseMs: 300 };

/**
 * Answers one request: guard, then its handler, then the answer, whatever happens. No handler is reached in another way.
 * `signal` aborts when the client has gone or the server ends; aborted with a Failure, that Failure is the answer.
 */
export async function dispatch(
  options: DispatchOptions,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const started = options.clock.now();
  let found: Found | undefined;
  let problem: unknown;
  try {
    found = findRoute(request, options.router);
    const admitted = await admit(request, found, options, {
      timeoutMs: options.bodyTimeoutMs,
      proceed: () => expectsContinue(request) && response.writeContinue(),
      signal,
    });
    await answer(options, found, admitted, { request, response, started });
  } catch (error) {
    problem = error;
    await refuse(request, response, error, signal);
  }
  logRequest(options, found, response, problem, options.clock.now() - started);
}

async function answer(
  options: DispatchOptions,
  { route, target }: Found,
  admitted: RouteRequest,
  { request, response, started }: { request: IncomingMessage; response: ServerResponse; started: EpochMs },
): Promise<void> {
  const asked = headerValues(request, "if-none-match").join(", ") || undefined;
  const known = asked === undefined ? undefined : options.memo.current(target, started);
  if (known !== undefined && namesEtag(asked, known)) {
    respondNotModified(response, known);
    return;
  }
  const given = await route.handle(admitted);
  const validity = route.method === "GET" ? validityOf(given) : undefined;
  // Young is what was written less than a moment before the handler looked, so the time before it counts.
  const etag = validity && etagOf(options.salt, target, validity, started);
  if (etag !== undefined && validity !== undefined) options.memo.remember(target, etag, validity, started);
  if (etag !== undefined && namesEtag(asked, etag)) respondNotModified(response, etag);
  else {
    const { signal } = admitted;
    const mayGoOn = (): boolean => isStillAdmitted(request, route, options.key);
    await write(given, response, etag, { ...options, signal, mayGoOn });
  }
}

function validityOf(given: Answer): Validity | undefined {
  if (given.kind === "events" || given.kind === "document" || (given.status ?? 200) !== 200) return undefined;
  return given.validity;
}

async function write(
  given: Answer,
  response: ServerResponse,
  etag: string | undefined,
  terms: StreamTerms & DocumentTerms,
): Promise<void> {
  switch (given.kind) {
    case "json":
      respondJson(response, given.status ?? 200, given.body, { etag, headers: given.headers });
      return;
    case "text":
      respondText(response, given.status ?? 200, given.type, given.body, { etag, headers: given.headers });
      return;
    case "document":
      await writeDocument(response, given, terms);
      return;
    case "events":
      await writeEvents(response, given.events, terms);
      return;
  }
}

async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (response.headersSent) {
    // Part of an answer is out: cutting it off is the only way left to say that it is not whole.
    if (!response.writableEnded) response.destroy();
    return;
  }
  if (hasBody(request) && !expectsContinue(request) && !signal.aborted) await passOver(request, PASSED_OVER);
  if (response.destroyed) return;
  // What is left of the body would be taken for the next request.
  if (hasBody(request) && !request.complete) response.shouldKeepAlive = false;
  // When the server ends, what its handlers throw is no news.
  if (signal.aborted && !(error instanceof Failure)) response.destroy();
  else respondFailure(response, error);
}

function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === "100-continue";
}

function logRequest(
  { log }: DispatchOptions,
  found: Found | undefined,
  response: ServerResponse,
  problem: unknown,
  ms: number,
): void {
  const about = { ...(found && { route: found.route.pattern }), status: response.statusCode, ms };
  log({ ...messageOf(problem, response), ...about });
}

function messageOf(problem: unknown, response: ServerResponse): Pick<ServerLogRecord, "level" | "msg"> {
  if (problem === undefined) return { level: "debug", msg: "request" };
  // A client that goes away ends whatever was being made for it.
  if (!response.headersSent) return { level: "debug", msg: "the client went away" };
  const { status, message } = refusalOf(problem);
  if (status === 500) return { level: "error", msg: `${message}: ${traceOf(problem)}` };
  // Who is not let in is told by the guard, whose words name a host at most; other words may quote the request.
  if (status === 403) return { level: "warn", msg: message };
  return { level: "debug", msg: problem instanceof Failure ? `refused: ${problem.kind}` : "refused" };
}
