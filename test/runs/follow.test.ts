import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { systemTimer } from "../../src/platform/timer.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { followRuns } from "../../src/runs/follow.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { until } from "../support/turns.ts";
import { age, finishedLog, inventoryOf, put } from "./home.ts";

test("of more than 1,000 logs, old metadata that is written in place is told while the folders are watched", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const now = Date.UTC(2026, 9, 6, 9);
  const old = now - 3_600_000;
  for (let i = 0; i <= 1_000; i++) put(home, `runs/2020-01-01-00-00-00-x-${i}.log`, finishedLog("x"), old);
  put(home, "runs/2020-01-01-00-00-00-x-5.json", { job: "other" }, old);
  put(home, "jobs.json", [{ name: "lost", status: "done", startedAt: now }], old);
  age(join(home, "runs"), old);
  const inventory = inventoryOf(home, now);
  await inventory.look();
  const { generation } = inventory;
  const end = new AbortController();
  const following = followRuns(inventory, home, { watcher: createWatcher(), timer: systemTimer }, end.signal);
  put(home, "runs/2020-01-01-00-00-00-x-5.json", { job: "lost" }, old + 1);
  await until(() => inventory.generation > generation);
  assert.equal((await inventory.run("lost"))?.summary.recovered, undefined);
  end.abort();
  await following;
});
