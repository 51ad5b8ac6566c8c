import type { FileStamp } from "../platform/files.ts";

/** A JSON Schema, as OpenAPI 3.1 takes it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A query parameter of a route. Its reader makes the value, or throws a `bad-request` that names it. */
export interface QueryParameter<T = unknown> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** May stand more than once, at most so often; the reader then gets every text in order. `schema` is that of one. */
  readonly repeats?: { readonly most: number };
  /** Must stand. */
  readonly required?: true;
  read(texts: readonly string[]): T;
}

/** The query of a route: what is not named here is refused. */
export type QueryParameters = { readonly [name: string]: QueryParameter };

/** What the readers made of a query: an absent parameter is undefined. */
export type QueryOf<Q extends QueryParameters> = { readonly [K in keyof Q]: ReturnType<Q[K]["read"]> | undefined };

/** A request that has passed the guard. */
export interface RouteRequest<Q extends QueryParameters = QueryParameters> {
  /** The path's parameters, decoded once. */
  readonly params: { readonly [name: string]: string };
  readonly query: QueryOf<Q>;
  /** The path and query as they came, for keys of caches. */
  readonly target: string;
  readonly lastEventId: string | undefined;
  /** The value of a header (its name in lower case) that came exactly once. */
  header?(name: string): string | undefined;
  /** The request carried the key; for routes open to all, which may then say more. */
  readonly withKey?: true;
  /** This server's address as the client wrote it (`http://localhost:4777`), also through a tunnel. */
  readonly origin?: string;
  /** The parsed JSON body of a POST. */
  readonly body: unknown;
  /** Aborts when the client has gone or the server ends. */
  readonly signal: AbortSignal;
}

/** One server-sent event. */
export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  /** Sent as JSON; a text is sent as it stands. */
  readonly data: unknown;
}

/** Server-sent events as they stand on the wire (`formatEvent`), put together once for all clients that get the same. */
export interface SseBlock {
  readonly wire: Uint8Array;
}

/** What a JSON answer was made from; the ETag is a hash over it and the query. */
export interface Validity {
  /** Texts that went into the answer and stand in no file: generation, boot nonce, liveness. */
  readonly facts?: readonly string[];
  /**
   * The facts as they are now, cheaply: with it a conditional request is answered 304 without calling the handler while
   * they and the stamps are the same. Facts without it make the handler answer every time.
   */
  factsNow?(): readonly string[];
  readonly uses: readonly FileStamp[];
  readonly settled: boolean;
}

/** An answer that is read piece by piece while it is written, and never changes: a whole document. */
export interface DocumentAnswer {
  readonly kind: "document";
  /** Its content type. */
  readonly type: string;
  readonly headers: { readonly [name: string]: string };
  /** In bytes: exactly what `body` gives. */
  readonly size: number;
  /** What was given is not changed any more. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Called once, whatever becomes of the answer. */
  close(): Promise<void>;
}

/** What a handler answers. `respond` writes it. */
export type Answer =
  | {
      readonly kind: "json";
      readonly status?: 200 | 201 | 202;
      readonly body: unknown;
      readonly headers?: Record<string, string>;
      readonly validity?: Validity;
    }
  | DocumentAnswer
  | { readonly kind: "events"; readonly events: AsyncIterable<SseEvent | SseBlock> }
  | {
      readonly kind: "text";
      readonly type: string;
      /** Bytes are sent as they are; how they are encoded is said in `headers`. */
      readonly body: string | Uint8Array;
      readonly headers?: Record<string, string>;
      readonly status?: 200 | 302 | 403;
      readonly validity?: Validity;
    };

/** A route: the server checks the table at start-up and makes `openapi.json` from it. */
export interface Route<Q extends QueryParameters = QueryParameters> {
  readonly method: "GET" | "POST" | "DELETE";
  /** Exact and `:param` segments. */
  readonly pattern: string;
  readonly summary: string;
  readonly query: Q;
  /** The schema of the JSON body that a POST takes. */
  readonly body?: JsonSchema;
  /** The schema of a JSON answer or of an event's data. */
  readonly answer: JsonSchema;
  /** The status of that answer; 200 when absent. */
  readonly status?: 200 | 201 | 202;
  /** The content type of the answer, where it is not JSON. A stream's is `text/event-stream`. */
  readonly media?: string;
  /** Further content types that the answer may have instead, each with its schema. */
  readonly alternatives?: { readonly [media: string]: JsonSchema };
  /** Its answers can carry an ETag, so that `If-None-Match` can be answered 304. */
  readonly conditional?: true;
  /** What it answers besides that and errors in JSON, by status: a text of the content type `media`, or JSON of a `schema`. */
  readonly others?: {
    readonly [status: number]: { readonly description: string; readonly media?: string; readonly schema?: JsonSchema };
  };
  /** Errors that it may answer besides those of every route: their statuses, for the description of the API. */
  readonly refuses?: readonly number[];
  /** `key`: only with the dashboard cookie, as every route below `/api/`. `open`: without. */
  readonly access: "key" | "open";
  handle(request: RouteRequest<Q>): Promise<Answer>;
}

/** Keeps a route's query typed inside it and lets it stand in a table beside others. */
export function route<Q extends QueryParameters>(definition: Route<Q>): Route {
  return definition as unknown as Route;
}
