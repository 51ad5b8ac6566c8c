import assert from "node:assert/strict";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { COMMANDS } from "../../src/commands/commands.ts";
import { run } from "../../src/commands/run.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { fixtureHome, inventoryOf, put } from "../runs/home.ts";
import { until } from "../support/turns.ts";
import { type FakeTerminal, fakeContext, fakeTerminal } from "./fake.ts";

process.env.TZ = "UTC";

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs commands over the home of the fixture. */
function overFixture(t: TestContext): (words: readonly string[], columns?: number) => Promise<Ran> {
  const { home, now } = fixtureHome(t);
  return async (words, columns) => {
    const context = fakeContext([], {
      terminal: fakeTerminal(columns),
      clock: { now: () => now },
      environment: () => environmentFrom({ home: "/home/dev", platform: "linux", bridgeHome: home }),
      bridge: { runs: () => inventoryOf(home, now, { alive: ({ pid }) => pid === 4242 }) },
    });
    const code = await run(context, COMMANDS, words);
    return { code, ...context.terminal.written };
  };
}

test("runs lists the latest runs, in the width of the terminal", async (t) => {
  const { code, out, err } = await overFixture(t)(["runs", "--limit", "4"], 90);
  assert.equal(code, 0);
  assert.deepEqual(out.split("\n"), [
    "NAME                                   STATUS       UPDATED  BY           TASK",
    "2026-10-06-08-59-00-claude-1234abcd    running      now      codex-shop   Go on.",
    "2026-10-06-08-58-30-codex-5678abcd     interrupted  1 min    claude-shop  Start.",
    "2026-10-06-08-00-00-codex-0000beef     interrupted  2 min    claude-shop  Start.",
    "2026-10-05-14-10-00-opencode-0badf00d  interrupted  18 h     you          What does the l…",
    "",
  ]);
  assert.equal(err, "14 more; --limit 18 lists all\n");
});

test("runs --json prints what the API does", async (t) => {
  const ran = overFixture(t);
  const { runs, total } = JSON.parse((await ran(["runs", "ls", "--json", "--limit", "2"])).out);
  assert.deepEqual([runs.length, total, runs[0].name], [2, 18, "2026-10-06-08-59-00-claude-1234abcd"]);
  assert.equal(JSON.parse((await ran(["runs", "show", "nightly", "--json"])).out).agent, "hermes");
});

test("a run is named by its name, its beginning or its end", async (t) => {
  const ran = overFixture(t);
  for (const name of ["nightly", "night", "claude-00c0ffee", "00c0ffee", "codex-job-0ld00001"]) {
    assert.equal((await ran(["runs", "show", name])).code, 0, name);
  }
  assert.match(
    (await ran(["runs", "show", "2026-10-06"])).err,
    /"2026-10-06" may be 2026-10-06-08-59-00-claude-1234abcd, /,
  );
  assert.deepEqual([(await ran(["runs", "show", "2026-10-06"])).code, (await ran(["runs", "log", "x"])).code], [2, 2]);
});

test("show prints every field that says something, times as people read them", async (t) => {
  const { out } = await overFixture(t)(["runs", "show", "codex-job-7e57ab1e"]);
  assert.match(out, /^startedAt +2026-10-03 04:00:00$/m);
  assert.match(out, /^status +interrupted$/m);
  assert.match(out, /^worktree +\{"repoRoot":"\/srv\/shop"/m);
  assert.doesNotMatch(out, /^(?:finishedAt|continues|header) /m);
});

test("log prints a run's log as it is; of a recovered job it says that it is lost", async (t) => {
  const ran = overFixture(t);
  const { out } = await ran(["runs", "log", "codex-4be1a7d2"]);
  assert.match(out, /^14:05:09 codex \(model-x, effort high\) in \/srv\/shop[\s\S]*finished after 173s · done\n$/);
  const lost = await ran(["runs", "log", "codex-job-0ld00001"]);
  assert.deepEqual([lost.code, lost.out], [0, ""]);
  assert.match(lost.err, /is lost/);
  assert.deepEqual(await ran(["runs", "tail", "codex-job-0ld00001"]), lost);
});

test("a folder that can't be listed is no empty one: what can be shown is, and the exit code tells", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "jobs.json", [{ name: "there", startedAt: 1 }]);
  put(home, "runs", "a file");
  const ran = async (...words: string[]): Promise<Ran> => {
    const context = fakeContext([], { bridge: { runs: () => inventoryOf(home, 0) } });
    return { code: await run(context, COMMANDS, words), ...context.terminal.written };
  };
  const told = `agent-bridge: ${home}/runs: folder that can't be listed (ENOTDIR), so what is in it is missing here\n`;
  for (const words of [["runs"], ["runs", "--json"], ["jobs"], ["jobs", "--json"]]) {
    const { code, out, err } = await ran(...words);
    assert.deepEqual([code, /there/.test(out), err], [1, true, told], words.join(" "));
  }
  for (const words of [
    ["runs", "show", "x"],
    ["runs", "tail", "x"],
    ["jobs", "show", "x"],
  ]) {
    assert.deepEqual(await ran(...words), { code: 1, out: "", err: told }, words.join(" "));
  }
  assert.equal((await ran("runs", "show", "there")).code, 0);
  rmSync(join(home, "runs"));
  assert.deepEqual([(await ran("runs")).code, (await ran("runs", "show", "x")).code], [0, 2]);
  assert.deepEqual([(await ran("runs", "show", "")).code, (await ran("jobs", "show", "")).code], [2, 2]);
});

test("options of one word of runs and jobs are refused by the others", async (t) => {
  const ran = overFixture(t);
  const refused: readonly (readonly string[])[] = [
    ["runs", "ls", "--follow"],
    ["runs", "-n", "3"],
    ["runs", "show", "nightly", "--limit", "2"],
    ["runs", "show", "nightly", "-f"],
    ["runs", "log", "nightly", "--lines", "0"],
    ["runs", "tail", "nightly", "--limit", "2"],
    ["jobs", "show", "nightly-job", "--limit", "2"],
  ];
  for (const words of refused) {
    const { code, out, err } = await ran(words);
    assert.deepEqual([code, out], [2, ""], words.join(" "));
    assert.match(err, /^agent-bridge: (?:runs|jobs) \w+ takes no --\w+: it is for (?:runs|jobs) \w+/, words.join(" "));
  }
  assert.equal((await ran(["runs", "log", "-f", "x"])).err.split(": ")[2], "it is for runs tail\n");
});

test("tail prints the last lines", async (t) => {
  const ran = overFixture(t);
  const tail = async (lines: string): Promise<string> =>
    (await ran(["runs", "tail", "-n", lines, "codex-4be1a7d2"])).out;
  assert.equal(await tail("1"), "14:08:02 finished after 173s · done\n");
  assert.equal((await tail("3")).split("\n").length, 4);
  assert.equal(await tail("0"), "");
  const { out } = await ran(["runs", "log", "codex-4be1a7d2"]);
  assert.equal(await tail("1000"), out);
  for (const words of [["log"], ["tail", "-n", "1000"]]) {
    const { out: json } = await ran(["runs", ...words, "--json", "codex-4be1a7d2"]);
    const texts = json.trimEnd().split("\n");
    assert.equal(texts.map((line) => JSON.parse(line).text).join(""), out);
  }
  assert.equal((await ran(["runs", "tail", "-n", "0", "--json", "codex-4be1a7d2"])).out, "");
});

test("tail -f goes on with what is written, until the run has ended", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const log = put(home, "runs/x.log", "14:05:09 codex in /srv, access edit, by you\n14:05:10 started\n");
  const clock = { now: () => Date.now() as EpochMs };
  const terminal: FakeTerminal = fakeTerminal();
  const timer = { after: (_ms: number, task: () => void) => clearImmediate.bind(undefined, setImmediate(task)) };
  const context = fakeContext([], {
    terminal,
    clock,
    untilInterrupted: () => t.signal,
    bridge: { timer, runs: () => inventoryOf(home, 0, { clock }) },
  });
  const done = run(context, COMMANDS, ["runs", "tail", "-f", "-n", "1", "x"]);
  await until(() => terminal.written.out.includes("started"));
  appendFileSync(log, "14:05:11 説");
  await until(() => terminal.written.out.includes("説"));
  appendFileSync(log, "明\n14:05:12 finished after 3s · done\n");
  assert.equal(await done, 0);
  assert.equal(terminal.written.out, "14:05:10 started\n14:05:11 説明\n14:05:12 finished after 3s · done\n");
});

test("tail -f of a run whose log goes away waits for it, then says so and exits 1", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const log = put(home, "runs/x.log", "14:05:09 codex in /srv, access edit, by you\n14:05:10 started\n");
  const clock = { now: () => Date.now() as EpochMs };
  const terminal: FakeTerminal = fakeTerminal();
  const timer = { after: (_ms: number, task: () => void) => clearImmediate.bind(undefined, setImmediate(task)) };
  const context = fakeContext([], {
    terminal,
    clock,
    untilInterrupted: () => t.signal,
    bridge: { timer, runs: () => inventoryOf(home, 0, { clock }) },
  });
  const done = run(context, COMMANDS, ["runs", "tail", "-f", "x"]);
  await until(() => terminal.written.out.includes("started"));
  rmSync(log);
  assert.equal(await done, 1);
  assert.equal(terminal.written.err, "agent-bridge: the run is gone, so nothing more will come of it\n");
});

test("on a terminal nothing of a log can act", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "runs/x.log", "14:05:09 codex in /srv, access edit, by you\n14:05:10 a\u001b[2Jb\n");
  const context = fakeContext([], { terminal: fakeTerminal(80), bridge: { runs: () => inventoryOf(home, 0) } });
  await run(context, COMMANDS, ["runs", "log", "x"]);
  assert.equal(context.terminal.written.out.split("\n")[1], "14:05:10 ab");
});

test("jobs lists every job, and shows one", async (t) => {
  const ran = overFixture(t);
  const { out, err } = await ran(["jobs", "--limit", "2"], 80);
  assert.deepEqual(out.split("\n"), [
    "NAME                 STATUS       STARTED  BY           PROMPT",
    "claude-job-1234abcd  running      1 min    codex-shop   Go on.",
    "codex-job-5678abcd   interrupted  1 min    claude-shop  Start.",
    "",
  ]);
  assert.equal(err, "7 more; --limit 9 lists all\n");
  assert.equal(JSON.parse((await ran(["jobs", "ls", "--json"])).out).total, 9);
  assert.equal(JSON.parse((await ran(["jobs", "show", "nightly-job", "--json"])).out).status, "interrupted");
  assert.equal((await ran(["jobs", "show", "nobody"])).code, 2);
});

test("what is no use of them is refused", async (t) => {
  const ran = overFixture(t);
  for (const words of [
    "runs show",
    "runs log",
    "runs tail",
    "runs watch",
    "runs ls x",
    "jobs show",
    "jobs log x",
    "jobs ls x",
  ]) {
    const { code, err } = await ran(words.split(" "));
    assert.deepEqual([code, err.split("\n").length], [2, 2], words);
  }
});

test("where there is nothing, runs and jobs say so", async (t) => {
  const home = join(temporaryFolder(t), "none");
  for (const [word, said] of [
    ["runs", "There are no runs.\n"],
    ["jobs", "There are no jobs.\n"],
  ]) {
    const context = fakeContext([], { bridge: { runs: () => inventoryOf(home, 0) } });
    assert.equal(await run(context, COMMANDS, [word ?? ""]), 0);
    assert.deepEqual(context.terminal.written, { out: "", err: said });
  }
});

test("where nothing can be shown, runs and jobs do not say that there is nothing", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "jobs.json", '{"jobs":[');
  for (const word of ["runs", "jobs"]) {
    const context = fakeContext([], { bridge: { runs: () => inventoryOf(home, 0) } });
    assert.equal(await run(context, COMMANDS, [word]), 0);
    const err = `There are no ${word} that can be shown; agent-bridge doctor says what is left out.\n`;
    assert.deepEqual(context.terminal.written, { out: "", err });
  }
});

test("doctor names every damaged file, and does not say at its end that nothing is wrong", async (t) => {
  const { home, now } = fixtureHome(t);
  const context = fakeContext([], {
    environment: () => environmentFrom({ home: "/home/dev", platform: "linux", bridgeHome: home }),
    bridge: {
      runs: () => inventoryOf(home, now),
      ownFiles: () => ({
        home: { path: home, found: true },
        key: { found: false },
        config: { found: false, warnings: [] },
      }),
      running: async () => ({ url: "http://127.0.0.1:1", port: 1, pid: 1, bootNonce: "" }),
    },
  });
  assert.equal(await run(context, COMMANDS, ["doctor"]), 0);
  const { out } = context.terminal.written;
  assert.match(out, /^runs {2}14 runs \(4 runs archived, 4 recovered from jobs\), 9 jobs$/m);
  for (const name of [
    "runs/2026-10-05-14-10-00-opencode-0badf00d.json",
    "archive/jobs-1789100000000-0a1b2c3d-4e5f-4a6b-8c7d-8e9fa0b1c2d3.json",
  ]) {
    assert.ok(out.includes(join(home, name)), name);
  }
  assert.match(out, /\nNothing is broken besides what is left out above\.\n$/);
});
