import { asCount, asNumber, asObject, asText } from "../../platform/read.ts";
import type { Tokens } from "../../transcript/entry.ts";
import type { RecordedEvent } from "./record.ts";

/** Figures of a session up to a record: they are cumulative. What the record does not give is absent. */
export interface Figures {
  readonly tokens: Tokens;
  readonly costUsd?: number;
  readonly model?: string;
}

const COUNTS = [
  ["input", "tokensIn"],
  ["output", "tokensOut"],
  ["cacheRead", "cacheReadTokens"],
  ["cacheWrite", "cacheWriteTokens"],
  ["reasoning", "reasoningTokens"],
] as const;

/** The figures that a `usage_snapshot` or a `usage_update` gives; undefined for a record that gives none. */
export function figuresOf({ kind, fields }: RecordedEvent): Figures | undefined {
  if (kind !== "usage_snapshot" && kind !== "usage_update") return undefined;
  const tokens: { -readonly [name in keyof Tokens]: number } = {};
  for (const [name, field] of COUNTS) {
    const count = asCount(fields[field]);
    if (count !== undefined) tokens[name] = count;
  }
  const costUsd = costOf(fields.costUsd) ?? costOf(fields.cost);
  const model = asText(fields.model);
  if (Object.keys(tokens).length === 0 && costUsd === undefined) return undefined;
  return { tokens, ...(costUsd !== undefined && { costUsd }), ...(model !== undefined && { model }) };
}

/** A cost in US dollars, plain or as ACP states it; undefined in another currency. */
function costOf(value: unknown): number | undefined {
  const stated = asObject(value);
  const amount = asNumber(stated === undefined ? value : stated.amount);
  const dollars = stated === undefined || stated.currency === undefined || stated.currency === "USD";
  return dollars && amount !== undefined && amount >= 0 ? amount : undefined;
}
