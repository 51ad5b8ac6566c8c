import assert from "node:assert/strict";
import { test } from "node:test";
import { openTurn } from "../../src/agents/open-turn.ts";

const ID = "sess_11aa22bb";

const isTurnOpen = (file: ReturnType<typeof fileOf>, id: string): boolean => openTurn(file, id) !== undefined;

function fileOf(...records: { readonly kind: string; readonly [field: string]: unknown }[]) {
  const lines = records.map(({ kind, ...fields }, i) =>
    JSON.stringify({ seq: i + 1, ts: "2026-02-03T10:00:00.000Z", kind, sessionId: ID, ...fields }),
  );
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  return {
    size: bytes.length,
    read: (target: Uint8Array, position: number) => bytes.copy(target, 0, position, position + target.length),
  };
}

test("a turn is open from its prompt to its end", () => {
  const prompt = { kind: "user-prompt", text: "go" };
  const end = { kind: "turn-end", reason: "completed" };
  assert.equal(isTurnOpen(fileOf(prompt), ID), true);
  assert.equal(isTurnOpen(fileOf(prompt, end), ID), false);
  assert.equal(isTurnOpen(fileOf(prompt, end, { kind: "usage_snapshot", source: "adapter" }), ID), false);
  assert.equal(isTurnOpen(fileOf(prompt, end, prompt, { kind: "text-delta", text: "x" }), ID), true);
  assert.equal(isTurnOpen(fileOf({ kind: "usage_snapshot", source: "adapter" }), ID), false);
});

test("a record that only quotes the end of a turn does not end it", () => {
  const quoted = `,"kind":"turn-end","sessionId":"${ID}"`;
  const prompt = { kind: "user-prompt", text: "go" };
  assert.equal(isTurnOpen(fileOf(prompt, { kind: "text-delta", text: quoted }), ID), true);
  const nested = { a: 1, kind: "turn-end", sessionId: ID };
  assert.equal(isTurnOpen(fileOf(prompt, { kind: "tool-call", arguments: nested }), ID), true);
});

test("a prompt is found however much was said since", () => {
  const said = Array.from({ length: 300 }, () => ({ kind: "text-delta", text: "x".repeat(10_000) }));
  assert.equal(isTurnOpen(fileOf({ kind: "user-prompt", text: "go" }, ...said), ID), true);
});

test("of an open turn it is told which questions and calls have no answer, and what was used last", () => {
  const call = (kind: string, toolCallId: string, more: object = {}) => ({ kind, toolCallId, ...more });
  const file = fileOf(
    { kind: "user-prompt", text: "before" },
    call("tool-call", "t0"),
    { kind: "turn-end", reason: "completed" },
    { kind: "usage_snapshot", model: "m", tokensIn: 7, contextSize: 100, contextUsed: 5, source: "adapter" },
    { kind: "user-prompt", text: "go" },
    call("tool-call", "t1", { toolName: "a", arguments: { text: `"toolCallId":"t9"` } }),
    call("tool-call", 't2\n"x"', { toolName: "b", arguments: {} }),
    call("tool-call", "t3", { toolName: "c", arguments: {} }),
    call("tool-result", "t1", { result: { kind: "turn-end", sessionId: ID }, isError: false }),
    call("tool-call", 't2\n"x"', { toolName: "", arguments: {}, isUpdate: true }),
    call("agent-prompt", "t3", { options: [] }),
    call("permission-resolved", "t3", { decision: "approve" }),
    call("agent-prompt", "t3", { options: [] }),
    call("agent-prompt", "q", { options: [] }),
    { kind: "usage_update", size: 200, used: 50, cost: 0.5 },
  );
  assert.deepEqual(openTurn(file, ID), {
    questions: ["t3", "q"],
    calls: ['t2\n"x"', "t3"],
    usage: { model: "m", costUsd: 0.5, tokensIn: 7, contextSize: 200, contextUsed: 50 },
  });
});

test("a record that was torn was not written: what it would have ended is open", () => {
  const whole = [
    { kind: "user-prompt", text: "go" },
    { kind: "tool-call", toolCallId: "t1", toolName: "a", arguments: {} },
    { kind: "tool-result", toolCallId: "t1", result: "long", isError: false },
  ];
  const calls = (cut: number): readonly string[] | undefined => {
    const file = fileOf(...whole);
    return openTurn({ ...file, size: file.size - cut }, ID)?.calls;
  };
  assert.deepEqual([calls(0), calls(1), calls(2), calls(20)], [[], [], ["t1"], ["t1"]]);
});
