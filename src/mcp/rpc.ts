import { asArray, asObject, asString, type JsonObject, parseJson } from "../platform/read.ts";

/** What names a request, chosen by the one who asks. */
export type RequestId = string | number;

/** The error codes of JSON-RPC 2.0, and the one of MCP for a revision that is not spoken here. */
export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  busy: -32000,
  revision: -32022,
} as const;

/** A request that is refused by the protocol itself; what goes wrong inside a tool is the tool's answer instead. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** A message of JSON-RPC as it came in. */
export type Message =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  /** An answer: nothing is ever asked from here. */
  | { readonly kind: "answer" }
  /** No message: `error` says why, to whoever is named by `id`. */
  | { readonly kind: "nothing"; readonly id: RequestId | null; readonly error: RpcError };

/** What a line holds: a message, or the list of them that a batch is. */
export function readLine(line: string): Message | readonly Message[] {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return nothing(CODES.parse, "this line is no JSON: send one message a line, in UTF-8");
  }
  const batch = asArray(value);
  if (batch === undefined) return messageOf(value);
  return batch.length === 0 ? nothing(CODES.invalidRequest, "a batch can't be empty") : batch.map(messageOf);
}

function messageOf(value: unknown): Message {
  const fields = asObject(value);
  if (fields === undefined) return nothing(CODES.invalidRequest, "a message must be a JSON object");
  const id = idOf(fields.id);
  if (fields.jsonrpc !== "2.0") return nothing(CODES.invalidRequest, 'jsonrpc must be "2.0"', id);
  if (fields.method === undefined && ("result" in fields || "error" in fields)) return { kind: "answer" };
  const method = asString(fields.method);
  if (method === undefined) return nothing(CODES.invalidRequest, "method must be a text", id);
  const params = fields.params === undefined ? {} : asObject(fields.params);
  // A notification is never answered, whatever is wrong with it.
  if (!("id" in fields)) return { kind: "notification", method, params: params ?? {} };
  if (params === undefined) return nothing(CODES.invalidParams, "params must be an object", id);
  if (id === null) return nothing(CODES.invalidRequest, "id must be a text or a whole number below 2^53");
  return { kind: "request", id, method, params };
}

/** `value` as an id; one that can't be given back as it came is none. */
export function idOf(value: unknown): RequestId | null {
  return typeof value === "string" || Number.isSafeInteger(value) ? (value as RequestId) : null;
}

function nothing(code: number, message: string, id: RequestId | null = null): Message {
  return { kind: "nothing", id, error: new RpcError(code, message) };
}
