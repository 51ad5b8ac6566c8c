import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { test } from "node:test";
import { fixture, fixtureHome, inventoryOf, snapshot } from "./home.ts";

const alive = ({ pid }: { readonly pid: number }): boolean => pid === 4242;

test("a home with every layout and damage at once is listed as the expected file says", async (t) => {
  const { home, now } = fixtureHome(t);
  const page = await inventoryOf(home, now, { alive }).page(undefined, 500);
  assert.deepEqual(JSON.parse(JSON.stringify(page)), JSON.parse(readFileSync(fixture("api-runs.json"), "utf8")));
});

test("the report names every damaged file, and nothing is changed by all this reading", async (t) => {
  const { home, now } = fixtureHome(t);
  const before = snapshot(home);
  const inventory = inventoryOf(home, now, { alive });
  await inventory.overview();
  await inventory.jobs();
  const { skipped, ...counts } = await inventory.report();
  assert.deepEqual(counts, { runs: 14, archived: 4, recovered: 4, jobs: 9 });
  assert.deepEqual(
    skipped.map(({ reason, count, paths }) => [reason, count, ...paths.map((path) => relative(home, path))]),
    [
      [
        "job file that is damaged",
        2,
        "archive/jobs-1789100000000-0a1b2c3d-4e5f-4a6b-8c7d-8e9fa0b1c2d3.json",
        "archive/jobs.json.backup-1786500000000-0a1b2c3d-4e5f-4a6b-8c7d-8e9fa0b1c2d3",
      ],
      [
        "job whose name is missing or none that can be used",
        2,
        "archive/jobs-1789000000000-6f1c2b3a-4d5e-4f60-8a7b-9c0d1e2f3a4b.json",
      ],
      [
        "metadata that is damaged",
        2,
        "runs/2026-10-05-14-10-00-opencode-0badf00d.json",
        "runs/archive/2026-08-01-08-00-00-codex-cccccccc.json-1788000200001-x",
      ],
      ["metadata without its log", 1, "runs/2026-10-05-14-05-09-codex-12121212.json"],
    ],
  );
  assert.deepEqual(snapshot(home), before);
});

test("a job is shown as running only while a process or a log proves it", async (t) => {
  const { home, now } = fixtureHome(t);
  const statuses = async (parts: Parameters<typeof inventoryOf>[2]): Promise<unknown> =>
    Object.fromEntries((await inventoryOf(home, now, parts).jobs()).map(({ name, status }) => [name, status]));
  const expected = {
    "claude-job-1234abcd": "running",
    "codex-job-5678abcd": "interrupted",
    "codex-job-4be1a7d2": "done",
    "nightly-job": "interrupted",
    "codex-job-7e57ab1e": "interrupted",
    "claude-job-aaaaaaaa": "done",
    "claude-job-0ve4f10w": "interrupted",
    "codex-job-0ld00001": "done",
    "opencode-job-bad57a47": "interrupted",
  };
  assert.deepEqual(await statuses({ alive }), expected);
  assert.deepEqual(await statuses({ alive: () => false }), { ...expected, "claude-job-1234abcd": "interrupted" });
});
