import type { ServerResponse } from "node:http";
import { http } from "../platform/builtins.ts";
import { Failure, type FailureKind } from "../platform/failure.ts";
import { MethodRefused } from "./guard.ts";
import type { DocumentAnswer } from "./route.ts";

/** The status of each kind of failure: the only place that knows. */
const FAILURE_STATUS: { readonly [K in FailureKind]: number } = {
  "bad-request": 400,
  usage: 400,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  conflict: 409,
  unreadable: 409,
  "body-too-large": 413,
  "url-too-long": 414,
  "unsupported-media-type": 415,
  failed: 500,
};

/** Headers of every answer. */
const BASE_HEADERS: Headers = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** Headers that every HTML answer has besides: nothing inline runs, nothing foreign is loaded, no page may frame it. */
const HTML_HEADERS: Headers = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types agent-bridge",
  "Referrer-Policy": "no-referrer",
};

const JSON_TYPE = "application/json; charset=utf-8";

type Headers = { readonly [name: string]: string };

/** What is known of an answer besides its body. */
export interface Extras {
  readonly etag?: string | undefined;
  readonly headers?: Headers | undefined;
}

/** Sends `body` as JSON. */
export function respondJson(response: ServerResponse, status: number, body: unknown, extras: Extras = {}): void {
  send(response, status, JSON_TYPE, JSON.stringify(body), extras);
}

/** Sends a text of the content type `type`. */
export function respondText(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Uint8Array,
  extras: Extras = {},
): void {
  send(response, status, type, body, { ...extras, headers: { ...headersOf(type), ...extras.headers } });
}

/** Starts the answer that is a document; its body follows, `size` bytes of it. */
export function startDocument(response: ServerResponse, { type, headers, size }: DocumentAnswer): void {
  response.writeHead(200, {
    ...headersFor({ headers: { ...headersOf(type), ...headers } }),
    "Content-Type": type,
    "Content-Length": size,
  });
}

/** Says that what the client holds is still what it would get: the headers of that answer that belong to it, no body. */
export function respondNotModified(response: ServerResponse, etag: string): void {
  response.writeHead(304, headersFor({ etag }));
  response.end();
}

/** Starts a stream of server-sent events, and lets the client know at once. */
export function startEvents(response: ServerResponse): void {
  // A stream ends with the server or with a fault: its connection is never used again.
  response.shouldKeepAlive = false;
  response.writeHead(200, {
    ...BASE_HEADERS,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache, no-transform, no-store",
  });
  response.flushHeaders();
}

/** What a client is told of an error: its status and a sentence. Only a `Failure` is written to be shown. */
export function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Failure) return { status: FAILURE_STATUS[error.kind], message: error.message };
  return { status: 500, message: "something went wrong inside agent-bridge; its log says where" };
}

/** Sends what is to be told of `error`. */
export function respondFailure(response: ServerResponse, error: unknown): void {
  const { status, message } = refusalOf(error);
  const headers = error instanceof MethodRefused ? { Allow: error.allow } : undefined;
  respondJson(response, status, { error: message }, { headers });
}

/** The whole answer to what was not even HTTP, for a bare socket. */
export function rawRefusal(failure: Failure): string {
  const { status, message } = refusalOf(failure);
  const body = JSON.stringify({ error: message });
  const headers = {
    ...BASE_HEADERS,
    "Content-Type": JSON_TYPE,
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    ...(failure instanceof MethodRefused && { Allow: failure.allow }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${http().STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array, extras: Extras): void {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  response.writeHead(status, {
    ...headersFor(extras),
    "Content-Type": type,
    "Content-Length": bytes.length,
  });
  response.end(bytes);
}

function headersOf(type: string): Headers {
  return /^text\/html\b/i.test(type) ? HTML_HEADERS : {};
}

function headersFor({ etag, headers }: Extras): Headers {
  const caching: Headers = etag === undefined ? {} : { "Cache-Control": "private, no-cache", ETag: etag };
  return { ...BASE_HEADERS, ...caching, ...headers };
}
