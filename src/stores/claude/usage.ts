import { asCount, asNumber, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Tokens } from "../../transcript/entry.ts";
import type { Totals } from "../store.ts";

/** The four figures of an answer's `usage`; what `iterations` and `cache_creation` hold is part of them. */
type Figures = { [figure in "input" | "output" | "cacheRead" | "cacheWrite"]?: number };

const FIGURES = ["input", "output", "cacheRead", "cacheWrite"] as const;

/** What one assistant line says of a response. */
export interface UsageLine {
  /** The response: several lines with one key are one. */
  readonly key: string;
  readonly tokens: Figures;
}

/** What a `cost-state` line states: the process's totals, with calls that no transcript holds. */
export interface StatedCost {
  readonly usd: number;
  readonly tokens: Figures;
}

/** The usage of an assistant record; undefined for what the client made itself, API errors and every other record. */
export function usageOf(record: JsonObject): UsageLine | undefined {
  const message = asObject(record.message);
  const usage = asObject(message?.usage);
  if (record.type !== "assistant" || message === undefined || usage === undefined) return undefined;
  if (message.model === "<synthetic>" || record.isApiErrorMessage === true) return undefined;
  const key = asText(message.id) ?? asText(record.requestId) ?? asText(record.uuid);
  const tokens = figures({
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
  });
  return key === undefined ? undefined : { key, tokens };
}

/** What a `cost-state` record states; undefined for every other record and where a model's price was not known to it. */
export function statedCostOf(record: JsonObject): StatedCost | undefined {
  const usd = asNumber(record.totalCostUSD);
  if (record.type !== "cost-state" || usd === undefined || usd < 0 || record.hasUnknownModelCost === true) {
    return undefined;
  }
  const tokens: Figures = {};
  for (const model of Object.values(asObject(record.modelUsage) ?? {}).map(asObject)) {
    add(
      tokens,
      figures({
        input: model?.inputTokens,
        output: model?.outputTokens,
        cacheRead: model?.cacheReadInputTokens,
        cacheWrite: model?.cacheCreationInputTokens,
      }),
    );
  }
  return { usd, tokens };
}

/**
 * The totals of a session and its agents: for each response the one line with the largest output (later ones win ties),
 * whole, since streaming writes earlier counts of the same response and a retried one may differ in every figure.
 */
export class UsageSum {
  readonly #responses = new Map<string, Figures>();
  #cost: StatedCost | undefined;

  /** How many responses are held. */
  get responses(): number {
    return this.#responses.size;
  }

  add(line: UsageLine): void {
    const held = this.#responses.get(line.key);
    if (held === undefined || (line.tokens.output ?? 0) >= (held.output ?? 0))
      this.#responses.set(line.key, line.tokens);
  }

  /** The last line that states a cost counts. */
  state(cost: StatedCost | undefined): void {
    this.#cost = cost;
  }

  totals(): Totals {
    const tokens: Figures = {};
    for (const response of this.#responses.values()) add(tokens, response);
    const cost = this.#cost !== undefined && covers(this.#cost.tokens, tokens) ? this.#cost.usd : undefined;
    return { tokens: tokens satisfies Tokens, ...(cost !== undefined && { costUsd: cost }) };
  }
}

/** Answers that are in no transcript (titles, compaction) make what is stated larger than what is counted by no more. */
const UNSEEN_OUTPUT = 10_000;

/**
 * Whether a stated cost is this session's: a process that was killed and resumed states less than the transcript holds
 * (only its last run), one that went on to other sessions (`/clear`) much more.
 */
function covers(stated: Figures, counted: Figures): boolean {
  if ((stated.output ?? 0) > 2 * (counted.output ?? 0) + UNSEEN_OUTPUT) return false;
  return FIGURES.every((figure) => (stated[figure] ?? 0) >= (counted[figure] ?? 0));
}

function figures(given: { readonly [figure in keyof Figures]: unknown }): Figures {
  const read: Figures = {};
  for (const figure of FIGURES) {
    const count = asCount(given[figure]);
    if (count !== undefined) read[figure] = count;
  }
  return read;
}

function add(sum: Figures, more: Figures): void {
  for (const figure of FIGURES) {
    const count = more[figure];
    if (count !== undefined) sum[figure] = Math.min((sum[figure] ?? 0) + count, Number.MAX_SAFE_INTEGER);
  }
}
