import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { RunInventory } from "../../src/runs/inventory.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { age, countingDisk, finishedLog, inventoryOf, Moment, put } from "./home.ts";

const NOW = Date.UTC(2026, 9, 6, 9);
const OLD = NOW - 3_600_000;

const nameOf = (index: number): string =>
  `${new Date(OLD + index * 1000).toISOString().slice(0, 19).replace(/[T:]/g, "-")}-codex-${index.toString(16).padStart(8, "0")}`;

/** A home of `count` runs with metadata, and of `jobs` that have no log. */
function homeOf(t: TestContext, count: number, jobs: readonly string[]): string {
  const home = join(temporaryFolder(t), "home");
  for (let i = 0; i < count; i++) {
    put(home, `runs/${nameOf(i)}.log`, finishedLog("x"), OLD);
    put(home, `runs/${nameOf(i)}.json`, { job: "other" }, OLD);
  }
  put(home, "jobs.json", { version: 2, jobs: jobs.map((name) => ({ name, status: "done", startedAt: NOW })) }, OLD);
  for (const folder of ["runs/archive", "archive", "runs", ""]) {
    mkdirSync(join(home, folder), { recursive: true });
    age(join(home, folder), OLD);
  }
  return home;
}

const shown = async (inventory: RunInventory): Promise<readonly string[]> =>
  (await inventory.page(undefined, 500)).runs.flatMap(({ name, job }) => (job === "lost" ? [name] : []));

/** The stamps that one look asks for. */
async function stampsOf(inventory: RunInventory, disk: ReturnType<typeof countingDisk>): Promise<number> {
  disk.count.stamps = 0;
  await inventory.look();
  return disk.count.stamps;
}

test("an unchanged poll, and one after a log has grown, makes the list not anew, whatever jobs are recovered", async (t) => {
  const home = homeOf(t, 10, ["lost"]);
  const disk = countingDisk();
  const inventory = inventoryOf(home, NOW, { disk });
  assert.deepEqual(await shown(inventory), ["lost"]);
  // Four folders, jobs.json, and the log and the metadata of each run; making the list asks all metadata again.
  const once = 5 + 2 * 10;
  assert.equal(await stampsOf(inventory, disk), once);
  appendFileSync(join(home, `runs/${nameOf(3)}.log`), "14:05:13 and more\n");
  const { generation } = inventory;
  assert.equal(await stampsOf(inventory, disk), once);
  assert.equal(inventory.generation, generation + 1);
  put(home, `runs/${nameOf(4)}.json`, { job: "lost" }, OLD + 1);
  assert.equal(await stampsOf(inventory, disk), once + 10);
  assert.deepEqual(await shown(inventory), [nameOf(4)]);
});

test("of runs that ended lately only the files of the page are asked for more than how they stand", async (t) => {
  const home = homeOf(t, 0, []);
  for (let i = 0; i < 100; i++) put(home, `runs/${nameOf(i)}.log`, finishedLog("x"), NOW - 1_000);
  age(join(home, "runs"), OLD);
  const disk = countingDisk();
  const inventory = inventoryOf(home, NOW, { disk });
  await inventory.look();
  Object.assign(disk.count, { stamps: 0, opens: 0 });
  await inventory.overview();
  // Four folders and jobs.json, each log, and those of the page once more.
  assert.deepEqual([disk.count.stamps, disk.count.opens], [5 + 100 + 50, 0]);
});

test("metadata written twice within the grain of its times is looked at again", async (t) => {
  const home = homeOf(t, 2, ["lost"]);
  const path = join(home, `runs/${nameOf(1)}.json`);
  const stamped = countingDisk();
  const first = stamped.stamp(path);
  assert.ok(first !== undefined);
  const clock = new Moment(Number(first.mtimeNs / 1_000_000n));
  // The stamp stays as it is: the file is written anew within the grain.
  const disk = { ...stamped, stamp: (asked: string) => (asked === path ? first : stamped.stamp(asked)) };
  const inventory = inventoryOf(home, NOW, { disk, clock });
  assert.deepEqual(await shown(inventory), ["lost"]);
  writeFileSync(path, JSON.stringify({ job: "lost" }).padEnd(first.size));
  assert.deepEqual(await shown(inventory), [nameOf(1)]);
});

test("of more than 1,000 logs one whose metadata is written in place takes the place of its recovered job", async (t) => {
  for (const told of [false, true]) {
    const home = homeOf(t, 1_001, ["lost"]);
    const clock = new Moment(NOW);
    const inventory = inventoryOf(home, NOW, { clock });
    assert.deepEqual(await shown(inventory), ["lost"]);
    // One among the newest 500 is found when it is shown; any is when watching tells that it was written.
    const index = told ? 3 : 1_000;
    put(home, `runs/${nameOf(index)}.json`, { job: "lost" }, OLD + 1);
    if (told) inventory.noteWritten(`${nameOf(index)}.json`);
    assert.deepEqual(await shown(inventory), told ? [] : [nameOf(index)]);
    assert.equal((await inventory.page(undefined)).total, 1_001);
    assert.equal((await inventory.run("lost"))?.summary.name, undefined);
    // Written back, the job is recovered again.
    put(home, `runs/${nameOf(index)}.json`, { job: "other" }, OLD + 2);
    clock.ms += 10_000;
    assert.deepEqual(await shown(inventory), ["lost"]);
  }
});

test("of more than 1,000 logs an old one that is written is seen at once when watching tells so", async (t) => {
  const home = homeOf(t, 1_001, []);
  const inventory = inventoryOf(home, NOW);
  await inventory.look();
  const log = `runs/${nameOf(5)}.log`;
  put(home, log, readFileSync(join(home, log), "utf8").replace(/.*finished.*\n/, ""), NOW);
  assert.deepEqual((await inventory.overview()).running, []);
  inventory.noteWritten(`${nameOf(5)}.log`);
  inventory.noteWritten("no run's file");
  assert.deepEqual(
    (await inventory.overview()).running.map(({ name }) => name),
    [nameOf(5)],
  );
});

test("of many archives of jobs none is asked at an unchanged poll, and only a new one is read", async (t) => {
  const home = homeOf(t, 0, []);
  const said = (name: string, title: string): object => ({ version: 2, jobs: [{ name, title }] });
  for (let i = 0; i < 300; i++) put(home, `archive/jobs-${1_000 + i}-a.json`, said(`j-${i}`, "old"), OLD);
  for (const folder of ["archive", ""]) age(join(home, folder), OLD);
  const disk = countingDisk();
  const clock = new Moment(NOW);
  const inventory = inventoryOf(home, NOW, { disk, clock });
  const titleOf = async (name: string): Promise<unknown> => (await inventory.job(name))?.summary.title;
  assert.equal(await titleOf("j-7"), "old");
  // Four folders and jobs.json.
  assert.equal(await stampsOf(inventory, disk), 5);
  disk.count.opens = 0;
  put(home, "archive/jobs-2000-a.json", said("j-7", "new"), OLD);
  // It, and jobs.json once more, which stands above it.
  assert.deepEqual([await titleOf("j-7"), disk.count.opens], ["new", 2]);
  put(home, "archive/jobs-1-a.json", said("j-7", "oldest"), OLD);
  assert.deepEqual([await titleOf("j-7"), (await inventory.jobs()).length], ["new", 300]);
  put(home, "archive/jobs-2000-a.json", said("j-7", "newer"), OLD + 1);
  clock.ms += 10_000;
  assert.equal(await titleOf("j-7"), "newer");
});
