import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { systemDisk } from "../../src/runs/disk.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { finishedLog, inventoryOf, put, snapshot } from "./home.ts";

const NOW = Date.UTC(2026, 9, 6, 9);
const OLD = NOW - 3_600_000;

function newHome(t: TestContext): string {
  const home = join(temporaryFolder(t), "home");
  for (const folder of ["runs/archive", "archive"]) mkdirSync(join(home, folder), { recursive: true });
  return home;
}

/** What is left out, by reason, with the paths below the home. */
async function leftOut(home: string, more: Parameters<typeof inventoryOf>[2] = {}): Promise<object> {
  const { skipped } = await inventoryOf(home, NOW, more).report();
  return Object.fromEntries(skipped.map(({ reason, paths }) => [reason, paths.map((path) => relative(home, path))]));
}

test("what stands where a file belongs and is none is named with what it is, in every folder", async (t) => {
  const places = [
    "jobs.json",
    "jobs.json.backup-1-a",
    "archive/jobs-1-a.json",
    "runs/x.log",
    "runs/archive/y.json-5-a",
  ];
  const outside = put(temporaryFolder(t), "secret", finishedLog("secret"), OLD);
  const kinds: readonly (readonly [what: string, make: (path: string) => void])[] = [
    ["folder", (path) => mkdirSync(path)],
    ["pipe, socket or device", (path) => execFileSync("/usr/bin/env", ["mkfifo", path])],
    ["link that leads nowhere", (path) => symlinkSync(path, path)],
    ["link that leads nowhere", (path) => symlinkSync(`${path}-gone`, path)],
    ["link that leads out of its folder", (path) => symlinkSync(outside, path)],
  ];
  for (const [what, make] of kinds) {
    const home = newHome(t);
    for (const place of places) make(join(home, place));
    assert.deepEqual(await leftOut(home), { [`no file: ${what}`]: [...places].sort() }, what);
  }
});

test("folders and links that have nothing to do with runs or jobs are not missed", async (t) => {
  const home = newHome(t);
  for (const folder of ["cache", "runs/notes", "archive/older"]) mkdirSync(join(home, folder));
  symlinkSync("nowhere", join(home, "something"));
  assert.deepEqual(await leftOut(home), {});
});

test("a file whose name no run can have is named; unfinished files of writers are not", async (t) => {
  const home = newHome(t);
  const long = "x".repeat(129);
  for (const name of [`${long}.log`, `${long}.json`, "a b.log", ".log", "é.json", "x.log-1790000200000-7"]) {
    put(home, `runs/${name}`, finishedLog("x"), OLD);
  }
  put(home, `runs/archive/${long}.log-1-a`, finishedLog("x"), OLD);
  put(home, "runs/.x.json.0123456789ab.tmp", "{", OLD);
  put(home, "runs/notes.txt", "", OLD);
  put(home, `runs/${"y".repeat(128)}.log`, finishedLog("x"), OLD);
  const named = [`${long}.log`, `${long}.json`, "a b.log", ".log", "é.json", "x.log-1790000200000-7"];
  assert.deepEqual(await leftOut(home), {
    "name that no run can have": [...named, `archive/${long}.log-1-a`].map((name) => `runs/${name}`).sort(),
  });
  assert.equal((await inventoryOf(home, NOW).page(undefined)).total, 1);
});

test("files that are listed and can't be asked are named", async (t) => {
  const home = newHome(t);
  put(home, "jobs.json", [{ name: "j" }], OLD);
  put(home, "runs/x.log", finishedLog("x"), OLD);
  const stamp: typeof systemDisk.stamp = (path) => (/\.(?:json|log)$/.test(path) ? undefined : systemDisk.stamp(path));
  assert.deepEqual(await leftOut(home, { disk: { ...systemDisk, stamp } }), {
    "job file that is listed and can't be found or asked": ["jobs.json"],
    "log that is listed and can't be found or asked": ["runs/x.log"],
  });
});

test("what is too long or can't be read is told from what is damaged", async (t) => {
  const home = newHome(t);
  put(home, "runs/x.log", finishedLog("x"), OLD);
  put(home, "runs/x.json", `{"a":"${"x".repeat(1024 * 1024)}"}`, OLD);
  put(home, "runs/y.log", finishedLog("y"), OLD);
  put(home, "runs/y.json", "{", OLD);
  put(home, "archive/jobs-1-a.json", "{", OLD);
  put(home, "jobs.json", [{ name: "j" }], OLD);
  const open: typeof systemDisk.open = (root, path, use) =>
    /y\.log|jobs\.json/.test(path) ? Promise.reject(new Failure("not-found", "no")) : systemDisk.open(root, path, use);
  assert.deepEqual(await leftOut(home, { disk: { ...systemDisk, open } }), {
    "job file that can't be read": ["jobs.json"],
    "job file that is damaged": ["archive/jobs-1-a.json"],
    "log that can't be read": ["runs/y.log"],
    "metadata that is damaged": ["runs/y.json"],
    "metadata that is too long": ["runs/x.json"],
  });
  const inventory = inventoryOf(home, NOW, { disk: { ...systemDisk, open } });
  await assert.rejects(inventory.log("y", 0), /^Failure.*the log of this run can't be read/);
});

test("a home or an archive that can't be listed is named", async (t) => {
  const home = newHome(t);
  const list: typeof systemDisk.list = (folder, breather) =>
    [home, join(home, "archive")].includes(folder)
      ? Promise.reject(Object.assign(new Error("no"), { code: "EACCES" }))
      : systemDisk.list(folder, breather);
  assert.deepEqual(await leftOut(home, { disk: { ...systemDisk, list } }), {
    "folder that can't be listed (EACCES)": ["", "archive"],
  });
});

test("damage of every kind at once costs only what is damaged", async (t) => {
  const home = newHome(t);
  put(home, "jobs.json", '{"version":2,"jobs":[{"na', OLD);
  put(home, "jobs.json.overflow.json", "", OLD);
  put(home, "archive/jobs-1-a.json", { version: 2, jobs: [{ name: "kept", status: "done" }] }, OLD);
  put(home, "archive/jobs-2-a.json", "\u0000\u0001", OLD);
  for (const name of ["a", "b", "c"]) put(home, `runs/${name}.log`, finishedLog(name), OLD);
  put(home, "runs/a.json", "null", OLD);
  put(home, "runs/b.json", "{", OLD);
  mkdirSync(join(home, "runs/folder.log"));
  const outside = put(temporaryFolder(t), "secret.log", finishedLog("secret"), OLD);
  symlinkSync(outside, join(home, "runs/link.log"));
  symlinkSync(outside, join(home, "archive/jobs-3-a.json"));
  const before = snapshot(home);
  const inventory = inventoryOf(home, NOW);
  assert.equal((await inventory.overview()).total, 4);
  assert.deepEqual(
    (await inventory.report()).skipped.map(({ reason, count }) => [reason, count]),
    [
      ["job file that is damaged", 3],
      ["metadata that is damaged", 2],
      ["no file: folder", 1],
      ["no file: link that leads out of its folder", 2],
    ],
  );
  assert.deepEqual(snapshot(home), before);
});

test("a home that can't be listed is named in the report", async (t) => {
  const home = newHome(t);
  rmSync(join(home, "runs"), { recursive: true });
  writeFileSync(join(home, "runs"), "a file");
  const { skipped } = await inventoryOf(home, NOW).report();
  assert.deepEqual(
    skipped.map(({ reason }) => reason),
    ["folder that can't be listed (ENOTDIR)"],
  );
});

test("where damaged metadata is active, the archived one stands in", async (t) => {
  const home = newHome(t);
  put(home, "runs/x.log", finishedLog("x"), OLD);
  put(home, "runs/x.json", "{", OLD);
  put(home, "runs/archive/x.json-5-a", { title: "the older" }, OLD);
  put(home, "runs/archive/x.json-6-a", { title: "the newer" }, OLD);
  assert.equal((await inventoryOf(home, NOW).overview()).runs[0]?.title, "the newer");
});
