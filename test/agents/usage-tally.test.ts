import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageTally } from "../../src/agents/usage-tally.ts";

test("what nobody stated is absent", () => {
  assert.deepEqual(new UsageTally().figures(), {});
});

test("the tokens of turns add up, and each figure alone", () => {
  const tally = new UsageTally();
  tally.turn({ tokensIn: 100, tokensOut: 7 });
  tally.turn(undefined);
  tally.turn({ tokensIn: 50, reasoningTokens: 3 });
  assert.deepEqual(tally.figures(), { tokensIn: 150, tokensOut: 7, reasoningTokens: 3 });
});

test("cost and context are as they were last stated, also a context that is fuller than its window", () => {
  const tally = new UsageTally();
  tally.told({ kind: "usage_update", size: 1000, used: 400, cost: 0.5, model: "m" });
  tally.told({ kind: "usage_update", size: 1000, used: 1200 });
  assert.deepEqual(tally.figures(), { contextSize: 1000, contextUsed: 1200, costUsd: 0.5, model: "m" });
});
