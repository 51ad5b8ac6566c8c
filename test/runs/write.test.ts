import assert from "node:assert/strict";
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { ourIdentity } from "../../src/platform/process-identity.ts";
import { archiveRuns } from "../../src/runs/archive.ts";
import { type RunLog, type RunOutcome, type RunStart, writeRun } from "../../src/runs/write.ts";
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

/** A run that goes on until it is told how it ends. */
interface OpenRun extends RunLog {
  /** Resolves with the run's end being written. */
  finish(outcome: RunOutcome): Promise<unknown>;
}

interface Writing {
  readonly home: string;
  readonly time: FakeTime;
  readonly faults: unknown[];
  start(more?: Partial<RunStart>): Promise<OpenRun>;
  archive(keep: number): Promise<number>;
  log(run: RunLog): string;
  metadata(run: RunLog): object;
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
    start(more) {
      let end: (outcome: RunOutcome) => void = () => {};
      const outcome = new Promise<RunOutcome>((resolve) => {
        end = resolve;
      });
      t.after(() => end("interrupted"));
      return new Promise((resolve, reject) => {
        const tools = { bridgeHome: home, clock: time, timer: time, fault };
        const written = writeRun(tools, { ...START, ...more }, (run) => {
          const finish = (how: RunOutcome): Promise<unknown> => {
            end(how);
            return written;
          };
          resolve({ name: run.name, note: (text) => run.note(text), update: (changes) => run.update(changes), finish });
          return outcome;
        });
        written.catch(reject);
      });
    },
    archive: (keep) => archiveRuns({ bridgeHome: home, clock: time }, keep),
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
    host: ourIdentity(),
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
  await Promise.all([...notes, run.finish("done")]);
  await assert.rejects(run.note("late"), Failure);
  const lines = clockless(log(run)).split("\n").slice(4);
  const expected = Array.from({ length: 50 }, (_, i) => [`hh:mm:ss note ${i}`, "         of two lines"]).flat();
  assert.deepEqual(lines, [...expected, "hh:mm:ss finished after 0s · done", ""]);
});

test("runs of a job in one second get names that follow each other, also when the first is archived", async (t) => {
  const { home, start, archive } = writing(t);
  const first = await start();
  await first.finish("done");
  await archive(0);
  const names = [first, await start(), await start()].map(({ name }) => name);
  symlinkSync("nowhere", join(home, "runs", `${names[2]?.replace(/.$/, "5")}.json`));
  names.push((await start()).name);
  const [stamp] = names.map((name) => name.slice(0, 19));
  assert.deepEqual(
    names,
    ["4be1a7d2", "4be1a7d3", "4be1a7d4", "4be1a7d6"].map((id) => `${stamp}-codex-${id}`),
  );
});

test("the digits of a run go on behind the last there are", async (t) => {
  const { start } = writing(t);
  const names = [await start({ id: "ffffffff" }), await start({ id: "ffffffff" })].map(({ name }) => name.slice(-8));
  assert.deepEqual(names, ["ffffffff", "00000000"]);
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
  const { home, time, start, archive } = writing(t);
  const names: string[] = [];
  for (let i = 0; i < 5; i++) {
    const run = await start();
    names.push(run.name);
    // This process still writes it.
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
  assert.equal(await archive(2), 2);
  const archived = readdirSync(join(home, "runs/archive")).sort();
  assert.deepEqual(archived, [names[0], names[2]].flatMap((name) => [`${name}.json`, `${name}.log`]).sort());
  assert.equal(snapshot(home).length, before - 1);
  assert.deepEqual(await shown(), listed);
  assert.equal(await archive(2), 0);
});

test("archiving writes over nothing, and ends what was broken off", async (t) => {
  const { home, start, archive } = writing(t);
  const run = await start();
  await run.finish("done");
  const taken = put(home, `runs/archive/${run.name}.log`, "older copy");
  assert.equal(await archive(0), 0);
  assert.equal(readFileSync(taken, "utf8"), "older copy");
  rmSync(taken);
  symlinkSync("nowhere", taken);
  assert.equal(await archive(0), 0);
  assert.equal(readlinkSync(taken), "nowhere");
  assert.ok(existsSync(join(home, `runs/${run.name}.log`)));

  const other = writing(t);
  const broken = await other.start();
  await broken.finish("done");
  const text = other.log(broken);
  await other.archive(0);
  put(
    other.home,
    `runs/${broken.name}.json`,
    readFileSync(join(other.home, `runs/archive/${broken.name}.json`), "utf8"),
  );
  rmSync(join(other.home, `runs/archive/${broken.name}.json`));
  await other.archive(0);
  assert.deepEqual(readdirSync(join(other.home, "runs")), ["archive"]);
  assert.equal(readFileSync(join(other.home, `runs/archive/${broken.name}.log`), "utf8"), text);
});

test("a home without runs has nothing to archive", async (t) => {
  assert.equal(await writing(t).archive(0), 0);
});

test("a run whose turn throws has failed with its reason, and the error goes on", async (t) => {
  const { home, time, faults } = writing(t);
  const tools = {
    bridgeHome: home,
    clock: time,
    timer: time,
    fault: (error: unknown): void => void faults.push(error),
  };
  const thrown = new Error("no such model");
  await assert.rejects(
    writeRun(tools, START, async (run) => {
      await run.note("started");
      throw thrown;
    }),
    thrown,
  );
  const [shown] = (await inventoryOf(home, Date.now()).page(undefined)).runs;
  assert.deepEqual(
    [shown?.status, shown?.last, time.pending, faults],
    ["failed", "finished after 0s · failed: no such model", 0, []],
  );
});

test("a run that was never finished is archived as it is once its process is gone and its log quiet", async (t) => {
  const { home, time } = writing(t);
  const name = "2027-01-15-07-00-00-codex-4be1a7d2";
  const log = put(home, `runs/${name}.log`, "14:05:09 codex in /srv, access edit, by you\n", time.now());
  put(home, `runs/${name}.json`, { writer: "agent-bridge", host: { pid: 7, start: "1", boot: "b" } }, time.now());
  put(home, "runs/2027-01-15-07-00-00-codex-00000001.log", "14:05:09 codex in /srv, access edit, by you\n", 1);
  put(home, "runs/2027-01-15-07-00-00-codex-00000001.json", { writer: "agent-bridge" }, 1);
  const before = readFileSync(log, "utf8");
  const tools = { bridgeHome: home, clock: time };
  assert.equal(await archiveRuns({ ...tools, alive: () => false }, 0), 0);
  time.pass(150_000);
  assert.equal(await archiveRuns({ ...tools, alive: ({ pid }) => pid === 7 }, 0), 0);
  assert.equal(await archiveRuns({ ...tools, alive: () => false }, 0), 1);
  assert.equal(readFileSync(join(home, `runs/archive/${name}.log`), "utf8"), before);
  const found = await inventoryOf(home, time.now()).run(name);
  assert.deepEqual([found?.summary.status, found?.summary.archived], ["interrupted", true]);
});

test("a run is running only while the process that writes it is there", async (t) => {
  const { home, time, start } = writing(t);
  const run = await start();
  age(join(home, `runs/${run.name}.log`), time.now());
  const statusIf = async (lives: boolean): Promise<unknown> =>
    (await inventoryOf(home, time.now(), { alive: ({ pid }) => lives && pid === process.pid }).run(run.name))?.summary
      .status;
  assert.deepEqual([await statusIf(true), await statusIf(false)], ["running", "interrupted"]);
});

test("metadata that was taken away is written again as it began, with what has changed", async (t) => {
  const { home, start, metadata } = writing(t);
  const run = await start();
  const begun = metadata(run);
  rmSync(join(home, `runs/${run.name}.json`));
  assert.equal(await run.update({ percent: 40 }), true);
  assert.deepEqual(metadata(run), { ...begun, percent: 40 });
});
