import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { TEXT_CHARACTERS } from "../../src/transcript/limits.ts";
import { sessionIdOf } from "../../src/transcript/names.ts";
import { driving, hastyTimer } from "../support/driving.ts";
import { until } from "../support/until.ts";

test("a prompt is answered with the number of its record, and its turn's end with that of the turn's last one", async (t) => {
  const home = driving(t);
  const { id, prompt, end } = await home.turn(["call c1", "done c1 fine", "say bye"]);
  assert.deepEqual([prompt.id, prompt.seq], [id, 1]);
  const last = home.records(id).findLast(({ seq }) => seq === end.seq);
  assert.equal(last?.kind, "usage_snapshot");
  assert.equal((await home.sessions.prompt(id, "say more")).seq, end.seq + 1);
});

test("each prompt is a run of the session's job, with its steps, its answer and how it ended", async (t) => {
  const home = driving(t);
  const { id } = await home.turn([
    "say let me look",
    'call c1 {"title":"ls","rawInput":{"command":"ls -l"}}',
    "done c1 a.txt",
    "say one file",
  ]);
  assert.equal(await home.prompt(id, "error -32050 no more"), "error");
  const both = await home.finishedRuns(2);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["done", "failed"],
  );
  const { runs, jobs } = await home.runs();
  assert.deepEqual([...new Set(runs.map(({ job }) => job))], [`fake-job-${id.slice(-8)}`]);
  assert.equal(jobs[`fake-job-${id.slice(-8)}`]?.sessionId, id);
  const log = readFileSync(join(home.bridgeHome, "runs", `${runs.at(-1)?.name}.log`), "utf8");
  const entries = log
    .split("\n")
    .filter((line) => /^\d\d:/.test(line))
    .map((line) => line.slice(9));
  assert.equal(entries[1], "started");
  assert.match(entries[2] ?? "", /^\d+s · step 1 · running: ls/);
  assert.equal(entries[3], "answer: one file");
  assert.match(entries[4] ?? "", /^finished after \d+s · done$/);
  assert.equal(entries.length, 5);
});

test("of a long answer the log of the run keeps the beginning", async (t) => {
  const home = driving(t);
  await home.turn(["say the beginning ", "flood 2000 0123456789", "say the end"]);
  await home.finishedRuns(1);
  const [run] = (await home.runs()).runs;
  const log = readFileSync(join(home.bridgeHome, "runs", `${run?.name}.log`), "utf8");
  const answer = log
    .split("\n")
    .find((line) => line.slice(9).startsWith("answer: "))
    ?.slice("00:00:00 answer: ".length);
  assert.deepEqual([answer?.length, answer?.slice(0, 16), answer?.at(-1)], [TEXT_CHARACTERS, "the beginning012", "…"]);
});

test("turns that follow each other at once leave one run each, and the job as the last one left it", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say 0"]);
  for (let i = 1; i < 6; i++) assert.equal(await home.prompt(id, `say ${i}`), "completed");
  assert.equal(await home.prompt(id, "error -32050 no"), "error");
  assert.deepEqual(
    (await home.finishedRuns(7)).map(({ status }) => status),
    [...Array(6).fill("done"), "failed"],
  );
});

test("cancelling ends the running turn, and comes back when it has ended; a second time as well", async (t) => {
  const home = driving(t);
  const { id, prompt } = await home.begin(["say x", "call c1", "silent"]);
  await until(() => home.text(id) === "x");
  await Promise.all([home.sessions.cancel(id), home.sessions.cancel(id)]);
  assert.equal((await home.session(id)).status, "idle");
  assert.equal((await prompt.ended).reason, "cancelled");
  await home.sessions.cancel(id);
  assert.equal(await home.prompt(id, "say y"), "completed");
  assert.deepEqual(
    (await home.finishedRuns(2)).map(({ status }) => status),
    ["interrupted", "done"],
  );
});

test("cancelling where no turn runs does nothing", async (t) => {
  const home = driving(t);
  const { id } = await home.start();
  await home.sessions.cancel(id);
  assert.equal(await home.prompt(id, "say y"), "completed");
});

test("a prompt that interrupts ends the running turn first; both are recorded, one after the other", async (t) => {
  const home = driving(t);
  const { id, prompt } = await home.begin(["say x", "silent"]);
  await until(() => home.text(id) === "x");
  const next = await home.sessions.prompt(id, "say y", { interrupt: true });
  assert.equal((await prompt.ended).reason, "cancelled");
  assert.equal((await next.ended).reason, "completed");
  assert.deepEqual(
    home
      .records(id)
      .filter(({ kind }) => /prompt|end/.test(kind))
      .map(({ text, reason }) => text ?? reason),
    ["say x\nsilent", "cancelled", "say y", "completed"],
  );
});

test("an agent that does not let itself be interrupted is ended, and the prompt is refused", async (t) => {
  const home = driving(t, ["ignore-cancel"], { timer: hastyTimer(20) });
  const { id } = await home.begin(["hang"]);
  await assert.rejects(home.sessions.prompt(id, "say y", { interrupt: true }), conflict(/has ended/));
  assert.equal((await home.session(id)).status, "failed");
  assert.equal(home.records(id).filter(({ kind }) => kind === "user-prompt").length, 1);
});

test("of two prompts at once one is taken, and the other is told that the session is busy", async (t) => {
  const home = driving(t);
  const { id } = await home.start();
  for (const interrupt of [false, true]) {
    const both = await Promise.allSettled(
      ["say a", "say b"].map((text) => home.sessions.prompt(id, text, { interrupt })),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    for (const each of both) {
      const busy = interrupt ? /another prompt .* came first/ : /is busy with a turn; cancel it, or send interrupt/;
      if (each.status === "rejected") assert.ok(conflict(busy)(each.reason));
      else await each.value.ended;
    }
  }
  assert.equal(home.records(id).filter(({ kind }) => kind === "user-prompt").length, 2);
});

test("a session that is starting, has ended or is not known takes no prompt, and says which", async (t) => {
  const home = driving(t, [], { agents: { mute: ["silent-initialize"] } });
  void home.start({ agent: "mute" }).catch(() => {});
  await until(async () => (await home.sessions.list())[0]?.pid !== undefined);
  const starting = (await home.sessions.list())[0];
  assert.ok(starting !== undefined);
  await assert.rejects(home.prompt(starting.id, "x"), conflict(/is still starting: try again in a moment/));
  const { id } = await home.start();
  await home.sessions.stop(id);
  await assert.rejects(home.prompt(id, "x"), conflict(/has ended \(ended\): restart it/));
  const unknown = sessionIdOf("sess_00000000");
  assert.ok(unknown !== undefined);
  await assert.rejects(home.prompt(unknown, "x"), { kind: "not-found" });
});

test("a prompt that is empty, blank, over 512 KiB or half a character is refused; one of exactly 512 KiB is taken", async (t) => {
  const home = driving(t, ["first say taken", "first stop end_turn"]);
  const { id } = await home.start();
  for (const text of ["", " \n\t", "é".repeat(256 * 1024 + 1), "x\ud800"]) {
    await assert.rejects(home.prompt(id, text), { kind: "bad-request" });
  }
  assert.equal(await home.prompt(id, "é".repeat(256 * 1024)), "completed");
  assert.equal(home.records(id)[0]?.text.length, 256 * 1024);
});

test("usage is summed up over the turns, and told after each of them and in the end", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["usage 100 2000 0.5", 'spend {"inputTokens":10,"outputTokens":3}']);
  await home.prompt(id, 'spend {"inputTokens":5,"outputTokens":4}');
  await home.sessions.stop(id);
  const told = home.records(id).filter(({ kind }) => kind === "usage_snapshot");
  assert.deepEqual(
    told.map(({ tokensIn, tokensOut, costUsd, contextUsed }) => [tokensIn, tokensOut, costUsd, contextUsed]),
    [
      [10, 3, 0.5, 100],
      [15, 7, 0.5, 100],
      [15, 7, 0.5, 100],
    ],
  );
});

test("a turn is held up by no run that can't be written", async (t) => {
  const home = driving(t, [], { isLossy: true });
  const { id } = await home.start();
  rmSync(join(home.bridgeHome, "runs"), { recursive: true, force: true });
  writeFileSync(join(home.bridgeHome, "runs"), "in the way");
  assert.equal(await home.prompt(id, "say x"), "completed");
  await until(() => home.warned.some((told) => /a run could not be written/.test(told)));
  assert.equal(home.text(id), "x");
});

function conflict(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.kind === "conflict" && message.test(error.message);
}
