import type { IncomingMessage } from "node:http";
import { http } from "../platform/builtins.ts";
import { errorCode, Failure, type FailureKind } from "../platform/failure.ts";
import { KEY_COOKIE } from "../platform/key.ts";
import { asObject, asText, parseJson } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";

/** A running server of ours, and the key that lets one in. */
export interface ServerAddress {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly key: string;
}

/** A request to it. */
export interface ServerRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query, escaped: see `pathOf`. */
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  /** JSON. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Bytes of an answer that is kept whole: more than any route of ours gives. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Characters of an error that the server tells. */
const ERROR_CHARACTERS = 2_000;

/** The kinds of failure that a status stands for; all others are `failed`. */
const KINDS: { readonly [status: number]: FailureKind } = {
  400: "bad-request",
  404: "not-found",
  409: "conflict",
  413: "body-too-large",
  414: "url-too-long",
};

/**
 * The path of `segments`, each escaped: `["", "api", "a/b"]` is `/api/a%2Fb`.
 * @throws Failure not-found: one of them is no text that a URL can hold (half a surrogate pair)
 */
export function pathOf(...segments: readonly string[]): string {
  try {
    return segments.map((segment) => encodeURIComponent(segment)).join("/");
  } catch (error) {
    throw new Failure("not-found", "there is nothing of that name: it holds half a character", error);
  }
}

/**
 * Sends a request to this machine's own server; gives its answer, whose body is still to be read, if it is no refusal.
 * @throws Failure of the kind that the server's refusal is, in its words · failed: nobody answers · the signal's reason
 */
export async function sendToServer(server: ServerAddress, request: ServerRequest): Promise<IncomingMessage> {
  const response = await answerOf(server, request);
  if (response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 300) return response;
  throw refusal(response.statusCode ?? 0, await bodyOf(response).catch(() => ""));
}

/** The whole body of an answer. @throws Failure failed: it broke off, or is too long */
export async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(response)) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Failure("failed", "the server's answer is over 256 MiB: ask for less at once");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** The bytes of a body as they come. @throws Failure failed: it broke off */
export async function* chunksOf(response: IncomingMessage): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of response) yield chunk as Buffer;
  } catch (error) {
    throw new Failure("failed", "the connection to the server broke off: see whether it still runs", error);
  }
}

function answerOf({ url, key }: ServerAddress, request: ServerRequest): Promise<IncomingMessage> {
  const { method, path, body, signal } = request;
  const headers = {
    Cookie: `${KEY_COOKIE}=${key}`,
    ...request.headers,
    ...(method === "POST" && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body ?? "") }),
  };
  // Whatever the address says, the key never leaves this machine.
  const options = { host: "127.0.0.1", port: new URL(url).port, method, path, headers, signal, agent: false };
  return new Promise((resolve, reject) => {
    const sent = http().request(options, resolve);
    sent.on("error", (error) => reject(signal.aborted ? signal.reason : unanswered(error)));
    sent.end(body);
  });
}

function unanswered(error: unknown): Failure {
  if (errorCode(error) === "ECONNREFUSED") {
    return new Failure("failed", "the server is gone: start it with agent-bridge serve", error);
  }
  return new Failure("failed", "the server did not answer: see whether it still runs", error);
}

function refusal(status: number, body: string): Failure {
  if (status === 403) {
    return new Failure("forbidden", "the server does not take the key of this home: try again, or restart the server");
  }
  const words = errorIn(body) ?? `the server answered with status ${status}; its log says more`;
  return new Failure(KINDS[status] ?? "failed", clip(words, ERROR_CHARACTERS).text);
}

function errorIn(body: string): string | undefined {
  try {
    return asText(asObject(parseJson(body))?.error);
  } catch {
    return undefined;
  }
}
