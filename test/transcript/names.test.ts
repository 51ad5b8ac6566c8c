import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { agentNameOf, requireSessionId, sessionIdOf } from "../../src/transcript/names.ts";

for (const id of ["a", "9", "ecfb3ea3-5cde-4bff-8a5b-95a4f9a0f0b1", "ses_abc12", "A-_-", "x".repeat(128)]) {
  test(`${id.slice(0, 40)} can be an id`, () => assert.equal(requireSessionId(id), id));
}

const IMPOSSIBLE = [
  "",
  "-a",
  "_a",
  ".",
  "..",
  "../a",
  "a/b",
  "a\\b",
  "/etc/passwd",
  "C:a",
  "a.jsonl",
  "a b",
  "a\n",
  "a\0",
  "%00",
  "é",
  "x".repeat(129),
];

for (const id of IMPOSSIBLE) {
  test(`${JSON.stringify(id.slice(0, 40))} can't be an id, so it is not found`, () => {
    assert.equal(sessionIdOf(id), undefined);
    assert.throws(
      () => requireSessionId(id),
      (error) => error instanceof Failure && error.kind === "not-found" && !error.message.includes(id || "\0"),
    );
  });
}

test("what is no text is no id", () => {
  for (const value of [undefined, null, 5, {}, ["a"]]) assert.equal(sessionIdOf(value), undefined);
});

test("agents are known by their exact names", () => {
  for (const name of ["claude", "codex", "opencode", "hermes", "daemon"]) assert.equal(agentNameOf(name), name);
  for (const name of ["Claude", "claude-code", "", "constructor", undefined, 3])
    assert.equal(agentNameOf(name), undefined);
});
