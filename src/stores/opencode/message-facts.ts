import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asArray, asNumber, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { SqliteValue } from "../../sqlite/database.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { type ErrorFacts, errorFacts, tokensOf } from "./text.ts";

/** What matters of a v1 message besides its parts. */
export interface MessageFacts {
  readonly id: string;
  /** The row's creation. */
  readonly at: EpochMs;
  /** Undefined when the message can't be read, or is too large to be; `other` is nobody's words. */
  readonly role: "user" | "assistant" | "other" | undefined;
  readonly model: string | undefined;
  /** An assistant's message that sums up what was compacted. */
  readonly isSummary: boolean;
  /** The user's message that an assistant's answers. */
  readonly parent: string | undefined;
  readonly tokens: Tokens | undefined;
  /** USD. */
  readonly cost: number | undefined;
  readonly error: ErrorFacts | undefined;
  readonly completed: EpochMs | undefined;
  /** Why the step ended: `stop`, `tool-calls`, … */
  readonly finish: string | undefined;
}

/** The paths that `factsOf` reads, in its order. */
const PATHS = [
  "$.role",
  "$.modelID",
  "$.model.modelID",
  "$.parentID",
  "$.tokens",
  "$.cost",
  "$.error",
  "$.time.completed",
  "$.finish",
] as const;

/** Bytes of a message's data that is read; the diffs in a user's message can make it hundreds of megabytes. */
const MOST_BYTES = 512 * 1024;

/** Data of at most so many bytes is quicker parsed whole than by paths. */
const SMALL_BYTES = 8 * 1024;

/**
 * SQL for the facts in a message's data: small data as it is, else a JSON array of the facts alone. Null when the data is too
 * large or no JSON. The summary of a compaction is `true`; that of a user's message is an object.
 */
export function factsSql(data: string): string {
  const values = PATHS.map((path) => `json_extract(${data}, '${path}')`);
  const all = [...values, `json_type(${data}, '$.summary')`].join(", ");
  return `CASE WHEN octet_length(${data}) <= ${SMALL_BYTES} THEN ${data}
               WHEN octet_length(${data}) <= ${MOST_BYTES} AND json_valid(${data}) THEN json_array(${all}) END`;
}

/** The facts of a message from what `factsSql` gave for it; undefined when it can't be read. */
export function factsOf(
  id: string,
  created: SqliteValue | undefined,
  facts: SqliteValue | undefined,
): MessageFacts | undefined {
  const value = parsedJson(facts);
  const values = asArray(value);
  if (values === undefined) {
    const data = asObject(value);
    return data && factsInData(id, created, data);
  }
  const [role, model, userModel, parent, tokens, cost, error, completed, finish, summary] = values;
  const picked = { role, model, userModel, parent, tokens, cost, error, completed, finish };
  return messageFacts(id, created, picked, summary === "true");
}

/** The facts of a message from the whole of its data. */
export function factsInData(id: string, created: unknown, data: JsonObject): MessageFacts {
  const { role, parentID: parent, tokens, cost, error, finish } = data;
  const picked = {
    role,
    model: data.modelID,
    userModel: asObject(data.model)?.modelID,
    parent,
    tokens,
    cost,
    error,
    completed: asObject(data.time)?.completed,
    finish,
  };
  return messageFacts(id, created, picked, data.summary === true);
}

/** The facts of a message that can't be read. */
export function unreadFacts(id: string, created: unknown): MessageFacts {
  return messageFacts(id, created, {}, false);
}

function parsedJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageFacts(
  id: string,
  created: unknown,
  data: { readonly [fact: string]: unknown },
  isSummary: boolean,
): MessageFacts {
  const { role, model, userModel, parent, tokens, cost, error, completed, finish } = data;
  return {
    id,
    at: epochMsOf(Number(created ?? 0)) ?? (0 as EpochMs),
    role: role === undefined || role === null ? undefined : role === "user" || role === "assistant" ? role : "other",
    model: asText(model) ?? asText(userModel),
    isSummary: isSummary && role === "assistant",
    parent: asText(parent),
    tokens: tokensOf(tokens),
    cost: asNumber(cost),
    error: errorFacts(error),
    completed: epochMsOf(completed),
    finish: asText(finish),
  };
}
