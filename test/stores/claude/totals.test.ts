import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { ClaudeChats } from "../../../src/stores/claude/chats.ts";
import type { ClaudePlace } from "../../../src/stores/claude/place.ts";
import { TotalsCounter } from "../../../src/stores/claude/totals.ts";
import type { Totals } from "../../../src/stores/store.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { answer, type ClaudeHome, claudeHome, type Line, prompt, sessionId } from "./claude-home.ts";

const id = sessionId(1);
const file = `${id}.jsonl`;
const usage = (input: unknown, output: unknown, cacheRead?: unknown, cacheWrite?: unknown) => ({
  input_tokens: input,
  output_tokens: output,
  ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
  ...(cacheWrite !== undefined && { cache_creation_input_tokens: cacheWrite }),
});

async function placeOf(home: ClaudeHome): Promise<ClaudePlace> {
  const ref = await home.store().find(id);
  assert.ok(ref);
  return ref.place as ClaudePlace;
}

async function totalsOf(home: ClaudeHome): Promise<Totals | undefined> {
  return new TotalsCounter().totals(await placeOf(home));
}

const cost = (usd: unknown, model: object, more: object = {}): Line => ({
  type: "cost-state",
  sessionId: id,
  totalCostUSD: usd,
  modelUsage: { m: model },
  ...more,
});

const TABLE: readonly (readonly [string, readonly Line[], Totals])[] = [
  ["no answer, no figure", [prompt("a")], { tokens: {} }],
  [
    "one response over several lines counts once, by the line with the largest output, whole",
    [answer("m1", usage(3, 1, 50, 10)), prompt("x"), answer("m1", usage(3, 120, 40, 9)), answer("m1", usage(9, 7))],
    { tokens: { input: 3, output: 120, cacheRead: 40, cacheWrite: 9 } },
  ],
  [
    "the later of two equal lines counts",
    [answer("m1", usage(1, 5)), answer("m1", usage(2, 5))],
    { tokens: { input: 2, output: 5 } },
  ],
  [
    "what the client made itself and API errors do not count",
    [
      answer("m1", usage(3, 4)),
      answer("m2", usage(5, 5), { message: { id: "m2", model: "<synthetic>", usage: usage(5, 5) } }),
      answer("m3", usage(5, 5), { isApiErrorMessage: true }),
    ],
    { tokens: { input: 3, output: 4 } },
  ],
  [
    "without a message id the request or the record tells responses apart",
    [
      answer("", usage(1, 1), { requestId: "r1" }),
      answer("", usage(1, 2), { requestId: "r1" }),
      answer("", usage(1, 4), { uuid: "u" }),
    ],
    { tokens: { input: 2, output: 6 } },
  ],
  [
    "figures may be texts, missing, null or absurd",
    [
      answer("m1", usage("3", null)),
      answer("m2", usage(-1, 2.9)),
      answer("m3", usage({}, 1e300)),
      answer("m4", undefined),
    ],
    { tokens: { input: 3, output: Number.MAX_SAFE_INTEGER } },
  ],
  [
    "abandoned branches and broken lines do not stop the count",
    [
      answer("m1", usage(1, 1)),
      '{"type":"assistant","message":{"usage":',
      answer("m2", usage(1, 1), { parentUuid: null }),
    ],
    { tokens: { input: 2, output: 2 } },
  ],
  [
    "a cost that is stated for what was counted is given, the last one",
    [
      cost(1, { inputTokens: 1 }),
      answer("m1", usage(3, 4, 5, 6)),
      cost(0.5, { inputTokens: 3, outputTokens: 40, cacheReadInputTokens: 5, cacheCreationInputTokens: 6 }),
    ],
    { tokens: { input: 3, output: 4, cacheRead: 5, cacheWrite: 6 }, costUsd: 0.5 },
  ],
  [
    "a cost that covers the last run alone is not given",
    [answer("m1", usage(30, 40)), cost(0.5, { inputTokens: 3, outputTokens: 4 })],
    { tokens: { input: 30, output: 40 } },
  ],
  [
    "a cost that other sessions of the process are in is not given",
    [answer("m1", usage(30, 40)), cost(9, { inputTokens: 300, outputTokens: 400_000 })],
    { tokens: { input: 30, output: 40 } },
  ],
  [
    "a cost of unknown prices is not given",
    [answer("m1", usage(3, 4)), cost(0.5, { inputTokens: 3, outputTokens: 4 }, { hasUnknownModelCost: true })],
    { tokens: { input: 3, output: 4 } },
  ],
  [
    "usage that a tool's result carries is not the session's",
    [prompt("x", { toolUseResult: { type: "assistant", usage: usage(9, 9) } })],
    { tokens: {} },
  ],
];

for (const [what, lines, totals] of TABLE) {
  test(`tokens: ${what}`, async (t) => {
    const home = claudeHome(t);
    home.write("p", file, lines);
    assert.deepEqual(await totalsOf(home), totals);
  });
}

test("tokens: every agent counts: nested, helpers, workflows, and old files beside the session that name it", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [answer("m1", usage(1, 1))]);
  const agents = [
    `${id}/subagents/agent-a1.jsonl`,
    `${id}/subagents/agent-acompact-1.jsonl`,
    `${id}/subagents/workflows/wf_1/agent-a2.jsonl`,
  ];
  for (const [n, name] of agents.entries()) home.write("p", name, [answer(`a${n}`, usage(10, 10))]);
  home.write("p", "agent-0a1b2c3d.jsonl", [answer("old", usage(100, 100), { sessionId: id })]);
  home.write("p", "agent-0a1b2c3e.jsonl", [answer("foreign", usage(1000, 1000), { sessionId: sessionId(2) })]);
  home.write("p", `${id}/subagents/workflows/wf_1/journal.jsonl`, [answer("j", usage(1000, 1000))]);
  assert.deepEqual(await totalsOf(home), { tokens: { input: 131, output: 131 } });
});

test("tokens: an agent's folder that is a link out of the store is not read", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [answer("m1", usage(1, 1))]);
  mkdirSync(join(home.home, "out", "subagents"), { recursive: true });
  writeFileSync(join(home.home, "out", "subagents", "agent-a1.jsonl"), `${JSON.stringify(answer("x", usage(9, 9)))}\n`);
  symlinkSync(join(home.home, "out"), join(home.projects, "p", id));
  assert.deepEqual(await totalsOf(home), { tokens: { input: 1, output: 1 } });
});

test("tokens: a count goes on where it stopped, and a half-written line waits for its end", async (t) => {
  const home = claudeHome(t);
  const path = home.write(
    "p",
    file,
    Array.from({ length: 500 }, (_, n) => answer(`m${n}`, usage(1, 1))),
  );
  const place = await placeOf(home);
  const counter = new TotalsCounter();
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 500, output: 500 });
  const before = counter.bytesRead;
  const line = JSON.stringify(answer("more", usage(1, 1)));
  writeFileSync(path, line.slice(0, 200), { flag: "a" });
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 500, output: 500 });
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 500, output: 500 });
  writeFileSync(path, `${line.slice(200)}\n`, { flag: "a" });
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 501, output: 501 });
  assert.equal(counter.bytesRead - before, line.length + 1);
});

test("tokens: a transcript that was replaced, cut or written anew is counted anew", async (t) => {
  const home = claudeHome(t);
  const path = home.write("p", file, [answer("m1", usage(100, 100)), answer("m2", usage(100, 100))]);
  const place = await placeOf(home);
  const counter = new TotalsCounter();
  await counter.totals(place);
  writeFileSync(path, `${JSON.stringify(answer("m3", usage(1, 1)))}\n`);
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 1, output: 1 });
  writeFileSync(path, `${JSON.stringify(prompt("x".repeat(1000)))}\n${JSON.stringify(answer("m4", usage(2, 2)))}\n`);
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 2, output: 2 });
  rmSync(path);
  home.write("p", file, [prompt("y".repeat(2000)), answer("m5", usage(3, 3))]);
  assert.deepEqual((await counter.totals(place))?.tokens, { input: 3, output: 3 });
});

test("tokens: a transcript that was written anew in place, as long as before and longer, is counted anew", async (t) => {
  const home = claudeHome(t);
  home.write("-a", file, [prompt("a"), answer("m1", usage(1, 10))]);
  const counter = new TotalsCounter();
  const place = await placeOf(home);
  assert.deepEqual(await counter.totals(place), { tokens: { input: 1, output: 10 } });
  home.write("-a", file, [prompt("b"), answer("m2", usage(2, 20)), answer("m3", usage(4, 40))]);
  assert.deepEqual(await counter.totals(place), { tokens: { input: 6, output: 60 } });
});

test("tokens: much is counted in the background, and is there when that is done", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [answer("m1", usage(1, 1)), prompt("x".repeat(3_000_000)), answer("m2", usage(1, 1))]);
  const place = await placeOf(home);
  const counter = new TotalsCounter();
  assert.equal(await counter.totals(place), undefined);
  await counter.idle();
  assert.deepEqual(await counter.totals(place), { tokens: { input: 2, output: 2 } });
});

test("tokens: a session that is gone has none", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [answer("m1", usage(1, 1))]);
  const store = home.store();
  const ref = await store.find(id);
  assert.ok(ref);
  rmSync(join(home.projects, "p"), { recursive: true });
  assert.deepEqual(await store.totals(ref), { tokens: {} });
});

test("tokens: a subagent's are its own and those of the agents that it started", async (t) => {
  const home = claudeHome(t);
  home.write("p", file, [answer("m1", usage(1, 1))]);
  for (const [n, [agent, parent]] of [["a1"], ["a2", "a1"], ["a3", "a2"], ["a4"]].entries()) {
    const sessionIds = { sessionId: id, agentId: agent };
    home.write("p", `${id}/subagents/agent-${agent}.jsonl`, [
      prompt("do", sessionIds),
      answer(`a${n}`, usage(10 ** n, 5), sessionIds),
    ]);
    home.write("p", `${id}/subagents/agent-${agent}.meta.json`, [{ ...(parent && { parentAgentId: parent }) }]);
  }
  const store = home.store({ chats: (isLive) => new ClaudeChats({ clock: systemClock, isLive }) });
  const ref = await store.find(id);
  assert.ok(ref);
  for (const [agent, input] of [
    ["a1", 111],
    ["a2", 110],
    ["a4", 1000],
  ] as const) {
    const child = await store.child(ref, agent as SessionId);
    assert.ok(child, agent);
    assert.equal((await store.totals(child))?.tokens.input, input, agent);
  }
  assert.equal((await store.totals(ref))?.tokens.input, 1112);
});
