import { asArray, asNumber, asObject, asString, type JsonObject, parseJson } from "../../platform/read.ts";

/** What names a request, chosen by the one who asks. */
export type RequestId = string | number | null;

/** A message of JSON-RPC, as far as it can be made out. */
export type Message =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "answer"; readonly id: unknown; readonly result: unknown }
  | { readonly kind: "refusal"; readonly id: unknown; readonly error: unknown }
  /** No message; `why` says so in words without content. */
  | { readonly kind: "nothing"; readonly why: string };

/** The messages of one line: none on a blank one, several where they come as a batch. */
export function messagesOf(line: string): readonly Message[] {
  if (line.trim() === "") return [];
  let value: unknown;
  try {
    value = parseJson(line);
  } catch {
    return [{ kind: "nothing", why: "a line that is no JSON" }];
  }
  const batch = asArray(value);
  if (batch?.length === 0) return [{ kind: "nothing", why: "an empty batch" }];
  return (batch ?? [value]).map(messageOf);
}

function messageOf(value: unknown): Message {
  const fields = asObject(value);
  if (fields === undefined) return { kind: "nothing", why: "JSON that is no message" };
  const method = asString(fields.method);
  if (method !== undefined) return call(method, fields);
  if (fields.id === undefined) return { kind: "nothing", why: "JSON that is no message" };
  // Of an answer that has both, the error is believed: something went wrong.
  const { id, error, result } = fields;
  return error === undefined || error === null ? { kind: "answer", id, result } : { kind: "refusal", id, error };
}

function call(method: string, fields: JsonObject): Message {
  const params = asObject(fields.params) ?? {};
  if (fields.id === undefined) return { kind: "notification", method, params };
  const id = fields.id === null ? null : (asString(fields.id) ?? asNumber(fields.id));
  return id === undefined
    ? { kind: "nothing", why: "a request whose id is no id" }
    : { kind: "request", id, method, params };
}
