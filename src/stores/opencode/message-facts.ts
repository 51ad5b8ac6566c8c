import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asNumber, asText } from "../../platform/read.ts";
import type { SqliteValue } from "../../sqlite/database.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { type ErrorFacts, errorFacts, tokensOf } from "./text.ts";

/** What matters of a v1 message besides its parts. */
export interface MessageFacts {
  readonly id: string;
  /** The row's creation. */
  readonly at: EpochMs;
  /** Undefined when the message can't be read, or is too large to be. */
  readonly role: "user" | "assistant" | undefined;
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

/**
 * SQL for the facts in a message's data, as a JSON array: only them, since the rest can be large. Null when the data is too
 * large or no JSON. The summary of a compaction is `true`; that of a user's message is an object.
 */
export function factsSql(data: string): string {
  const values = PATHS.map((path) => `json_extract(${data}, '${path}')`);
  const all = [...values, `json_type(${data}, '$.summary')`].join(", ");
  return `CASE WHEN octet_length(${data}) <= ${MOST_BYTES} AND json_valid(${data}) THEN json_array(${all}) END`;
}

/** The facts of a message from what `factsSql` gave for it. */
export function factsOf(id: string, created: SqliteValue | undefined, facts: SqliteValue | undefined): MessageFacts {
  const values: unknown = typeof facts === "string" ? JSON.parse(facts) : [];
  const [role, model, userModel, parent, tokens, cost, error, completed, finish, summary] = values as unknown[];
  return messageFacts(
    id,
    created,
    { role, model, userModel, parent, tokens, cost, error, completed, finish },
    summary === "true",
  );
}

/** The facts of a message whose data is at hand. */
export function messageFacts(
  id: string,
  created: unknown,
  data: { readonly [fact: string]: unknown },
  isSummary: boolean,
): MessageFacts {
  const { role, model, userModel, parent, tokens, cost, error, completed, finish } = data;
  return {
    id,
    at: epochMsOf(Number(created ?? 0)) ?? (0 as EpochMs),
    role: role === "user" || role === "assistant" ? role : undefined,
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
