import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError } from "../../../src/agents/acp/agent-error.ts";
import { Failure } from "../../../src/platform/failure.ts";
import { startFakeAgent } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";

test("a prompt that the agent answers with an error fails with its words, code and details", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const failure = await connection
    .prompt('say begun\nerror -32603 "Internal error\\u001b[31m"')
    .catch((error) => error);
  assert.ok(failure instanceof Failure && failure.cause instanceof AgentError);
  assert.equal(failure.message, "the agent answered: Internal error");
  assert.equal(failure.cause.code, -32603);
  assert.equal(agent.heard.text, "begun");
  assert.deepEqual(await connection.prompt("say again"), { stopReason: "end_turn" });
});

test("an error without a form is still an error", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const answer = (error: unknown): string =>
    `raw ${JSON.stringify(JSON.stringify({ jsonrpc: "2.0", id: 3, error }))}\nhang`;
  await assert.rejects(connection.prompt(answer("no")), { message: "the agent answered: no" });
  const details = { code: -32603, message: "Internal error", data: { details: "the disk is full" } };
  const next = (error: unknown): string => answer(error).replace('\\"id\\":3', '\\"id\\":4');
  await assert.rejects(connection.prompt(next(details)), {
    message: "the agent answered: Internal error: the disk is full",
  });
});

test("an answer with a result and an error is an error", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await assert.rejects(connection.prompt("both"), { message: "the agent answered: both" });
});

test("a prompt that is answered twice has its first answer", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  assert.deepEqual(await connection.prompt("stop max_tokens\ntwice"), { stopReason: "max_tokens" });
  await connection.prompt("say on");
  assert.deepEqual(agent.heard.notes, ["an answer to no question"]);
});

test("a number that comes back as text is the same answer", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const answer = JSON.stringify({ jsonrpc: "2.0", id: "3", result: { stopReason: "refusal" } });
  assert.deepEqual(await connection.prompt(`raw ${JSON.stringify(answer)}\nhang`), { stopReason: "refusal" });
});

test("an answer without a reason has ended well", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  assert.deepEqual(await connection.prompt('raw "{\\"id\\":3,\\"result\\":null}"\nhang'), { stopReason: "end_turn" });
});

test("lines that are no messages are passed over, and the turn goes on", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const lines = [
    "Loading…",
    "{",
    "7",
    "[]",
    '{"jsonrpc":"2.0"}',
    '{"id":99,"result":{}}',
    '{"method":"unknown/thing"}',
  ];
  await connection.prompt([...lines.map((line) => `raw ${JSON.stringify(line)}`), 'raw ""', "say on"].join("\n"));
  assert.equal(agent.heard.text, "on");
  assert.deepEqual(agent.heard.notes, [
    "a line that is no JSON",
    "a line that is no JSON",
    "JSON that is no message",
    "an empty batch",
    "JSON that is no message",
    "an answer to no question",
    "a notification of an unknown kind",
  ]);
});

test("what an agent tells clients of another kind is no fault", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt('notify _auth/status_update {"authStatus":{}}\nsay on');
  assert.equal(agent.heard.text, "on");
  assert.deepEqual(agent.heard.notes, []);
});

test("a message cut inside its characters is whole", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt('cut "héllo 日本 😀\\r\\n"');
  assert.equal(agent.heard.text, "héllo 日本 😀\r\n");
});

test("a line over 32 MiB is passed over once, and the turn goes on", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt(`big ${33 * 1024 * 1024}\nsay on`);
  assert.equal(agent.heard.text, "on");
  assert.deepEqual(agent.heard.notes, ["a line over 32 MiB"]);
});

test("a long line within the limit is taken", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt(`big ${8 * 1024 * 1024}`);
  assert.equal(agent.heard.text.length, 8 * 1024 * 1024);
});

test("a request of an unknown method is answered so, whatever its id", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  // The scripted agent numbers its requests by turns with a number and a text.
  await connection.prompt("request terminal/create {}\nrequest _agent/own {}");
  assert.equal(
    agent.heard.text,
    "terminal/create: error -32601 Method not foundagent/own: error -32601 Method not found".replace(
      "agent/own",
      "_agent/own",
    ),
  );
});

test("updates of another session are passed over", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const chunk = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "not mine" } };
  await connection.prompt(`elsewhere ${JSON.stringify(chunk)}\nsay mine`);
  assert.equal(agent.heard.text, "mine");
  assert.deepEqual(agent.heard.notes, ["an update of another session"]);
});

test("updates after the prompt's answer are given out, and after it", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const seen: string[] = [];
  await connection.prompt("say in time\nlate too late");
  seen.push(agent.heard.text);
  await until(() => agent.heard.text !== "in time");
  assert.deepEqual([...seen, agent.heard.text], ["in time", "in timetoo late"]);
});

test("an agent that dies in its turn fails the prompt, and all that it said is given out", async () => {
  for (const death of ["exit 0", "exit 7", "kill", 'half "{\\"jsonrpc\\":"\nexit 1']) {
    await using agent = startFakeAgent();
    const connection = await agent.open();
    await assert.rejects(connection.prompt(`say last words\n${death}`), { message: "the agent has ended" });
    await connection.closed;
    assert.equal(agent.heard.text, "last words");
    await assert.rejects(connection.prompt("say on"), { message: "the agent has ended" });
    connection.cancel();
  }
});

test("an agent that closes its output and lives on has ended", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await assert.rejects(connection.prompt("close\nhang"), { message: "the agent has ended" });
  await connection.closed;
});

test("a closed connection lets whoever waits fail, answers nothing, and gives out nothing", async () => {
  await using agent = startFakeAgent(["log sent"], { permission: () => new Promise(() => {}) });
  const connection = await agent.open();
  const prompt = connection.prompt("say one\nask t");
  await until(() => agent.heard.questions.length === 1);
  const failure = assert.rejects(prompt, { message: "the connection to the agent was closed" });
  connection.close();
  await failure;
  await connection.closed;
  await assert.rejects(connection.prompt("say two"), { message: "the connection to the agent was closed" });
  const sent = agent.wasSent("sent").length;
  agent.child.stdin?.end();
  await until(() => agent.child.exitCode !== null);
  assert.equal(agent.wasSent("sent").length, sent);
});

test("a prompt of an agent whose output another process holds open ends when the connection is closed", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const end = connection.prompt("grandchild holding\nkill");
  await until(() => agent.child.signalCode !== null && /^grandchild \d/.test(agent.heard.text));
  const failure = assert.rejects(end, { message: "it was killed" });
  connection.close(new Failure("failed", "it was killed"));
  await failure;
  process.kill(Number(/grandchild (\d+)/.exec(agent.heard.text)?.[1]), "SIGKILL");
});

test("a flood is held back while what happened is being taken", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using agent = startFakeAgent([], { happened: () => held });
  const connection = await agent.open();
  const end = connection.prompt(`flood 20000 "${"x".repeat(1000)}"`);
  await until(() => agent.heard.events.length === 1);
  // Long enough for all of it, were it read.
  await sleep(300);
  assert.equal(agent.heard.events.length, 1);
  release();
  await end;
  assert.equal(agent.heard.text.length, 20_000_000);
});

test("a hundred thousand chunks arrive in order, none lost", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt("flood 100000\nsay end");
  assert.equal(agent.heard.text, `${"x\n".repeat(100_000)}end`);
});

test("what could not be taken ends the connection, and is not passed over", async () => {
  await using agent = startFakeAgent([], {
    happened: () => {
      throw new Failure("failed", "the recording is gone");
    },
  });
  const connection = await agent.open();
  await assert.rejects(connection.prompt("say one\nhang"), { message: "the recording is gone" });
  await connection.closed;
});

test("a cancelled turn ends as cancelled", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  const end = connection.prompt("say begun\nsilent");
  await until(() => agent.heard.text === "begun");
  connection.cancel();
  assert.deepEqual(await end, { stopReason: "cancelled" });
  assert.deepEqual(await connection.prompt("say on"), { stopReason: "end_turn" });
});

test("a prompt that cancelling does not end can still be waited for, and ends with the agent", async () => {
  await using agent = startFakeAgent(["ignore-cancel"]);
  const connection = await agent.open();
  const end = connection.prompt("say begun\nsilent");
  await until(() => agent.heard.text === "begun");
  connection.cancel();
  const failure = assert.rejects(end, { message: "the agent has ended" });
  agent.child.kill("SIGKILL");
  await failure;
});

test("an agent that reads nothing any more can be told things without end", async () => {
  await using agent = startFakeAgent();
  const connection = await agent.open();
  await connection.prompt("deaf");
  const end = connection.prompt("x".repeat(512 * 1024));
  for (let i = 0; i < 100; i++) connection.cancel();
  const failure = assert.rejects(end, { message: "the agent has ended" });
  agent.child.kill("SIGKILL");
  await failure;
});
