import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Failure } from "../../src/platform/failure.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { type SessionId, sessionIdOf } from "../../src/transcript/names.ts";
import { withoutPrivilege } from "../platform/privilege.ts";
import { type Driving, driving, leftOf } from "../support/driving.ts";
import { until } from "../support/until.ts";

const PROCESS = fileURLToPath(new URL("../support/driving-process.ts", import.meta.url));

/** A session of another process in the same home. */
async function elsewhere(t: TestContext, home: Driving, lines: readonly string[], settings: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [PROCESS, home.home, lines.join("\n"), ...settings], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  t.after(kill);
  const [said] = (await once(child.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  const id = sessionIdOf(said.toString().trim());
  assert.ok(id !== undefined);
  return { id, kill };
}

test("a name is taken while a live session of ours has it, also one that is only being started, and free afterwards", async (t) => {
  const home = driving(t);
  const both = await Promise.allSettled([1, 2].map(() => home.start({ name: "worker" })));
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await assert.rejects(home.start({ name: "worker" }), conflict(/called worker already: choose another name/));
  const [session] = await home.sessions.list();
  await home.sessions.stop(session?.id as SessionId);
  assert.equal((await home.start({ name: "worker" })).name, "worker");
});

test("the id of a session, live or ended, or of a recording is no name for another", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say hello"]);
  mkdirSync(dirname(home.recording("ses_other")), { recursive: true });
  for (const name of [id, "ses_other"]) await assert.rejects(home.start({ name }), /is the id of another session/);
  await home.sessions.stop(id);
  await assert.rejects(home.start({ name: id }), /is the id of another session/);
});

test("a name is taken by a peer as well", async (t) => {
  const home = driving(t, [], { isNameTaken: async (name) => name === "joined" });
  await assert.rejects(home.start({ name: "joined" }), conflict(/called joined already/));
  await home.start({ name: "other" });
});

test("a session is found by its id, by the name of a live one, else by that of the last ended one", async (t) => {
  const home = driving(t);
  const first = await home.start({ name: "worker" });
  await home.sessions.stop(first.id);
  const second = await home.start({ name: "worker" });
  assert.equal((await home.session("worker")).id, second.id);
  assert.equal((await home.session(first.id)).id, first.id);
  await home.sessions.stop(second.id);
  assert.equal((await home.session("worker")).id, second.id);
  assert.equal(await home.sessions.find("nobody"), undefined);
});

test("at most 64 sessions are live, however many are started at once", async (t) => {
  const home = driving(t);
  const start = () => home.sessions.start({ kind: "command", cwd: home.cwd, argv: ["sleep", "1000"] });
  const all = await Promise.allSettled(Array.from({ length: 80 }, start));
  const refused = all.filter(({ status }) => status === "rejected");
  assert.equal(refused.length, 16);
  for (const each of refused) {
    if (each.status === "rejected") assert.ok(conflict(/64 sessions are live, which is the most/)(each.reason));
  }
  const [session] = await home.sessions.list();
  await home.sessions.stop(session?.id as SessionId);
  await start();
});

test("a terminal tells its size, also when that has changed; sessions.json does not, and a command has none", async (t) => {
  const home = driving(t);
  const sizeOf = async (id: string) => {
    const { columns, rows } = await home.session(id);
    return [columns, rows];
  };
  const terminal = { kind: "terminal", cwd: home.cwd, argv: ["sleep", "1000"] } as const;
  const { id } = await home.sessions.start(terminal);
  assert.deepEqual(await sizeOf(id), [80, 24]);
  await home.sessions.input(id, { columns: 132, rows: 43 });
  assert.deepEqual(await sizeOf(id), [132, 43]);
  assert.doesNotMatch(readFileSync(join(home.bridgeHome, "sessions.json"), "utf8"), /"columns"/);
  const command = await home.sessions.start({ ...terminal, kind: "command" });
  assert.deepEqual(await sizeOf(command.id), [undefined, undefined]);
});

test("sessions.json tells of a live session who drives it, and of an ended one how it went; nobody else can read it", async (t) => {
  const home = driving(t);
  const { id } = await home.turn(["say x"], { name: "worker" });
  await until(() => home.saved(id).status === "idle");
  const { pid, startedAt, nativeSessionId } = await home.session(id);
  const { child, owner, ...live } = home.saved(id);
  assert.deepEqual(owner, ourIdentity());
  assert.equal(child.pid, pid);
  const fields = { id, kind: "agent", agent: "fake", name: "worker", cwd: home.cwd, permit: "deny" };
  assert.deepEqual(live, { ...fields, nativeSessionId, startedAt, status: "idle" });
  const { endedAt } = await home.sessions.stop(id);
  assert.deepEqual(home.saved(id), { ...fields, nativeSessionId, startedAt, endedAt, status: "ended", exitCode: 0 });
  assert.equal(statSync(join(home.bridgeHome, "sessions.json")).mode & 0o777, 0o600);
});

test("sessions of another process are listed as live, and can only be read here; when it is killed they are interrupted", async (t) => {
  const home = driving(t, ["resume"]);
  const stubborn = ["ignore-term", "ignore-eof", "ignore-cancel"];
  const { id, kill } = await elsewhere(t, home, ["say x", "grandchild detached stubborn", "hang"], stubborn);
  await until(async () => (await home.session(id)).status === "busy");
  assert.equal((await home.session("theirs")).pid, home.saved(id).child.pid);
  const foreign = conflict(/is driven by another process: it can only be read here/);
  await assert.rejects(home.prompt(id, "x"), foreign);
  await assert.rejects(home.sessions.cancel(id), foreign);
  await assert.rejects(home.sessions.stop(id), foreign);
  await assert.rejects(home.sessions.restart(id), foreign);
  await assert.rejects(home.start({ name: "theirs" }), conflict(/called theirs already/));
  assert.equal(home.sessions.output(id), undefined);
  await until(() => /grandchild/.test(home.text(id)));
  await kill();
  const { status, pid } = await home.session(id);
  assert.deepEqual([status, pid], ["interrupted", undefined]);
  assert.equal((await leftOf([id])).length, 2);
  await home.recover();
  assert.deepEqual(await leftOf([id]), []);
  const { owner, child, ...saved } = home.saved(id);
  assert.deepEqual([saved.status, typeof saved.endedAt, owner, child], ["interrupted", "number", undefined, undefined]);
  const records = home.records(id);
  assert.deepEqual(
    records.slice(-2).map(({ kind, reason }) => [kind, reason]),
    [
      ["turn-end", "aborted"],
      ["usage_snapshot", undefined],
    ],
  );
  await home.recover();
  assert.equal(home.records(id).length, records.length);
  assert.deepEqual(
    (await home.finishedRuns(1)).map((run) => run.status),
    ["interrupted"],
  );
  const restarted = await home.sessions.restart(id);
  assert.deepEqual([restarted.restartedFrom, restarted.name], [id, "theirs"]);
  assert.equal(await home.prompt(restarted.id, "say y"), "completed");
});

test("an agent of which its server had no time to note who it is, is found by its mark and ended", async (t) => {
  const home = driving(t);
  const { id, kill } = await elsewhere(t, home, ["hang"], ["ignore-term", "ignore-eof"]);
  await kill();
  const file = join(home.bridgeHome, "sessions.json");
  const { child: _child, ...unnoted } = home.saved(id);
  writeFileSync(file, JSON.stringify({ version: 1, sessions: [{ ...unnoted, status: "starting" }], peers: [] }));
  assert.equal((await leftOf([id])).length, 1);
  await home.recover();
  assert.deepEqual(await leftOf([id]), []);
  assert.equal(home.saved(id).status, "interrupted");
});

test("what a killed server left open is ended in the recording as a live end would, and its job and run have ended", async (t) => {
  const home = driving(t);
  const lines = ["say a", "usage 40 100", "call t1", "ask rm", "silent"];
  const { id, kill } = await elsewhere(t, home, lines, ["permit-ask"]);
  await until(() => home.kinds(id).includes("agent-prompt"));
  await kill();
  const before = home.kinds(id).length;
  const job = () => JSON.parse(readFileSync(join(home.bridgeHome, "jobs.json"), "utf8")).jobs[0];
  assert.deepEqual([job().status, job().finishedAt], ["running", null]);
  await home.recover();
  const left = home.records(id).filter(({ kind }) => kind !== "text-delta");
  assert.deepEqual(
    left.slice(before).map(({ seq: _seq, ts: _ts, sessionId: _id, ...fields }) => fields),
    [
      { kind: "permission-resolved", toolCallId: "rm", decision: "cancelled" },
      { kind: "tool-result", toolCallId: "t1", result: null, isError: true },
      { kind: "tool-result", toolCallId: "rm", result: null, isError: true },
      { kind: "turn-end", reason: "awaiting-input" },
      { kind: "usage_snapshot", contextSize: 100, contextUsed: 40, source: "adapter" },
    ],
  );
  const { status, host, finishedAt } = job();
  assert.deepEqual([status, host, finishedAt], ["interrupted", null, home.saved(id).endedAt]);
  const runs = join(home.bridgeHome, "runs");
  const log = readdirSync(runs).find((name) => name.endsWith(".log")) ?? "";
  assert.match(readFileSync(join(runs, log), "utf8"), /\n\d\d:\d\d:\d\d finished after \d+s · interrupted\n$/);
});

test("a run that was only just beginning when its server was killed is shown as interrupted, and so is its job", async (t) => {
  const home = driving(t);
  const { id, kill } = await elsewhere(t, home, ["silent"]);
  await kill();
  // So far it had come: there is a log, and nothing yet that tells who writes it.
  const runs = join(home.bridgeHome, "runs");
  for (const name of readdirSync(runs)) if (name.endsWith(".json")) rmSync(join(runs, name));
  rmSync(join(home.bridgeHome, "jobs.json"));
  assert.equal((await home.runs()).runs[0]?.status, "running");
  await home.recover();
  const { runs: shown, jobs } = await home.runs();
  assert.deepEqual([shown[0]?.status, shown[0]?.job], ["interrupted", `fake-job-${id.slice(-8)}`]);
  assert.equal(jobs[`fake-job-${id.slice(-8)}`]?.status, "interrupted");
});

for (const [what, spoil, advice] of [
  [
    "damaged",
    (file: string) => writeFileSync(file, "{"),
    /sessions\.json is damaged and is left as it is: move it away/,
  ],
  ["of a newer version", (file: string) => writeFileSync(file, '{"version":2}'), /written by a newer agent-bridge/],
  ["no file", inTheWay, /sessions\.json/],
] as const) {
  test(`with a sessions.json that is ${what}, sessions that run go on, and starting one is refused with what to do`, async (t) => {
    const home = driving(t, [], { isLossy: true });
    const { id } = await home.turn(["say x"]);
    await until(() => home.saved(id).status === "idle");
    const file = join(home.bridgeHome, "sessions.json");
    const before = readFileSync(file);
    spoil(file);
    assert.equal(await home.prompt(id, "say y"), "completed");
    assert.deepEqual(
      (await home.sessions.list()).map((session) => session.id),
      [id],
    );
    await assert.rejects(home.start(), conflict(advice));
    assert.deepEqual((await home.sessions.list()).length, 1);
    assert.equal((await home.sessions.stop(id)).status, "ended");
    assert.match(home.warned.join("\n"), advice);
    assert.equal(home.text(id), "xy");
    // Put back, it serves again.
    rmSync(file, { recursive: true });
    writeFileSync(`${file}.back`, before);
    renameSync(`${file}.back`, file);
    await home.start();
  });
}

test("in a home that can't be written, sessions that run go on, and starting one is refused with what to do", async (t) => {
  const home = driving(t, [], { isLossy: true });
  const { id } = await home.turn(["say x"]);
  await withoutPrivilege(async () => {
    await assert.rejects(home.start(), {
      kind: "conflict",
      // Which of the two files there is looked at first depends on what was written a moment before.
      message:
        /^the session was not started: (sessions\.json can't be looked at: see to the permissions of its folder|agent-bridge's own folder can't be written: see --home and AGENT_BRIDGE_HOME)$/,
    });
  });
  assert.equal(await home.prompt(id, "say y"), "completed");
});

test("ten sessions of all kinds in mid-work are ended at once, and nothing is left of them", async (t) => {
  const home = driving(t, [], { agents: { stubborn: ["ignore-term", "ignore-eof", "ignore-cancel"] } });
  const begun = await Promise.all([
    ...Array.from({ length: 4 }, () => home.begin(["say x", "silent"])),
    ...Array.from({ length: 3 }, () => home.begin(["grandchild detached stubborn", "hang"], { agent: "stubborn" })),
    ...Array.from({ length: 3 }, () => home.begin(["flood 1000000"])),
  ]);
  await home.sessions.start({ kind: "command", cwd: home.cwd, argv: ["sh", "-c", "trap '' TERM; sleep 1000"] });
  const start = performance.now();
  await home.sessions.close();
  t.diagnostic(`closed within ${Math.round(performance.now() - start)} ms`);
  for (const { id, prompt } of begun) {
    assert.equal((await prompt.ended).reason, "aborted");
    assert.equal(home.saved(id).status, "ended");
  }
  await assert.rejects(home.start(), conflict(/the server is ending/));
  assert.deepEqual(
    (await home.finishedRuns(10)).map(({ status }) => status),
    Array(10).fill("interrupted"),
  );
});

test("sessions that are being started when all are ended do not come up, and leave nothing", async (t) => {
  const home = driving(t);
  const starts = Array.from({ length: 8 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i * 3));
    return home.start({ name: `n${i}` });
  });
  const settled = Promise.allSettled(starts);
  await new Promise((resolve) => setTimeout(resolve, 12));
  await home.sessions.close();
  await settled;
  await until(async () => (await home.sessions.list()).every(({ endedAt }) => endedAt !== undefined));
  assert.deepEqual(await leftOf((await home.sessions.list()).map(({ id }) => id)), []);
});

test("whoever follows the sessions is told when one changes, until they leave", async (t) => {
  const home = driving(t);
  const leaving = new AbortController();
  const changes = home.sessions.changes(leaving.signal)[Symbol.asyncIterator]();
  const first = changes.next();
  const { id } = await home.start();
  assert.equal((await first).done, false);
  await changes.next();
  const next = changes.next();
  await home.sessions.prompt(id, "say x");
  assert.equal((await next).done, false);
  leaving.abort();
  assert.equal((await changes.next()).done, true);
});

function inTheWay(file: string): void {
  rmSync(file);
  mkdirSync(file);
}

function conflict(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.kind === "conflict" && message.test(error.message);
}
