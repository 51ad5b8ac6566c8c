import assert from "node:assert/strict";
import { test } from "node:test";
import { isTurnOpen } from "../../src/agents/recover.ts";

const ID = "sess_11aa22bb";

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
