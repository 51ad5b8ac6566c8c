import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { archiveRuns } from "../../src/runs/archive.ts";
import { timeOf } from "../../src/runs/job.ts";
import { changeJob } from "../../src/runs/job-store.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { finishedLog, inventoryOf, put } from "./home.ts";

const NOW = Date.UTC(2026, 9, 6, 9);
const clock = { now: () => NOW as EpochMs };
const BOM = "\ufeff";

test("a byte-order mark before metadata, jobs and archives is passed over, however long they are", async (t) => {
  for (const length of [1, 100_000]) {
    const home = join(temporaryFolder(t), "home");
    const jobs = (name: string): string =>
      `${BOM}${JSON.stringify({ version: 2, jobs: [{ name, prompt: "x".repeat(length), status: "done" }] })}`;
    put(home, "jobs.json", jobs("active"));
    put(home, "archive/jobs-1-a.json", jobs("archived"));
    put(home, "runs/x.log", finishedLog("x"));
    put(home, "runs/x.json", `${BOM}{"title":"found"}`);
    const inventory = inventoryOf(home, NOW);
    assert.deepEqual((await inventory.jobs()).map(({ name }) => name).sort(), ["active", "archived"]);
    assert.equal((await inventory.run("x"))?.summary.title, "found");
    assert.deepEqual((await inventory.report()).skipped, []);
    await changeJob({ bridgeHome: home, clock }, "new", () => ({ startedAt: NOW }));
    assert.deepEqual(
      JSON.parse(readFileSync(join(home, "jobs.json"), "utf8")).jobs.map(({ name }: { name: string }) => name),
      ["active", "new"],
    );
  }
});

test("a run whose metadata begins with a byte-order mark is archived as ours", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "runs/2026-10-06-08-30-00-codex-4be1a7d2.log", finishedLog("x"));
  put(home, "runs/2026-10-06-08-30-00-codex-4be1a7d2.json", `${BOM}{"writer":"agent-bridge"}`);
  assert.equal(await archiveRuns({ bridgeHome: home, clock }, 0), 1);
});

test("times of jobs are read as numbers, digits and ISO text", async (t) => {
  const cases: readonly (readonly [value: unknown, ms: number | undefined])[] = [
    [1_790_000_000_000, 1_790_000_000_000],
    ["1790000000000", 1_790_000_000_000],
    ["1790000000000.75", 1_790_000_000_000],
    ["2026-10-06T09:00:00.000Z", NOW],
    ["0", 0],
    ["", undefined],
    ["-1", undefined],
    ["12345678901234567", undefined],
    ["9999999999999999", undefined],
    [" 5", undefined],
    [null, undefined],
  ];
  for (const [value, ms] of cases) assert.equal(timeOf(value), ms, String(value));
  const home = join(temporaryFolder(t), "home");
  const times = { startedAt: String(NOW), finishedAt: String(NOW + 1), updatedAt: String(NOW + 2) };
  put(home, "jobs.json", [{ name: "older", startedAt: NOW - 1 }, { name: "j", ...times }, { name: "none" }]);
  const { runs } = await inventoryOf(home, NOW).page(undefined);
  assert.deepEqual(
    runs.map(({ name, startedAt, finishedAt, updatedAt }) => [name, startedAt, finishedAt, updatedAt]),
    [
      ["j", NOW, NOW + 1, NOW + 2],
      ["older", NOW - 1, null, NOW - 1],
      ["none", 0, null, 0],
    ],
  );
});
