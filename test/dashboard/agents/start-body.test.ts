import assert from "node:assert/strict";
import { test } from "node:test";
import { type StartForm, startBody } from "../../../src/dashboard/app/agents/start-body.ts";

const FORM: StartForm = {
  kind: "agent",
  agent: "claude",
  cwd: " /work ",
  prompt: "",
  permit: "ask",
  model: "",
  name: "",
  line: "",
};

test("an agent is started with what was filled in, and no more", () => {
  assert.deepEqual(startBody(FORM), { body: { agent: "claude", permit: "ask", cwd: "/work" } });
  assert.deepEqual(
    startBody({ ...FORM, prompt: " do\nit ", model: " opus ", name: " n ", permit: "deny", line: "ls" }),
    {
      body: { agent: "claude", permit: "deny", cwd: "/work", name: "n", model: "opus", prompt: " do\nit " },
    },
  );
});

test("a program is started with the words of its line, and with nothing of an agent's", () => {
  assert.deepEqual(startBody({ ...FORM, kind: "terminal", line: "vi 'a b'", prompt: "x", model: "y" }), {
    body: { kind: "terminal", argv: ["vi", "a b"], cwd: "/work" },
  });
});

test("what is missing is said before anything is sent", () => {
  assert.deepEqual(startBody({ ...FORM, cwd: " " }), { error: "Give the folder that it is to work in." });
  assert.deepEqual(startBody({ ...FORM, agent: "" }), { error: "Choose an agent." });
  assert.deepEqual(startBody({ ...FORM, kind: "command" }), { error: "Give the command that it is to run." });
  assert.deepEqual(startBody({ ...FORM, kind: "command", line: "'a" }), { error: "The ' is not closed." });
});
