import { asCount, asObject, asText } from "../../platform/read.ts";
import type { Entry, Tokens } from "../../transcript/entry.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";

/** What an error of a message or of a step says. */
export interface ErrorFacts {
  readonly name: string;
  readonly message: string | undefined;
  readonly status: number | undefined;
}

/** The error in `{name, data: {message, statusCode?}}` (v1) or `{type, message}` (v2). */
export function errorFacts(value: unknown): ErrorFacts | undefined {
  const error = asObject(value);
  if (error === undefined) return undefined;
  const data = asObject(error.data);
  return {
    name: asText(error.name) ?? asText(error.type) ?? "error",
    message: asText(data?.message) ?? asText(error.message),
    status: asCount(data?.statusCode),
  };
}

/** An error that says that the person stopped the turn. */
export function isAbort({ name }: ErrorFacts): boolean {
  return /abort|interrupt|cancel/i.test(name);
}

/** The entry of an error of a whole message: an interruption when the person stopped it. */
export function errorEntry(error: ErrorFacts, base: Pick<Entry, "at" | "pos" | "id">): Entry {
  const { name, message, status } = error;
  if (isAbort(error)) return { ...base, kind: "marker", marker: "interrupted" };
  const head = status === undefined ? name : `${name} ${status}`;
  const summary = message === undefined ? head : `${head}: ${message}`;
  return { ...base, kind: "marker", marker: "error", summary, isError: true };
}

/** Whether a call's status says that it has not ended: `pending` (2.0: `streaming`) while its input is still written. */
export function isUnfinished(status: unknown): boolean {
  return status === "pending" || status === "streaming" || status === "running";
}

/** The tokens that `{input, output, reasoning, cache: {read, write}}` states; undefined when it states none. */
export function tokensOf(value: unknown): Tokens | undefined {
  const stated = asObject(value);
  if (stated === undefined) return undefined;
  const cache = asObject(stated.cache);
  const figures = {
    input: asCount(stated.input),
    output: asCount(stated.output),
    reasoning: asCount(stated.reasoning),
    cacheRead: asCount(cache?.read),
    cacheWrite: asCount(cache?.write),
  };
  const tokens = Object.fromEntries(Object.entries(figures).filter(([, count]) => count !== undefined));
  return Object.keys(tokens).length === 0 ? undefined : (tokens as Tokens);
}

/** Whether any figure is more than 0: a message has zeros until its step is done. */
export function anyTokens(tokens: Tokens): boolean {
  return Object.values(tokens).some((count) => count > 0);
}

/** The child that a task's output names: its newer form, and the block that older versions and plugins end it with. */
export function childInOutput(output: string): SessionId | undefined {
  const named =
    /<(?:task|subagent) id="([^"]+)"/.exec(output.slice(0, 2_000)) ??
    /session_id"?: "?(ses_[A-Za-z0-9_-]+)/.exec(output.slice(-4_000));
  return sessionIdOf(named?.[1]);
}
