import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { isAlive } from "../../src/platform/process-identity.ts";
import { driving, hastyTimer, leftOf } from "../support/driving.ts";
import { until } from "../support/until.ts";

test("an agent that exits in mid-turn ends the turn and the session, which tell its exit code and last words", async (t) => {
  const home = driving(t);
  const { id, end } = await home.turn(["say half a th", "call c1", "stderr out of cheese", "exit 3"]);
  assert.equal(end.reason, "exited");
  await until(async () => (await home.session(id)).status === "failed");
  const session = await home.session(id);
  assert.equal(session.error, "fake ended by itself with exit code 3; it said: out of cheese");
  assert.deepEqual([session.exitCode, session.signal, session.pid], [3, undefined, undefined]);
  assert.equal(home.text(id), "half a th");
  assert.deepEqual(home.kinds(id), [
    ...["user-prompt", "tool-call", "error", "tool-result", "turn-end", "usage_snapshot", "usage_snapshot"],
  ]);
  assert.equal(home.records(id).find(({ kind }) => kind === "error")?.error.message, session.error);
  await assert.rejects(home.prompt(id, "go on"), conflict(/has ended \(failed\): restart it/));
  const [run] = await home.finishedRuns(1);
  assert.equal(run?.status, "failed");
  assert.match(run?.last ?? "", /failed: fake ended by itself with exit code 3; it said: out of cheese/);
});

test("an agent that is killed in mid-turn ends the session with the signal", async (t) => {
  const home = driving(t);
  const { id, end } = await home.turn(["say x", "kill"]);
  assert.equal(end.reason, "exited");
  await until(async () => (await home.session(id)).status === "failed");
  const { error, exitCode, signal } = await home.session(id);
  assert.deepEqual([error, exitCode, signal], ["fake ended by itself by SIGKILL", undefined, "SIGKILL"]);
});

test("an agent that ends well while nothing runs has ended, and is no failure", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say x"]);
  process.kill((await home.session(id)).pid ?? 0, "SIGINT");
  await until(async () => (await home.session(id)).endedAt !== undefined);
  assert.equal((await home.session(id)).status, "failed");
  assert.equal((await home.session(id)).error, "fake ended by itself by SIGINT");
});

test("what an agent that has just gone is asked is refused, and nothing of it is recorded", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say x"]);
  process.kill((await home.session(id)).pid ?? 0, "SIGKILL");
  let accepted = 1;
  await until(async () => {
    const refused = await home.prompt(id, "say y").then(
      () => {
        accepted++;
      },
      (error) => error,
    );
    return refused instanceof Failure && refused.kind === "conflict";
  });
  await until(async () => (await home.session(id)).status === "failed");
  assert.equal(home.records(id).filter(({ kind }) => kind === "user-prompt").length, accepted);
});

test("a flood of 100,000 chunks is recorded byte for byte, while the loop and the memory stay as they were", async (t) => {
  const home = driving(t);
  const before = process.memoryUsage().rss;
  const { id, prompt } = await home.begin(['flood 100000 "line \\u00e9\\n"']);
  let turns = 0;
  let isOver = false;
  void prompt.ended.then(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    turns++;
  }
  assert.equal((await prompt.ended).reason, "completed");
  assert.ok(turns > 20, `the loop turned ${turns} times meanwhile`);
  assert.ok(process.memoryUsage().rss - before < 250 * 1024 * 1024);
  assert.equal(home.text(id), "line é\n".repeat(100_000));
  assert.match(home.sessions.output(id)?.read().text ?? "", /line é\n.*completed/);
});

test("an agent that answers twice, and says more after its answer, disturbs nothing; what it says is recorded", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say one", "twice", "late two", "late three"]);
  assert.equal(await home.prompt(id, "say four"), "completed");
  assert.equal(home.text(id), "onetwothreefour");
  assert.equal(home.kinds(id).filter((kind) => kind === "turn-end").length, 2);
  assert.match(home.warned.join("\n"), /an answer to no question/);
});

test("an answer with a result and an error, lines that are no JSON and messages of no kind leave the session alive", async (t) => {
  const home = driving(t);
  const { id, end } = await home.turn([
    'raw {"jsonrpc":',
    "raw [1,2",
    'raw ""',
    "raw null",
    "notify x/y",
    "say still here",
    "both",
  ]);
  assert.ok(["completed", "error"].includes(end.reason));
  assert.equal(await home.prompt(id, "say and here"), "completed");
  assert.equal(home.text(id), "still hereand here");
});

test("an agent that answers with an error ends the turn with it, and can be prompted again", async (t) => {
  const home = driving(t);
  const { id, end } = await home.turn(["error -32050 the model is overloaded"]);
  assert.equal(end.reason, "error");
  const error = home.records(id).find(({ kind }) => kind === "error")?.error;
  assert.match(error.message, /the model is overloaded/);
  assert.equal(error.code, -32050);
  assert.equal((await home.session(id)).status, "idle");
  assert.equal(await home.prompt(id, "say x"), "completed");
  assert.deepEqual(
    (await home.finishedRuns(2)).map(({ status }) => status),
    ["failed", "done"],
  );
});

test("every way in which an agent says that its turn is over is told in the words of the recording", async (t) => {
  const home = driving(t);
  const { id } = await home.start();
  const reasons: string[] = [];
  for (const stop of ["end_turn", "max_turn_requests", "max_tokens", "refusal", "cancelled", "brand_new"]) {
    reasons.push(await home.prompt(id, `stop ${stop}`));
  }
  assert.deepEqual(reasons, ["completed", "max_turns", "error", "error", "cancelled", "error"]);
});

test("an agent that closes its output and lives on is ended, and its turn with it", async (t) => {
  const home = driving(t, ["ignore-term", "ignore-eof"]);
  const { id, end } = await home.turn(["say x", "close", "hang"]);
  assert.equal(end.reason, "exited");
  await until(async () => (await home.session(id)).status === "failed");
  assert.equal((await home.session(id)).error, "the agent closed its output and went on, so it was ended");
  assert.deepEqual(await leftOf([id]), []);
});

test("an agent that takes its time to put its own things in order when it is stopped is not cut short", async (t) => {
  const home = driving(t, ["ignore-term", "linger 900 kept"]);
  const { id } = await home.turn(["say x"]);
  const { status, exitCode, signal } = await home.sessions.stop(id);
  assert.deepEqual([status, exitCode, signal], ["ended", 0, undefined]);
  assert.equal(readFileSync(join(home.cwd, "kept"), "utf8"), "in order");
});

test("an agent that reads nothing any more and is stubborn is stopped all the same", async (t) => {
  const home = driving(t, ["ignore-term", "ignore-eof", "ignore-cancel"]);
  const { id, prompt } = await home.begin(["deaf", "say deaf", "hang"]);
  await until(() => home.text(id) === "deaf");
  const stopped = await home.sessions.stop(id);
  assert.deepEqual([stopped.status, stopped.signal, stopped.error], ["ended", "SIGKILL", undefined]);
  assert.equal((await prompt.ended).reason, "aborted");
  assert.deepEqual(await leftOf([id]), []);
});

for (const how of ["", "detached", "holding", "stubborn", "detached holding stubborn"]) {
  test(`what an agent has started does not outlive it: a process that is ${how || "plain"}`, async (t) => {
    const home = driving(t);
    const { id } = await home.turn([`grandchild ${how}`]);
    const pid = Number(/grandchild (\d+)/.exec(home.text(id))?.[1]);
    assert.ok(pid > 0);
    await home.sessions.stop(id);
    assert.equal(isAlive({ pid }), false);
    assert.deepEqual(await leftOf([id]), []);
  });

  test(`nor when the agent dies by itself and leaves it behind: a process that is ${how || "plain"}`, async (t) => {
    const home = driving(t);
    const { id, end } = await home.turn([`grandchild ${how}`, "exit 1"]);
    assert.equal(end.reason, "exited");
    await until(async () => (await home.session(id)).status === "failed");
    assert.deepEqual(await leftOf([id]), []);
  });
}

test("an agent that never ends a cancelled turn is ended itself, and says so", async (t) => {
  const home = driving(t, ["ignore-cancel"], { timer: hastyTimer(20) });
  const { id, prompt } = await home.begin(["hang"]);
  await home.sessions.cancel(id);
  assert.equal((await home.session(id)).status, "failed");
  assert.equal((await prompt.ended).reason, "cancelled");
  assert.match((await home.session(id)).error ?? "", /went on though it was told to cancel its turn/);
});

test("an agent that sends a line without an end, and then dies, leaves what it said before", async (t) => {
  const home = driving(t);
  const { id, end } = await home.turn(["say kept", 'half {"jsonrpc":"2.0","method":"session/upd', "exit 0"]);
  assert.equal(end.reason, "exited");
  await until(async () => (await home.session(id)).endedAt !== undefined);
  assert.equal(home.text(id), "kept");
});

function conflict(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.kind === "conflict" && message.test(error.message);
}
