import type { SessionEvent, UsageFigures } from "./event.ts";

const PER_TURN = ["tokensIn", "tokensOut", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/**
 * What a session has used so far, of what its agent states: the tokens of each turn summed up, as the records of usage are
 * cumulative; cost and context as last stated, which are cumulative already. What nobody stated stays absent.
 */
export class UsageTally {
  #figures: { -readonly [name in keyof UsageFigures]: UsageFigures[name] } = {};

  /** The agent told how full its context is, and what the session has cost. */
  told({ size, used, cost, model }: Extract<SessionEvent, { kind: "usage_update" }>): void {
    this.#figures.contextSize = size;
    this.#figures.contextUsed = used;
    if (cost !== undefined) this.#figures.costUsd = cost;
    if (model !== undefined) this.#figures.model = model;
  }

  /** A turn has ended, and the agent told what it used. */
  turn(usage: UsageFigures | undefined): void {
    if (usage === undefined) return;
    const { costUsd, model } = usage;
    for (const name of PER_TURN) {
      const count = usage[name];
      if (count !== undefined) this.#figures[name] = (this.#figures[name] ?? 0) + count;
    }
    if (costUsd !== undefined) this.#figures.costUsd = (this.#figures.costUsd ?? 0) + costUsd;
    if (model !== undefined) this.#figures.model = model;
  }

  /** The model that the session has, as far as the agent says. */
  model(name: string | undefined): void {
    if (name !== undefined) this.#figures.model = name;
  }

  /** All of it, as of now. */
  figures(): UsageFigures {
    return { ...this.#figures };
  }
}
