import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { agentEvent, childMeta, found, Home, line, linesOf, meta, NINE, started, userEvent, uuid } from "./home.ts";

const ID = uuid(NINE);
const usage = (input: number, output: number): object => ({
  input_tokens: input,
  cached_input_tokens: 0,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
});
const count = (ms: number, total: [number, number], last: [number, number]): object =>
  line(ms, "event_msg", {
    type: "token_count",
    info: { total_token_usage: usage(...total), last_token_usage: usage(...last) },
  });
const record = (ms: number, response: string, used: [number, number], thread = ID): object =>
  line(ms, "token_usage_record", { thread_id: thread, response_id: response, usage: usage(...used) });

async function totals(home: Home, id = ID): Promise<unknown> {
  const store = home.store();
  return (await store.totals(await found(store, id)))?.tokens;
}

const COUNTED: readonly [string, readonly object[], [number, number] | undefined][] = [
  [
    "totals that are repeated",
    [count(1, [10, 1], [10, 1]), count(2, [10, 1], [10, 1]), count(3, [30, 3], [20, 2])],
    [30, 3],
  ],
  ["totals that go on from another thread's", [count(1, [110, 11], [10, 1]), count(2, [130, 13], [20, 2])], [30, 3]],
  [
    "totals that fall when turns are taken back",
    [count(1, [10, 1], [10, 1]), count(2, [30, 3], [20, 2]), count(3, [25, 2], [15, 1])],
    [45, 4],
  ],
  [
    "an estimate after a compaction",
    [
      count(1, [10, 1], [10, 1]),
      line(2, "event_msg", {
        type: "token_count",
        info: { total_token_usage: usage(10, 1), last_token_usage: { total_tokens: 900 } },
      }),
    ],
    [10, 1],
  ],
  [
    "a count without figures",
    [line(1, "event_msg", { type: "token_count", info: null }), count(2, [10, 1], [10, 1])],
    [10, 1],
  ],
  [
    "records, each response once, beside totals",
    [
      record(1, "a", [10, 1]),
      count(2, [10, 1], [10, 1]),
      record(3, "a", [10, 1]),
      record(4, "b", [20, 2]),
      count(5, [30, 3], [20, 2]),
    ],
    [30, 3],
  ],
  ["another thread's records", [record(1, "a", [10, 1]), record(2, "b", [99, 9], uuid(1))], [10, 1]],
  [
    "totals first and records from an upgrade on",
    [count(1, [10, 1], [10, 1]), record(2, "a", [20, 2]), count(3, [30, 3], [20, 2])],
    [30, 3],
  ],
  ["no figures at all", [], undefined],
];

for (const [what, records, expected] of COUNTED) {
  test(`tokens are counted once: ${what}`, async (t) => {
    const home = new Home(t);
    home.rollout(ID, [meta(ID), userEvent(0, "hi"), ...records]);
    const tokens = expected && { input: expected[0], output: expected[1], cacheRead: 0, reasoning: 0 };
    assert.deepEqual(await totals(home), tokens ?? {});
  });
}

test("what a fork or a child copied was spent elsewhere, and a session's totals hold its children's", async (t) => {
  const home = new Home(t);
  const child = uuid(NINE + 1000);
  const review = uuid(NINE + 2000);
  home.rollout(ID, [meta(ID), userEvent(0, "hi"), count(1, [10, 1], [10, 1])]);
  home.rollout(child, [
    childMeta(child, ID, { forked_from_id: ID }, 1000),
    meta(ID),
    started(1000, uuid(NINE + 1)),
    count(1000, [10, 1], [10, 1]),
    started(1001, uuid(NINE + 1001)),
    count(1002, [15, 3], [5, 2]),
  ]);
  home.rollout(review, [
    meta(review, { source: { subagent: "review" }, parent_thread_id: ID }, 2000),
    userEvent(2001, "review"),
    count(2002, [100, 7], [100, 7]),
  ]);
  assert.deepEqual(await totals(home, child), { input: 5, output: 2, cacheRead: 0, reasoning: 0 });
  assert.deepEqual(await totals(home), { input: 115, output: 10, cacheRead: 0, reasoning: 0 });
});

test("tokens of a dead segment were spent too", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID, { history_mode: "paginated" }), record(1, "a", [10, 1])]);
  home.rollout(ID, [meta(ID, { history_mode: "paginated" }), record(2, "b", [20, 2])], {
    segment: uuid(NINE + 1),
    time: "09-00-01",
  });
  assert.deepEqual(await totals(home), { input: 30, output: 3, cacheRead: 0, reasoning: 0 });
});

test("a large session is counted in the background, and only what is new when it grows", async (t) => {
  const home = new Home(t);
  const filler = Array.from({ length: 12 }, (_, n) => agentEvent(n + 2, "x".repeat(400_000)));
  const path = home.rollout(ID, [meta(ID), userEvent(0, "hi"), count(1, [10, 1], [10, 1]), ...filler]);
  const store = home.store();
  const ref = await found(store, ID);
  assert.equal(await store.totals(ref), undefined);
  let tokens = await store.totals(ref);
  while (tokens === undefined) {
    await new Promise(setImmediate);
    tokens = await store.totals(ref);
  }
  assert.equal(tokens.tokens.input, 10);
  appendFileSync(path, linesOf([count(100, [30, 3], [20, 2])]));
  assert.equal((await store.totals(ref))?.tokens.input, 30);
});
