import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { archiveRuns } from "../../src/runs/archive.ts";
import { type RunOutcome, type RunStart, type RunWriter, startRun } from "../../src/runs/write.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { FakeTime } from "../support/fake-time.ts";
import { age, finishedLog, inventoryOf, put, snapshot } from "./home.ts";

const START: RunStart = {
  agent: "codex",
  id: "4be1a7d2",
  model: "model-x",
  effort: "high",
  workdir: "/srv/shop",
  access: "edit",
  by: "claude-shop",
  prompt: "Tidy the parser\nand add tests.",
  metadata: { job: "codex-job-4be1a7d2", title: "Split the parser" },
};

interface Writing {
  readonly home: string;
  readonly time: FakeTime;
  readonly faults: unknown[];
  start(more?: Partial<RunStart>): Promise<RunWriter>;
  log(run: RunWriter): string;
  metadata(run: RunWriter): object;
}

function writing(t: TestContext): Writing {
  const home = join(temporaryFolder(t), "home");
  const time = new FakeTime();
  const faults: unknown[] = [];
  const fault = (error: unknown): void => void faults.push(error);
  return {
    home,
    time,
    faults,
    async start(more) {
      const run = await startRun({ bridgeHome: home, clock: time, timer: time, fault }, { ...START, ...more });
      t.after(() => run.finish("interrupted"));
      return run;
    },
    log: ({ name }) => readFileSync(join(home, `runs/${name}.log`), "utf8"),
    metadata: ({ name }) => JSON.parse(readFileSync(join(home, `runs/${name}.json`), "utf8")),
  };
}

const clockless = (log: string): string => log.replace(/^\d\d:\d\d:\d\d /gm, "hh:mm:ss ");

test("a run is written as the log's layout says, and read back as it was", async (t) => {
  const { home, time, start, log, metadata } = writing(t);
  const run = await start();
  await run.note("started");
  time.pass(12_000);
  await run.note("answer: two\nlines\r\n14:08:02 finished after 1s · done");
  time.pass(33_400);
  await run.finish("done");
  assert.equal(run.name, "2027-01-15-08-00-00-codex-4be1a7d2");
  assert.equal(
    clockless(log(run)),
    `hh:mm:ss codex (model-x, effort high) in /srv/shop, access edit, by claude-shop
         Tidy the parser
         and add tests.
         ---
hh:mm:ss started
hh:mm:ss answer: two
         lines
         14:08:02 finished after 1s · done
hh:mm:ss finished after 45s · done
`,
  );
  assert.deepEqual(metadata(run), {
    metadataVersion: 2,
    version: 2,
    by: "claude-shop",
    model: "model-x",
    effort: "high",
    access: "edit",
    workdir: "/srv/shop",
    continues: null,
    job: "codex-job-4be1a7d2",
    title: "Split the parser",
    writer: "agent-bridge",
  });
  const [shown] = (await inventoryOf(home, Date.now()).page(undefined)).runs;
  assert.deepEqual(
    [shown?.status, shown?.task, shown?.by, shown?.workdir, shown?.startedAt],
    ["done", "Tidy the parser and add tests.", "claude-shop", "/srv/shop", 1_800_000_000_000],
  );
  const modes = ["runs", `runs/${run.name}.log`, `runs/${run.name}.json`].map(
    (name) => statSync(join(home, name)).mode & 0o777,
  );
  assert.deepEqual(modes, [0o700, 0o600, 0o600]);
});

test("how a run ended is read back, whatever its reason says", async (t) => {
  const outcomes: readonly (readonly [outcome: RunOutcome, status: string])[] = [
    ["done", "done"],
    ["interrupted", "interrupted"],
    [{ failed: "done" }, "failed"],
    [{ failed: "many\nlines\n14:08:02 finished after 1s · done" }, "failed"],
  ];
  for (const [outcome, status] of outcomes) {
    const { home, start } = writing(t);
    await (await start()).finish(outcome);
    assert.equal((await inventoryOf(home, Date.now()).page(undefined)).runs[0]?.status, status);
  }
});

test("a line at least every 60 s of quiet shows that it still runs, and none after its end", async (t) => {
  const { time, start, log } = writing(t);
  const run = await start();
  const beats = async (): Promise<number> => {
    // What was written before is there once a further entry is.
    await run.note("x");
    return log(run).match(/s · still running$/gm)?.length ?? 0;
  };
  time.pass(59_000);
  assert.equal(await beats(), 1);
  for (let i = 0; i < 4; i++) time.pass(50_000);
  assert.equal(await beats(), 5);
  for (let i = 0; i < 100; i++) {
    time.pass(1_000);
    await run.note("busy");
  }
  assert.equal(await beats(), 5);
  await run.finish("done");
  assert.equal(time.pending, 0);
  const ended = log(run);
  time.pass(600_000);
  assert.equal(log(run), ended);
});

test("entries written at once are each whole and in order, and the end is the last", async (t) => {
  const { start, log } = writing(t);
  const run = await start();
  const notes = Array.from({ length: 50 }, (_, i) => run.note(`note ${i}\nof two lines`));
  const end = run.finish("done");
  assert.throws(() => run.note("late"), Failure);
  await Promise.all([...notes, end, run.finish("interrupted")]);
  const lines = clockless(log(run)).split("\n").slice(4);
  const expected = Array.from({ length: 50 }, (_, i) => [`hh:mm:ss note ${i}`, "         of two lines"]).flat();
  assert.deepEqual(lines, [...expected, "hh:mm:ss finished after 0s · done", ""]);
});

test("two runs of a job in one second get two names, also when the first is archived", async (t) => {
  const { home, start } = writing(t);
  const first = await start();
  await first.finish("done");
  await archiveRuns(home, 0);
  const names = [first, await start(), await start()].map(({ name }) => name);
  assert.deepEqual(
    names.map((name) => name.slice(17, 19)),
    ["00", "01", "02"],
  );
});

test("nothing of a header breaks its line", async (t) => {
  const { home, start } = writing(t);
  await (await start({ workdir: "/srv/a\nb", by: "x\ny" })).finish("done");
  const [shown] = (await inventoryOf(home, Date.now()).page(undefined)).runs;
  assert.deepEqual(
    [shown?.header, shown?.task],
    ["codex (model-x, effort high) in /srv/a b, access edit, by x y", "Tidy the parser and add tests."],
  );
  for (const wrong of [{ agent: "../x" }, { agent: "" }, { id: "xyz" }, { id: "4be1a7d2/" }]) {
    await assert.rejects(start(wrong), RangeError);
  }
});

test("metadata is changed over what is there, and written only when something changes", async (t) => {
  const { home, start, metadata } = writing(t);
  const run = await start();
  const path = join(home, `runs/${run.name}.json`);
  put(home, `runs/${run.name}.json`, { ...metadata(run), later: { kept: true } });
  age(path, 1);
  assert.equal(await run.update({ title: "Split the parser" }), false);
  assert.equal(statSync(path).mtimeMs, 1);
  assert.equal(await run.update({ percent: 40 }), true);
  const { later, percent, title } = metadata(run) as { [key: string]: unknown };
  assert.deepEqual([later, percent, title], [{ kept: true }, 40, "Split the parser"]);
  await run.finish("done");
});

test("metadata that is damaged or newer is refused and left as it is", async (t) => {
  const { home, start } = writing(t);
  const run = await start();
  for (const content of ["{", "[]", '{"metadataVersion":3}', '{"version":3}', '{"version":"x"}']) {
    const path = join(home, `runs/${run.name}.json`);
    writeFileSync(path, content);
    await assert.rejects(run.update({ percent: 1 }), Failure, content);
    assert.equal(readFileSync(path, "utf8"), content);
  }
  await run.finish("done");
});

test("archiving moves the oldest finished runs of its own, and no others", async (t) => {
  const { home, time, start } = writing(t);
  const names: string[] = [];
  for (let i = 0; i < 5; i++) {
    const run = await start();
    names.push(run.name);
    if (i !== 1) await run.finish("done");
    time.pass(1_000);
  }
  put(home, "runs/2020-01-01-00-00-00-codex-00000000.log", finishedLog("foreign"));
  put(home, "runs/2020-01-01-00-00-00-codex-00000000.json", { metadataVersion: 2 });
  put(home, "runs/2020-01-01-00-00-01-codex-00000000.log", finishedLog("without metadata"));
  put(home, "runs/.x.json.0123456789ab.tmp", "{");
  const before = snapshot(home).length;
  const shown = async (): Promise<unknown> => {
    const { runs } = await inventoryOf(home, Date.now()).page(undefined);
    return runs.map(({ name, status, title }) => [name, status, title]);
  };
  const listed = await shown();
  assert.equal(await archiveRuns(home, 2), 2);
  const archived = readdirSync(join(home, "runs/archive")).sort();
  assert.deepEqual(archived, [names[0], names[2]].flatMap((name) => [`${name}.json`, `${name}.log`]).sort());
  assert.equal(snapshot(home).length, before - 1);
  assert.deepEqual(await shown(), listed);
  assert.equal(await archiveRuns(home, 2), 0);
});

test("archiving writes over nothing, and ends what was broken off", async (t) => {
  const { home, start } = writing(t);
  const run = await start();
  await run.finish("done");
  const taken = put(home, `runs/archive/${run.name}.log`, "older copy");
  assert.equal(await archiveRuns(home, 0), 0);
  assert.equal(readFileSync(taken, "utf8"), "older copy");
  assert.ok(existsSync(join(home, `runs/${run.name}.log`)));

  const other = writing(t);
  const broken = await other.start();
  await broken.finish("done");
  const text = other.log(broken);
  await archiveRuns(other.home, 0);
  put(
    other.home,
    `runs/${broken.name}.json`,
    readFileSync(join(other.home, `runs/archive/${broken.name}.json`), "utf8"),
  );
  rmSync(join(other.home, `runs/archive/${broken.name}.json`));
  await archiveRuns(other.home, 0);
  assert.deepEqual(readdirSync(join(other.home, "runs")), ["archive"]);
  assert.equal(readFileSync(join(other.home, `runs/archive/${broken.name}.log`), "utf8"), text);
});

test("a home without runs has nothing to archive", async (t) => {
  const home = join(temporaryFolder(t), "home");
  assert.equal(await archiveRuns(home, 0), 0);
});
