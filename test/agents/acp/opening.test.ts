import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpOpening } from "../../../src/agents/acp/connection.ts";
import { openAcp } from "../../../src/agents/acp/open.ts";
import { Failure } from "../../../src/platform/failure.ts";
import { startFakeAgent } from "../../support/fake-agent.ts";
import { FakeTime } from "../../support/fake-time.ts";
import { until } from "../../support/until.ts";

/** How an agent with these settings fails to come up. */
async function failureOf(settings: readonly string[], opening: Partial<AcpOpening> = {}): Promise<Failure> {
  await using agent = startFakeAgent(settings);
  const outcome = await agent.open(opening).catch((error: unknown) => error);
  assert.ok(outcome instanceof Failure, `it came up with ${settings.join(", ")}`);
  return outcome;
}

test("an agent says what it is", async () => {
  await using agent = startFakeAgent(["name Fake \u001b[31mOne", "load", "models a,b"]);
  const connection = await agent.open();
  assert.deepEqual(connection.agent, { name: "Fake One", version: "0.0.1", resumes: true });
  assert.match(connection.sessionId, /^fake-[0-9a-f]{8}$/);
  assert.equal(connection.model, "a");
});

test("an agent that can't go on with sessions says so", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open({ resume: "old" });
  assert.equal(connection.agent.resumes, false);
  assert.notEqual(connection.sessionId, "old");
});

test("an agent that speaks another version is refused", async () => {
  const failure = await failureOf(["version 2"]);
  assert.equal(failure.kind, "failed");
  assert.equal(failure.message, "the agent speaks ACP version 2, and agent-bridge version 1: update the older of them");
  assert.match((await failureOf(['version {"a":1}'])).message, /version of an unknown form/);
});

test("an agent that gives its version as text is taken", async () => {
  await using agent = startFakeAgent(['version "1"']);
  await agent.open();
});

test("an agent that wants a login says how", async () => {
  const failure = await failureOf(["auth-required"]);
  assert.equal(
    failure.message,
    "the agent wants you to log in first (Authentication required); its ways: Log in (Run `fake login` in a terminal); API key",
  );
  assert.equal((await failureOf(["auth-required", "load", "resume"], { resume: "old" })).message, failure.message);
});

test("an agent's refusal reaches the user as one printable line", async () => {
  const words = `"\\u001b[2Jno\\r\\nway\\u0007 ${"x".repeat(1000)}"`;
  for (const settings of [[`refuse-initialize ${words}`], [`refuse-new ${words}`]]) {
    const { message } = await failureOf(settings);
    assert.match(message, /^the agent answered: no way x+…$/);
    assert.equal(message.length, "the agent answered: ".length + 300);
  }
});

test("an agent that ends at once fails whoever waits for it", async () => {
  assert.equal((await failureOf(["exit 3"])).message, "the agent has ended");
});

test("an agent that never answers is waited for as long as patience lasts", async () => {
  for (const [setting, method, opening] of [
    ["silent-initialize", "initialize", {}],
    ["silent-new", "session/new", {}],
    ["silent-load", "session/load", { resume: "old" }],
    ["silent-model", "session/set_config_option", { model: "b" }],
  ] as const) {
    await using agent = startFakeAgent([setting, "load", "models a,b", "log sent"]);
    const time = new FakeTime();
    const whole = { cwd: agent.cwd, version: "0", patienceMs: 30_000, ...opening };
    const opened = openAcp(agent.streams, agent.heard, whole, { timer: time });
    const failure = assert.rejects(opened, {
      kind: "failed",
      message: `the agent did not answer ${method} within 30 s`,
    });
    await until(() => agent.wasSent("sent").some((message) => message.method === method));
    time.pass(30_000);
    await failure;
    assert.equal(time.pending, 0);
  }
});

test("a banner on the agent's output is passed over", async () => {
  await using agent = startFakeAgent(["banner Welcome!"]);
  await agent.open();
  assert.deepEqual(agent.heard.notes, ["a line that is no JSON"]);
});

test("a session is gone on with at once where the agent can, and its prompts are known", async () => {
  for (const way of ["resume", "load"]) {
    await using first = startFakeAgent(["session s-1", "store ./store", way]);
    const before = await first.open();
    await before.prompt("say one");
    await using second = startFakeAgent([`store ${first.cwd}/store`, way, "replay again"]);
    const connection = await second.open({ resume: "s-1" });
    assert.equal(connection.sessionId, "s-1");
    await connection.prompt("recall");
    assert.equal(second.heard.text, '["say one"]');
  }
});

test("session/resume goes before session/load", async () => {
  await using agent = startFakeAgent(["load", "resume", "log sent"]);
  await agent.open({ resume: "old" });
  assert.deepEqual(
    agent.wasSent("sent").map((message) => message.method),
    ["initialize", "session/resume"],
  );
});

test("what a loaded session replays is not given out, however late it comes", async () => {
  await using agent = startFakeAgent(["load", "replay old answer", "late-replay late answer"]);
  const connection = await agent.open({ resume: "old" });
  await connection.prompt("say new");
  assert.deepEqual(agent.heard.events, [{ kind: "text-delta", text: "new" }]);
});

test("a new session begins where the agent knows the old one no more", async () => {
  await using agent = startFakeAgent(["session fresh", "load", "resume", "store ./store"]);
  const connection = await agent.open({ resume: "gone" });
  assert.equal(connection.sessionId, "fresh");
  await connection.prompt("say hello");
  assert.equal(agent.heard.text, "hello");
});

test("the model that is asked for is set, by its id or its name in any case", async () => {
  for (const setting of ["models", "old-models"]) {
    await using agent = startFakeAgent([`${setting} sonnet,opus`]);
    const connection = await agent.open({ model: "OPUS" });
    assert.equal(connection.model, "opus");
    await connection.prompt("model");
    assert.equal(agent.heard.text, "opus");
  }
});

test("a model that the session has already is not set again", async () => {
  await using agent = startFakeAgent(["models a,b", "silent-model"]);
  assert.equal((await agent.open({ model: "a" })).model, "a");
});

test("a model that the agent does not offer fails with those that it does", async () => {
  for (const setting of ["models", "old-models"]) {
    const failure = await failureOf([`${setting} sonnet,opus`], { model: "gpt\u001b" });
    assert.equal(failure.kind, "bad-request");
    assert.equal(failure.message, 'the agent offers no model "gpt"; it offers sonnet, opus');
  }
  assert.match((await failureOf([], { model: "x" })).message, /lets nobody choose a model/);
});

test("a model that the agent changes is known", async () => {
  await using agent = startFakeAgent(["models a,b"]);
  const connection = await agent.open();
  const option = {
    id: "m",
    category: "model",
    type: "select",
    currentValue: "b",
    options: [{ value: "b", name: "B" }],
  };
  await connection.prompt(
    `update ${JSON.stringify({ sessionUpdate: "config_option_update", configOptions: [option] })}`,
  );
  assert.equal(connection.model, "b");
  assert.deepEqual(agent.heard.events, []);
});

test("an agent that is to ask is put into a mode in which it does, however it offers them", async () => {
  for (const [offered, mode] of [
    // Claude Code, Codex, Goose, Gemini CLI, and the protocol's own examples.
    ["auto,default,acceptEdits,plan,bypassPermissions", "default"],
    ["agent,workspace-write,read-only,agent-full-access", "read-only"],
    ["auto,smart_approve,approve,chat", "approve"],
    ["yolo,default,autoEdit", "default"],
    ["code,architect,ask", "ask"],
    // Known to ask, or to change nothing: whoever set it up so is left with it.
    ["plan,default", "plan"],
    ["read-only,default", "read-only"],
    // None of these says anything about questions.
    ["build,plan", "build"],
  ] as const) {
    for (const setting of ["modes", "old-modes"]) {
      await using agent = startFakeAgent([`${setting} ${offered}`]);
      const connection = await agent.open({ asks: true });
      await connection.prompt("mode");
      assert.equal(agent.heard.text, mode, `${setting} ${offered}`);
      assert.deepEqual(agent.heard.notes, []);
    }
  }
});

test("an agent goes on with a session in a mode in which it asks, and with the model that is asked for", async () => {
  for (const way of ["load", "resume"]) {
    await using agent = startFakeAgent([way, "models a,b", "modes auto,default"]);
    const connection = await agent.open({ resume: "old", model: "b", asks: true });
    await connection.prompt("model\nmode");
    assert.deepEqual([connection.sessionId, agent.heard.text], ["old", "bdefault"]);
  }
});

test("an agent that need not ask is left in its own mode", async () => {
  await using agent = startFakeAgent(["modes auto,default"]);
  const connection = await agent.open({ asks: false });
  await connection.prompt("mode");
  assert.equal(agent.heard.text, "auto");
});

test("an agent that will not have the mode is told of, and comes up", async () => {
  for (const setting of ["modes", "old-modes"]) {
    await using agent = startFakeAgent([`${setting} auto,default`, "refuse-mode"]);
    const connection = await agent.open({ asks: true });
    await connection.prompt("mode");
    assert.equal(agent.heard.text, "auto");
    assert.deepEqual(agent.heard.notes, [
      'a refusal of the mode "default", in which it would ask before it does anything',
    ]);
  }
});
