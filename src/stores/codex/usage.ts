import { asCount, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Tokens } from "../../transcript/entry.ts";

/** Token counts as Codex has them: `input` holds `cached` and `cacheWrite`, `output` holds `reasoning`. */
export interface RawUsage {
  readonly input: number;
  readonly cached: number;
  /** Stated since about 0.14x. */
  readonly cacheWrite?: number;
  readonly output: number;
  readonly reasoning: number;
  readonly total: number;
}

/** No tokens at all. */
export const NO_USAGE: RawUsage = { input: 0, cached: 0, output: 0, reasoning: 0, total: 0 };

/** Reads a usage object (`total_token_usage`, `last_token_usage`, `usage`, …). */
export function rawUsageOf(value: unknown): RawUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const input = asCount(usage.input_tokens) ?? 0;
  const output = asCount(usage.output_tokens) ?? 0;
  const cacheWrite = asCount(usage.cache_write_input_tokens);
  return {
    input,
    cached: asCount(usage.cached_input_tokens) ?? 0,
    ...(cacheWrite !== undefined && { cacheWrite }),
    output,
    reasoning: asCount(usage.reasoning_output_tokens) ?? 0,
    total: asCount(usage.total_tokens) ?? input + output,
  };
}

/** Every figure of `a` plus (or with a sign of -1 minus) that of `b`, never below 0. */
export function addUsage(a: RawUsage, b: RawUsage, sign: 1 | -1 = 1): RawUsage {
  const sum = (key: keyof RawUsage): number => Math.max(0, (a[key] ?? 0) + sign * (b[key] ?? 0));
  const stated = a.cacheWrite !== undefined || b.cacheWrite !== undefined;
  return {
    input: sum("input"),
    cached: sum("cached"),
    ...(stated && { cacheWrite: sum("cacheWrite") }),
    output: sum("output"),
    reasoning: sum("reasoning"),
    total: sum("total"),
  };
}

/** The same counts in the words of all stores, none counted twice. */
export function tokensOf(usage: RawUsage): Tokens {
  return {
    input: Math.max(0, usage.input - usage.cached - (usage.cacheWrite ?? 0)),
    output: Math.max(0, usage.output - usage.reasoning),
    cacheRead: usage.cached,
    ...(usage.cacheWrite !== undefined && { cacheWrite: usage.cacheWrite }),
    reasoning: usage.reasoning,
  };
}

/** Tokens of one response, with what tells it from others. */
export interface ResponseUsage {
  readonly key: string;
  readonly usage: RawUsage;
}

/**
 * The response that a `token_count` or a `token_usage_record` (0.156 and newer) tells of. Both say the thread's running
 * total behind the response, and say the same, so that total is the key: a count that is repeated, or told by both,
 * is one response.
 */
export function responseUsage(type: unknown, payload: JsonObject): ResponseUsage | undefined {
  const info = asObject(payload.info);
  const record = type === "token_usage_record";
  const usage = rawUsageOf(record ? payload.usage : info?.last_token_usage);
  const total = rawUsageOf(record ? payload.thread_token_usage : info?.total_token_usage);
  if (usage === undefined) return undefined;
  const key = total === undefined ? (asText(payload.response_id) ?? "") : `t${total.total}`;
  return { key, usage };
}
