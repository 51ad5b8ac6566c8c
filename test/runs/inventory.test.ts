import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../src/platform/failure.ts";
import type { RunInventory } from "../../src/runs/inventory.ts";
import { parseRunCursor } from "../../src/runs/page.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { nextOf } from "../support/turns.ts";
import { age, countingDisk, finishedLog, fixtureHome, inventoryOf, Moment, put } from "./home.ts";

const NOW = Date.UTC(2026, 9, 6, 9);
const OLD = NOW - 3_600_000;

const stamped = (index: number): string =>
  new Date(OLD + index * 1000).toISOString().slice(0, 19).replace(/[T:]/g, "-");
const hex = (index: number): string => index.toString(16).padStart(8, "0");

/** A home of `count` finished runs, a second between each and the next. */
function homeOf(t: TestContext, count: number): string {
  const home = join(temporaryFolder(t), "home");
  for (let i = 0; i < count; i++) putRun(home, `${stamped(i)}-codex-${hex(i)}`);
  settle(home);
  return home;
}

function putRun(home: string, name: string, metadata: object = { metadataVersion: 2 }): void {
  put(home, `runs/${name}.log`, finishedLog(name), OLD);
  put(home, `runs/${name}.json`, metadata, OLD);
}

/** Makes the folders old, so that what they list can be trusted. */
function settle(home: string): void {
  for (const folder of ["runs/archive", "archive", "runs", ""]) {
    mkdirSync(join(home, folder), { recursive: true });
    age(join(home, folder), OLD);
  }
}

const names = async (inventory: RunInventory): Promise<string[]> =>
  (await inventory.page(undefined, 500)).runs.map(({ name }) => name);

test("an unchanged poll opens no file and lists no folder", async (t) => {
  const { home, now } = fixtureHome(t);
  const disk = countingDisk();
  const inventory = inventoryOf(home, now, { disk });
  const first = await inventory.overview();
  Object.assign(disk.count, { lists: 0, opens: 0, stamps: 0 });
  assert.deepEqual(await inventory.overview(), first);
  assert.deepEqual(await inventory.page(undefined, 500), await inventory.page(undefined, 500));
  await inventory.run("nightly");
  await inventory.job("nightly-job");
  assert.deepEqual([disk.count.opens, disk.count.lists], [0, 0]);
});

test("of 2,000 runs the first page reads the files of that page; the next poll asks those files alone", async (t) => {
  const home = homeOf(t, 2_000);
  const disk = countingDisk();
  const clock = new Moment(NOW);
  const inventory = inventoryOf(home, NOW, { disk, clock });
  const page = await inventory.page(undefined);
  assert.deepEqual(
    [page.runs.length, page.total, page.runs[0]?.task],
    [50, 2_000, `${stamped(1999)}-codex-${hex(1999)}`],
  );
  assert.deepEqual([disk.count.opens, disk.count.lists], [100, 4]);
  Object.assign(disk.count, { lists: 0, opens: 0, stamps: 0 });
  await inventory.page(undefined);
  assert.deepEqual(disk.count, { lists: 0, opens: 0, stamps: 104 });
});

test("every 10 s all files are asked, so that nothing written to an old log stays unseen", async (t) => {
  const home = homeOf(t, 1_001);
  const clock = new Moment(NOW);
  const inventory = inventoryOf(home, NOW, { clock });
  const { total } = await inventory.overview();
  put(home, `runs/${stamped(0)}-codex-${hex(0)}.log`, "14:05:09 codex in /srv, access edit, by you\n", NOW);
  assert.deepEqual((await inventory.overview()).running, []);
  clock.ms += 10_000;
  const { running } = await inventory.overview();
  assert.deepEqual([total, running.map(({ name }) => name)], [1_001, [`${stamped(0)}-codex-${hex(0)}`]]);
});

test("a changed log, changed metadata and a new run are seen at the next poll", async (t) => {
  const home = homeOf(t, 3);
  const inventory = inventoryOf(home, NOW);
  const name = `${stamped(1)}-codex-${hex(1)}`;
  const shown = async (): Promise<unknown> => {
    const run = (await inventory.page(undefined)).runs.find((each) => each.name === name);
    return [run?.status, run?.title];
  };
  assert.deepEqual(await shown(), ["done", undefined]);
  put(home, `runs/${name}.json`, { title: "now with a title" }, OLD + 1);
  put(home, `runs/${name}.log`, finishedLog("x", "no such model"), OLD + 1);
  assert.deepEqual(await shown(), ["failed", "now with a title"]);
  rmSync(join(home, `runs/${name}.log`));
  assert.equal((await names(inventory)).includes(name), false);
});

test("a run without an end is running for 150 s, unless its process is known to be gone", async (t) => {
  const home = homeOf(t, 0);
  const log = "14:05:09 codex in /srv, access edit, by you\n";
  put(home, `runs/${stamped(0)}-codex-${hex(0)}.log`, log, NOW);
  put(home, `runs/${stamped(1)}-codex-${hex(1)}.log`, log, NOW);
  put(home, "jobs.json", {
    version: 2,
    jobs: [{ id: hex(1), name: "j1", agent: "codex", status: "running", host: { pid: 4242, start: "77", boot: "b" } }],
  });
  const clock = new Moment(NOW);
  const asked: unknown[] = [];
  let lives = true;
  const alive = (process: unknown): boolean => {
    asked.push(process);
    return lives;
  };
  const inventory = inventoryOf(home, NOW, { clock, alive });
  const statuses = async (): Promise<string[]> => (await inventory.overview()).runs.map(({ status }) => status);
  assert.deepEqual(await statuses(), ["running", "running"]);
  assert.deepEqual(asked[0], { pid: 4242, start: "77", boot: "b" });
  lives = false;
  assert.deepEqual(await statuses(), ["interrupted", "running"]);
  assert.equal((await inventory.overview()).jobs.j1?.status, "interrupted");
  lives = true;
  const { generation } = inventory;
  clock.ms += 150_000;
  assert.deepEqual(await statuses(), ["interrupted", "interrupted"]);
  assert.ok(inventory.generation > generation);
});

test("that the process of a run is gone is told as a change of the run", async (t) => {
  const home = homeOf(t, 0);
  const name = `${stamped(0)}-codex-${hex(0)}`;
  put(home, `runs/${name}.log`, "14:05:09 codex in /srv, access edit, by you\n", NOW);
  put(home, `runs/${name}.json`, { host: { pid: 4242, start: "77", boot: "b" } }, NOW);
  let lives = true;
  const inventory = inventoryOf(home, NOW, { alive: () => lives });
  await inventory.look();
  await inventory.look();
  const { generation } = inventory;
  await inventory.look();
  assert.equal(inventory.generation, generation);
  const next = nextOf(inventory.changes(t.signal)[Symbol.asyncIterator]());
  lives = false;
  await inventory.look();
  assert.deepEqual([(await next).ids, (await inventory.overview()).runs[0]?.status], [[name], "interrupted"]);
});

test("a time far ahead proves nothing", async (t) => {
  const home = homeOf(t, 0);
  put(home, "runs/x.log", "14:05:09 codex in /srv, access edit, by you\n", NOW + 150_000);
  assert.equal((await inventoryOf(home, NOW).overview()).runs[0]?.status, "interrupted");
});

test("running runs that are older than the page stand beside it, with their jobs", async (t) => {
  const home = homeOf(t, 60);
  const name = `${stamped(3)}-codex-${hex(3)}`;
  put(home, `runs/${name}.log`, "14:05:09 codex in /srv, access edit, by you\n", NOW - 1000);
  put(home, `runs/${name}.json`, { job: "the-job" }, NOW - 1000);
  put(
    home,
    "jobs.json",
    {
      version: 2,
      jobs: [
        { name: "the-job", status: "running" },
        { name: "other", status: "done" },
      ],
    },
    OLD,
  );
  const { runs, running, next, total, jobs } = await inventoryOf(home, NOW).overview();
  assert.deepEqual(
    [runs.length, total, running.map((run) => run.name), Object.keys(jobs)],
    [50, 61, [name], ["the-job"]],
  );
  assert.equal(jobs["the-job"]?.status, "running");
  const rest = await inventoryOf(home, NOW).page(parseRunCursor(next ?? ""));
  assert.deepEqual([rest.runs.length, rest.next], [11, null]);
});

test("a recovered job that gets its log is shown once, by name, by metadata, or under its own name", async (t) => {
  const logs: readonly (readonly [log: string, metadata?: object])[] = [
    ["2026-10-06-08-30-00-codex-4be1a7d2"],
    ["undated-codex-4be1a7d2"],
    ["2026-10-06-08-30-00-codex-11111111", { job: "codex-job-4be1a7d2" }],
    ["codex-job-4be1a7d2"],
  ];
  for (const [log, metadata] of logs) {
    const home = homeOf(t, 1);
    put(home, "jobs.json", [{ id: "4be1a7d2", name: "codex-job-4be1a7d2", agent: "codex", startedAt: OLD }], OLD);
    const inventory = inventoryOf(home, NOW);
    assert.deepEqual((await names(inventory)).includes("codex-job-4be1a7d2"), true);
    if (metadata !== undefined) put(home, `runs/${log}.json`, metadata, OLD);
    put(home, `runs/${log}.log`, finishedLog("x"), OLD);
    const run = (await inventory.page(undefined)).runs.find((each) => each.name === log);
    assert.deepEqual(
      [(await names(inventory)).length, run?.recovered, run?.job],
      [2, false, "codex-job-4be1a7d2"],
      log,
    );
  }
});

test("a job with its id inside another's name is still recovered", async (t) => {
  const home = homeOf(t, 0);
  put(home, "runs/2026-10-06-08-30-00-codex-4be1a7d2.log", finishedLog("x"), OLD);
  const job = { id: "4be1a7d2", name: "claude-job-4be1a7d2", agent: "claude" };
  put(home, "jobs.json", { version: 2, jobs: [job, { ...job, name: "x", id: "e1a7d2", agent: "codex" }] }, OLD);
  assert.deepEqual((await names(inventoryOf(home, NOW))).slice(1), ["x", "claude-job-4be1a7d2"]);
});

test("a home that is not there has no runs, and is not made", async (t) => {
  const home = join(temporaryFolder(t), "none");
  const inventory = inventoryOf(home, NOW);
  assert.deepEqual(await inventory.page(undefined), { runs: [], next: null, total: 0 });
  assert.deepEqual(await inventory.report(), { runs: 0, archived: 0, recovered: 0, jobs: 0, skipped: [] });
  putRun(home, "later");
  assert.deepEqual(await names(inventory), ["later"]);
});

test("a newer null hides no older session id, and the newest session counts", async (t) => {
  const home = homeOf(t, 0);
  const job = (more: object): object => ({ version: 2, jobs: [{ name: "j", agent: "codex", ...more }] });
  put(home, "archive/jobs-1-a.json", job({ threadId: "oldest" }), OLD);
  put(home, "archive/jobs.json-2-a", job({ sessionId: "older", model: "m" }), OLD);
  put(home, "jobs.json.backup-3-a", job({ sessionId: null, threadId: null, model: null }), OLD);
  const inventory = inventoryOf(home, NOW);
  assert.deepEqual((await inventory.run("j"))?.session, "older");
  assert.equal((await inventory.run("j"))?.summary.model, null);
  put(home, "jobs.json", job({ threadId: "newest", sessionId: null }), OLD);
  assert.deepEqual((await inventory.run("j"))?.session, "newest");
});

test("archives count by their numbers, those without by their age, and jobs.json last", async (t) => {
  const home = homeOf(t, 0);
  const said = (title: string): object => ({ version: 2, jobs: [{ name: "j", title, [title]: true }] });
  put(home, "archive/jobs-retained.json", said("by age"), 1_500);
  put(home, "archive/jobs-1000-a.json", said("first"), OLD);
  put(home, "archive/jobs.json.overflow.json-1400-a", said("second"), OLD);
  put(home, "archive/jobs.json-1600-a", said("fourth"), 1);
  const inventory = inventoryOf(home, NOW);
  const title = async (): Promise<unknown> => (await inventory.run("j"))?.summary.title;
  assert.equal(await title(), "fourth");
  assert.deepEqual(Object.keys((await inventory.jobs())[0] ?? {}), [
    "name",
    "title",
    "first",
    "second",
    "by age",
    "fourth",
    "status",
  ]);
  put(home, "jobs.json", said("active"), 1);
  assert.equal(await title(), "active");
});

test("a job that only metadata tells of is found, with the session of its newest run that has one", async (t) => {
  const home = homeOf(t, 0);
  putRun(home, `${stamped(1)}-codex-${hex(1)}`, { job: "lost", session: "s-1" });
  putRun(home, `${stamped(2)}-codex-${hex(2)}`, { job: "lost", session: "s-2" });
  putRun(home, `${stamped(3)}-codex-${hex(3)}`, { job: "lost" });
  put(home, "jobs.json", [{ name: "known", agent: "claude", status: "done" }], OLD);
  putRun(home, `${stamped(4)}-claude-${hex(4)}`, { job: "known", sessionId: "s-4" });
  const inventory = inventoryOf(home, NOW);
  const found = async (name: string): Promise<unknown> => {
    const job = await inventory.job(name);
    return job && [job.agent, job.session, job.summary.status];
  };
  assert.deepEqual(await found("lost"), ["codex", "s-2", "done"]);
  assert.deepEqual(await found("known"), ["claude", "s-4", "done"]);
  assert.equal(await found("never"), undefined);
});

test("a walk sees every run exactly once while runs arrive and are archived in both layouts", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.tuple(fc.nat(11), fc.constantFrom("current", "older", "log alone", "arrive")), { maxLength: 30 }),
      async (limit, moves) => {
        const home = homeOf(t, 12);
        for (const i of [3, 4, 5]) putRun(home, `${stamped(3)}-claude-${hex(i)}`);
        put(home, "runs/undated-a.log", finishedLog("a"), OLD + 3_000.5);
        put(home, "runs/undated-b.log", finishedLog("b"), OLD + 3_000.75);
        const inventory = inventoryOf(home, NOW);
        const start = await names(inventory);
        assert.equal(start.length, 17);
        const seen: string[] = [];
        let arrived = 100;
        for (let before: string | null = ""; before !== null; ) {
          const page = await inventory.page(before === "" ? undefined : parseRunCursor(before), limit);
          seen.push(...page.runs.map(({ name }) => name));
          before = page.next;
          for (const [index, kind] of moves.splice(0, 3)) {
            if (kind === "arrive") putRun(home, `${stamped(arrived)}-codex-${hex(arrived++)}`);
            else archive(home, start[index] ?? "", kind);
          }
        }
        assert.deepEqual(seen, start);
        assert.deepEqual((await names(inventory)).length, 17 + arrived - 100);
      },
    ),
    { numRuns: 25 },
  );
});

function archive(home: string, name: string, kind: string): void {
  const suffix = (number: number): string => (kind === "current" ? "" : `-${number}-${hex(number)}`);
  const move = (ending: string, number: number): void => {
    try {
      renameSync(join(home, `runs/${name}.${ending}`), join(home, `runs/archive/${name}.${ending}${suffix(number)}`));
    } catch {
      // It was archived before, or has no metadata.
    }
  };
  move("log", 1790000200000);
  if (kind !== "log alone") move("json", 1790000200417);
}

test("whoever asks at the same time shares one look", async (t) => {
  const home = homeOf(t, 5);
  const disk = countingDisk();
  const inventory = inventoryOf(home, NOW, { disk });
  await Promise.all([inventory.look(), inventory.look(), inventory.look()]);
  assert.equal(disk.count.lists, 4);
});

test("what changes is told with the names of the runs", async (t) => {
  const home = homeOf(t, 2);
  const inventory = inventoryOf(home, NOW);
  await inventory.look();
  const changes = inventory.changes(t.signal)[Symbol.asyncIterator]();
  const next = nextOf(changes);
  putRun(home, "new-one");
  await inventory.look();
  assert.deepEqual((await next).ids, ["new-one"]);
  const { generation } = inventory;
  settle(home);
  await inventory.look();
  assert.equal(inventory.generation, generation);
});

test("metadata that is written anew is told as a change of its run, also where there are many runs", async (t) => {
  for (const count of [1, 1_001]) {
    const home = homeOf(t, count);
    const name = "2026-10-06-08-59-00-codex-4be1a7d2";
    put(home, `runs/${name}.log`, "14:05:09 codex in /srv, access edit, by you\n", NOW - 1000);
    put(home, `runs/${name}.json`, { percent: 1 }, NOW - 1000);
    const inventory = inventoryOf(home, NOW);
    await inventory.look();
    await inventory.look();
    const { generation } = inventory;
    const next = nextOf(inventory.changes(t.signal)[Symbol.asyncIterator]());
    put(home, `runs/${name}.json.new`, { percent: 2 }, NOW - 500);
    renameSync(join(home, `runs/${name}.json.new`), join(home, `runs/${name}.json`));
    await inventory.look();
    assert.deepEqual([(await next).ids, inventory.generation], [[name], generation + 1]);
  }
});

test("what could not be read for a moment is read again, what is damaged is not", async (t) => {
  const home = homeOf(t, 0);
  putRun(home, "x", { title: "there" });
  put(home, "runs/y.log", finishedLog("y"), OLD);
  put(home, "runs/y.json", "{", OLD);
  put(home, "jobs.json", [{ name: "j", status: "done" }], OLD);
  put(home, "archive/jobs-1-a.json", "{", OLD);
  settle(home);
  const disk = countingDisk();
  let broken = true;
  const open: typeof disk.open = (root, path, use) => {
    if (!broken) return disk.open(root, path, use);
    throw new Failure("failed", "too many files are open; try again in a moment");
  };
  const inventory = inventoryOf(home, NOW, { disk: { ...disk, open } });
  const shown = async (): Promise<unknown> =>
    (await inventory.page(undefined)).runs.map(({ name, title, status }) => [name, title, status]);
  assert.deepEqual(await shown(), [
    ["y", undefined, "interrupted"],
    ["x", undefined, "interrupted"],
  ]);
  broken = false;
  const whole = [
    ["y", undefined, "done"],
    ["x", "there", "done"],
    ["j", null, "done"],
  ];
  assert.deepEqual(await shown(), whole);
  disk.count.opens = 0;
  assert.deepEqual([await shown(), disk.count.opens], [whole, 0]);
});
