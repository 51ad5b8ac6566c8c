import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionAnswer } from "../../../src/agents/acp/connection.ts";
import { startFakeAgent } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";

/** A permission handler that is answered by the test. */
class Asked {
  readonly signals: AbortSignal[] = [];
  readonly answers: ((answer: PermissionAnswer) => void)[] = [];

  readonly permission = (_request: unknown, signal: AbortSignal): Promise<PermissionAnswer> => {
    this.signals.push(signal);
    return new Promise((resolve) => this.answers.push(resolve));
  };
}

test("a question is put with its call and options, and the agent acts on the answer", async () => {
  await using agent = startFakeAgent([], { permission: () => Promise.resolve({ optionId: "always" }) });
  const connection = await agent.open();
  await connection.prompt('ask t1 {"toolCall":{"toolCallId":"t1","title":"rm -r x","rawInput":{"command":"rm"}}}');
  assert.deepEqual(agent.heard.questions, [
    {
      toolCallId: "t1",
      title: "rm -r x",
      input: '{"command":"rm"}',
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "always", name: "Always allow", kind: "allow_always" },
        { optionId: "reject", name: "Reject", kind: "reject_once" },
      ],
    },
  ]);
  assert.deepEqual(agent.heard.events, [
    { kind: "tool-call", toolCallId: "t1", toolName: "rm -r x", arguments: { command: "rm" } },
    { kind: "text-delta", text: "t1: always" },
    { kind: "tool-result", toolCallId: "t1", result: "always", isError: false },
  ]);
});

test("what the question says of a known call changes that call", async () => {
  await using agent = startFakeAgent([], { permission: () => Promise.resolve({ optionId: "reject" }) });
  const connection = await agent.open();
  await connection.prompt('call t1 {"title":"Terminal"}\nask t1');
  assert.deepEqual(agent.heard.events.slice(0, 2), [
    { kind: "tool-call", toolCallId: "t1", toolName: "Terminal", arguments: {} },
    { kind: "tool-call", toolCallId: "t1", toolName: "t1", arguments: {}, isUpdate: true },
  ]);
  assert.deepEqual(agent.heard.events.at(-1), {
    kind: "tool-result",
    toolCallId: "t1",
    result: "reject",
    isError: true,
  });
});

test("a question blocks none of the updates behind it", async () => {
  const asked = new Asked();
  await using agent = startFakeAgent([], asked);
  const connection = await agent.open();
  const first = connection.prompt("ask t1");
  await until(() => asked.answers.length === 1);
  await connection.prompt("say meanwhile");
  assert.equal(agent.heard.text, "meanwhile");
  asked.answers[0]?.({ optionId: "allow" });
  await first;
  assert.equal(agent.heard.text, "meanwhilet1: allow");
});

test("cancelling answers every open question as cancelled, whoever was asked", async () => {
  const asked = new Asked();
  await using agent = startFakeAgent(["ignore-cancel", "log sent"], asked);
  const connection = await agent.open();
  const end = connection.prompt("ask t1");
  await until(() => asked.signals.length === 1);
  connection.cancel();
  assert.deepEqual(await end, { stopReason: "cancelled" });
  assert.equal(asked.signals[0]?.aborted, true);
  assert.deepEqual(
    agent
      .wasSent("sent")
      .slice(-2)
      .map((message) => message.method ?? message.result),
    ["session/cancel", { outcome: { outcome: "cancelled" } }],
  );
});

test("a question asked while the cancelled turn ends is answered cancelled at once", async () => {
  const asked = new Asked();
  await using agent = startFakeAgent(["ignore-cancel"], asked);
  const connection = await agent.open();
  const end = connection.prompt("say begun\nuntil-cancel\nask t1");
  await until(() => agent.heard.text === "begun");
  connection.cancel();
  assert.deepEqual(await end, { stopReason: "cancelled" });
  assert.equal(asked.signals.length, 0);
  // The next turn asks again.
  const next = connection.prompt("ask t2");
  await until(() => asked.answers.length === 1);
  asked.answers[0]?.({ optionId: "allow" });
  assert.deepEqual(await next, { stopReason: "end_turn" });
});

test("nobody is asked any more when the agent is gone", async () => {
  const asked = new Asked();
  await using agent = startFakeAgent([], asked);
  const connection = await agent.open();
  const failure = assert.rejects(connection.prompt("ask t1"));
  await until(() => asked.signals.length === 1);
  agent.child.kill("SIGKILL");
  await failure;
  await until(() => asked.signals[0]?.aborted === true);
});

test("a question without an option that can be chosen is answered cancelled", async () => {
  for (const options of ["[]", '[{"name":"no id"},7,null]', '"none"']) {
    await using agent = startFakeAgent();
    const connection = await agent.open();
    assert.deepEqual(await connection.prompt(`ask t1 {"options":${options}}`), { stopReason: "cancelled" });
    assert.deepEqual(agent.heard.questions, []);
  }
});

test("a question whose name nobody could give back is answered cancelled; a long or odd one is asked", async () => {
  await using agent = startFakeAgent([], { permission: () => Promise.resolve({ optionId: "a" }) });
  const connection = await agent.open();
  for (const [toolCallId, isAsked] of [
    ["x".repeat(2_000), true],
    ["a\u0007b\nc", true],
    ["x".repeat(70_000), false],
    ["\ud800", false],
  ] as const) {
    const before = agent.heard.questions.length;
    await connection.prompt(`ask t1 ${JSON.stringify({ options: [{ optionId: "a" }], toolCall: { toolCallId } })}`);
    const asked = agent.heard.questions.slice(before).map((question) => question.toolCallId);
    assert.deepEqual(asked, isAsked ? [toolCallId] : []);
  }
});

test("options and calls with fields missing are read as far as they go", async () => {
  await using agent = startFakeAgent([], { permission: () => Promise.resolve({ optionId: "a" }) });
  const connection = await agent.open();
  await connection.prompt('ask t1 {"options":[{"optionId":"a"},{"optionId":7}],"toolCall":{}}');
  const [question] = agent.heard.questions;
  assert.deepEqual(question, { toolCallId: "permission-1", options: [{ optionId: "a", name: "a", kind: "" }] });
});

test("a question that the agent takes back is over", async () => {
  const asked = new Asked();
  await using agent = startFakeAgent([], asked);
  const connection = await agent.open();
  const end = connection.prompt("ask t1");
  await until(() => asked.signals.length === 1);
  await connection.prompt('notify $/cancel_request {"requestId":1}');
  await end;
  assert.equal(asked.signals[0]?.aborted, true);
  assert.equal(agent.heard.text, "ask: error -32800 Request cancelled");
});

test("$/cancel_request of what was never asked is tolerated", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt('notify $/cancel_request {"requestId":{}}\nnotify $/cancel_request\nsay on');
  assert.equal(agent.heard.text, "on");
});

test("a handler that fails answers the agent, and is told", async () => {
  await using agent = startFakeAgent([], { permission: () => Promise.reject(new Error("a secret")) });
  const connection = await agent.open();
  await connection.prompt("ask t1");
  assert.equal(agent.heard.text, "ask: error -32603 Internal error");
  assert.deepEqual(agent.heard.notes, ["a request that could not be answered"]);
});
