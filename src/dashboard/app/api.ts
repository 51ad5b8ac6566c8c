import { encoded } from "./encoded.ts";

/** The server answered that it can't, or won't: `status` of HTTP, and its own words. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "Refused";
    this.status = status;
  }
}

/** No answer came: the server is gone, or what came was none of its answers. */
export class Unreachable extends Error {
  constructor() {
    super("the server does not answer");
    this.name = "Unreachable";
  }
}

/** Parameters of a query; what is undefined, false or "" is left out, true is `1`. */
export type Query = { readonly [name: string]: string | number | boolean | undefined };

/** `path` with `query`. The parts of the path must be encoded already (see `path`). */
export function withQuery(path: string, query: Query = {}): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === false || value === ""
      ? []
      : [`${name}=${encoded(value === true ? "1" : String(value))}`],
  );
  return words.length === 0 ? path : `${path}?${words.join("&")}`;
}

/** `/api/` and the parts, each encoded. */
export function path(...parts: readonly string[]): string {
  return `/api/${parts.map(encoded).join("/")}`;
}

/** Where a session's chat, items, subagents and export are. */
export function transcriptPath(agent: string, id: string): string {
  return path("transcripts", agent, id);
}

/**
 * Asks for what is at `path`. An answer that is still what it was costs no body: the browser keeps it by its ETag.
 * @throws Refused, Unreachable; the signal's reason when that ended it
 */
export function read<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return ask<T>(withQuery(path, query), signal === undefined ? {} : { signal });
}

/** Changes something: `POST` with `body` as JSON. @throws Refused, Unreachable */
export function send<T>(path: string, body: object = {}): Promise<T> {
  return ask<T>(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** `DELETE`. @throws Refused, Unreachable */
export function remove<T>(path: string): Promise<T> {
  return ask<T>(path, { method: "DELETE" });
}

async function ask<T>(url: string, options: RequestInit): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, options);
    text = await response.text();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Unreachable();
  }
  const body = parsed(text);
  if (!response.ok) throw new Refused(response.status, errorIn(text, response.status));
  if (body === undefined) throw new Unreachable();
  return body as T;
}

/** The server's words in `text`, the body of a refusal with that status. */
export function errorIn(text: string, status: number): string {
  return errorOf(parsed(text)) ?? `the server answered ${status}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  return typeof body.error === "string" ? body.error : undefined;
}
