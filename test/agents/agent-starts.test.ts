import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { driving, hastyTimer, leftOf } from "../support/driving.ts";
import { until } from "../support/until.ts";

/** Agents that do not come up, and what is said of each. */
const NOT_UP: readonly (readonly [settings: readonly string[], error: RegExp])[] = [
  [["exit 7", "stderr unused"], /^fake did not come up: it ended with exit code 7$/],
  [
    ["stderr config is broken", "version 1", "refuse-initialize no"],
    /^fake did not come up: .*no.*; it said: config is broken$/,
  ],
  [["refuse-initialize not today"], /^fake did not come up: .*not today/],
  [["refuse-new quota is used up"], /^fake did not come up: .*quota is used up/],
  [["auth-required"], /^fake did not come up: .*log in.*Run `fake login` in a terminal/i],
  [["version 9"], /^fake did not come up: the agent speaks ACP version 9/],
];

for (const [settings, error] of NOT_UP) {
  test(`an agent that does not come up is a failed session, with the reason in one line: ${settings.join(", ")}`, async (t) => {
    const home = driving(t, settings);
    await assert.rejects(home.start({ name: "taken" }), { name: "Failure", kind: "conflict", message: error });
    const [session] = await home.sessions.list();
    assert.equal(session?.status, "failed");
    assert.match(session?.error ?? "", error);
    assert.doesNotMatch(session?.error ?? "", /\n/);
    const saved = home.saved(session?.id ?? "");
    assert.deepEqual(
      [saved.status, saved.error, saved.owner, saved.child],
      ["failed", session?.error, undefined, undefined],
    );
    assert.equal(typeof saved.endedAt, "number");
    // Its name is free again at once.
    await assert.rejects(home.start({ name: "taken" }), { message: error });
  });
}

for (const silent of ["silent-initialize", "silent-new"]) {
  test(`an agent that never answers is given up: ${silent}`, async (t) => {
    const home = driving(t, [silent, "ignore-term", "ignore-eof"], { timer: hastyTimer(100) });
    await assert.rejects(home.start(), {
      kind: "conflict",
      message: /^fake did not come up: the agent did not answer .* within 90 s/,
    });
    const [session] = await home.sessions.list();
    assert.deepEqual(await leftOf([session?.id ?? ""]), []);
  });
}

test("a program or a folder that is not there is told, and is a failed session", async (t) => {
  const home = driving(t);
  await assert.rejects(home.start({ cwd: join(home.home, "nowhere") }), { kind: "bad-request", message: /folder/ });
  rmSync(home.cwd, { recursive: true });
  await assert.rejects(home.start(), { kind: "bad-request" });
  const command = { kind: "command", cwd: home.home, argv: [join(home.home, "no-such-program")] } as const;
  await assert.rejects(home.sessions.start(command), { kind: "bad-request" });
  const all = await home.sessions.list();
  assert.deepEqual(
    all.map(({ status }) => status),
    ["failed", "failed", "failed"],
  );
  for (const { id, error } of all) assert.equal(home.saved(id).error, error);
});

test("an agent that nobody knows is refused, and leaves no session", async (t) => {
  const home = driving(t);
  await assert.rejects(home.start({ agent: "nobody" }), Failure);
  await assert.rejects(home.sessions.start({ kind: "command", cwd: home.cwd }), {
    kind: "bad-request",
    message: /argv/,
  });
  assert.deepEqual(await home.sessions.list(), []);
});

test("a session that is stopped while it starts has ended, and its start is told so", async (t) => {
  const home = driving(t, ["silent-initialize", "ignore-term"]);
  const start = home.start();
  await until(async () => (await home.sessions.list())[0]?.pid !== undefined);
  const [session] = await home.sessions.list();
  assert.ok(session !== undefined);
  assert.equal((await home.sessions.stop(session.id)).status, "ended");
  await assert.rejects(start, { kind: "conflict", message: /was stopped before it came up/ });
  assert.deepEqual([home.saved(session.id).status, home.saved(session.id).error], ["ended", undefined]);
});

test("a session whose server ends while it starts has ended, and has not failed", async (t) => {
  const home = driving(t, ["silent-initialize"]);
  const start = home.start();
  await until(async () => (await home.sessions.list())[0]?.pid !== undefined);
  await Promise.all([home.sessions.close(), assert.rejects(start, { kind: "conflict" })]);
  const [session] = await home.sessions.list();
  assert.equal(session?.status, "ended");
  const { status, error } = home.saved(session?.id ?? "");
  assert.deepEqual([status, error], ["ended", undefined]);
});

test("a restart that is refused leaves the live session as it was: its folder, its agent, or a name that was taken", async (t) => {
  const names: string[] = [];
  const home = driving(t, [], { isNameTaken: async (name) => names.includes(name) });
  const { id } = await home.turn(["say x"], { name: "worker" });
  const refusedAs = async (refusal: object): Promise<void> => {
    await assert.rejects(home.sessions.restart(id), refusal);
    assert.equal((await home.session(id)).status, "idle");
    assert.equal((await home.sessions.list()).length, 1);
  };
  renameSync(home.cwd, `${home.cwd}-away`);
  await refusedAs({ kind: "bad-request", message: "the session's folder is not there: make it, or name another" });
  renameSync(`${home.cwd}-away`, home.cwd);
  names.push("worker");
  await refusedAs({ kind: "conflict", message: /called worker already/ });
  names.pop();
  const agents = home.parts.agents as Map<string, unknown>;
  const fake = agents.get("fake");
  agents.delete("fake");
  await refusedAs({ kind: "usage" });
  agents.set("fake", fake);
  assert.equal(await home.prompt(id, "say y"), "completed");
  assert.equal((await home.sessions.restart(id)).status, "idle");
});

test("a restart of a command whose program has gone leaves the live one as it was", async (t) => {
  const home = driving(t);
  const program = join(home.home, "program");
  writeFileSync(program, "#!/bin/sh\nsleep 1000\n", { mode: 0o755 });
  const { id } = await home.sessions.start({ kind: "command", cwd: home.cwd, argv: [program] });
  rmSync(program);
  await assert.rejects(home.sessions.restart(id), { kind: "bad-request", message: /there is no program/ });
  assert.equal((await home.session(id)).status, "busy");
});

test("of six restarts of one session at once one wins, and the others are told why not", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say x"]);
  const all = await Promise.allSettled(Array.from({ length: 6 }, () => home.sessions.restart(id)));
  const refused = all.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.deepEqual(
    refused.map(({ kind, message }) => [kind, message]),
    Array(5).fill(["conflict", `the session ${id} is being restarted already`]),
  );
  assert.equal((await home.sessions.list()).filter(({ endedAt }) => endedAt === undefined).length, 1);
});

test("a session that is stopped before its agent is there starts none", async (t) => {
  const home = driving(t);
  for (let wait = 0; wait < 12; wait += 2) {
    const start = home.start();
    start.catch(() => {});
    await until(async () => (await home.sessions.list()).some(({ status }) => status === "starting"));
    await new Promise((resolve) => setTimeout(resolve, wait));
    const [session] = await home.sessions.list();
    assert.ok(session !== undefined);
    await home.sessions.stop(session.id);
    await Promise.allSettled([start]);
    assert.equal((await home.session(session.id)).status, "ended");
  }
});

test("a model that is offered is set, by its id or its name; one that is not fails with what is", async (t) => {
  const home = driving(t, ["models small,large"]);
  const { id } = await home.turn(["model"], { model: "Large" });
  assert.equal(home.text(id), "large");
  assert.equal((await home.session(id)).model, "large");
  await assert.rejects(home.start({ model: "huge" }), {
    kind: "bad-request",
    message: 'fake did not come up: the agent offers no model "huge"; it offers small, large',
  });
});

for (const [how, settings] of [
  ["resume", ["resume"]],
  ["load", ["load", "replay old answer"]],
] as const) {
  test(`a session is restarted under a new id that points back, and goes on with its conversation: ${how}`, async (t) => {
    const home = driving(t, [...settings, "store kept"]);
    const { id } = await home.turn(["say one"], { name: "worker" });
    const restarted = await home.sessions.restart(id);
    assert.notEqual(restarted.id, id);
    assert.deepEqual([restarted.restartedFrom, restarted.name, restarted.status], [id, "worker", "idle"]);
    assert.equal((await home.session(id)).status, "ended");
    assert.equal(restarted.nativeSessionId, (await home.session(id)).nativeSessionId);
    await home.prompt(restarted.id, "recall");
    assert.equal(home.text(restarted.id), '["say one"]');
    assert.equal(home.records(restarted.id)[0]?.seq, 1);
    assert.equal(home.saved(restarted.id).restartedFrom, id);
    // One that has ended can be restarted as well, again and again.
    await assert.rejects(home.sessions.restart(id), { kind: "conflict", message: /called worker already/ });
    await home.sessions.stop(restarted.id);
    const again = await home.sessions.restart(id);
    assert.deepEqual([again.restartedFrom, again.nativeSessionId], [id, restarted.nativeSessionId]);
  });
}

test("an agent that can go on with nothing begins anew when its session is restarted", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say one"]);
  const restarted = await home.sessions.restart(id);
  assert.equal(restarted.restartedFrom, id);
  assert.notEqual(restarted.nativeSessionId, (await home.session(id)).nativeSessionId);
  await home.prompt(restarted.id, "recall");
  assert.equal(home.text(restarted.id), "[]");
});

test("a session whose model goes by a name that can't be asked for is restarted all the same", async (t) => {
  const home = driving(t, ["models small,large", "resume"]);
  const { id } = await home.turn(['update {"sessionUpdate":"usage_update","used":1,"size":2}', "say x"], {
    model: "large",
  });
  const restarted = await home.sessions.restart(id);
  assert.equal(restarted.model, "large");
});

test("a session in mid-turn is restarted: its turn is ended first", async (t) => {
  const home = driving(t, ["resume"]);
  const { id, prompt } = await home.begin(["silent"]);
  const restarted = await home.sessions.restart(id);
  assert.equal((await prompt.ended).reason, "aborted");
  assert.equal(await home.prompt(restarted.id, "say x"), "completed");
});

test("a command is restarted with its words", async (t) => {
  const home = driving(t);
  const command = await home.sessions.start({
    kind: "command",
    cwd: home.cwd,
    argv: ["sleep", "1000"],
    name: "napper",
  });
  const again = await home.sessions.restart(command.id);
  assert.deepEqual([again.argv, again.name, again.restartedFrom], [["sleep", "1000"], "napper", command.id]);
});
