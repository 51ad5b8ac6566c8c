import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { isNestedAtMost } from "../../src/platform/read.ts";
import { mtimeOf } from "../../src/runs/folder-view.ts";
import { RunInventory } from "../../src/runs/inventory.ts";
import { hostOf, jobNameOf } from "../../src/runs/job.ts";
import { formatRunCursor, parseRunCursor } from "../../src/runs/page.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { finishedLog, inventoryOf, put, snapshot } from "./home.ts";

const NOW = Date.UTC(2026, 9, 6, 9);

test("metadata and jobs that nest too deep to be told again are left out and named, and the rest is shown", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  put(home, "runs/x.log", finishedLog("x"));
  put(home, "runs/x.json", `{"title":"lost","more":${deep}}`);
  put(home, "jobs.json", `[{"name":"deep","args":${deep}},{"name":"deep too","args":{"a":${deep}}},{"name":"j"}]`);
  const inventory = inventoryOf(home, NOW);
  const { runs } = await inventory.overview();
  assert.deepEqual(
    JSON.parse(JSON.stringify(runs)).map(({ name, title }: never) => [name, title]),
    [
      ["x", undefined],
      ["j", null],
    ],
  );
  assert.deepEqual(
    (await inventory.report()).skipped.map(({ reason, count }) => [reason, count]),
    [
      ["job with too many lists and objects in one another", 2],
      ["metadata that is damaged", 1],
    ],
  );
});

test("the depth of a value is that of its deepest list or object", () => {
  assert.ok(isNestedAtMost(0, 1) && isNestedAtMost(0, null));
  for (const [value, levels] of [
    [[], 1],
    [{ a: [1] }, 2],
    [[1, { a: { b: [] } }], 4],
  ] as const) {
    assert.deepEqual([isNestedAtMost(levels, value), isNestedAtMost(levels - 1, value)], [true, false]);
  }
});

test("every name that a job can have makes a cursor that is accepted and can stand in a URL", () => {
  const names = ["a:b:c", "..b", " x ", "ü", "x".repeat(128), "😀".repeat(64), "__proto__", "%2f", "a\\b", "\u2028"];
  for (const name of names) {
    assert.equal(jobNameOf(name), name);
    const cursor = decodeURIComponent(encodeURIComponent(formatRunCursor({ startedAt: -5, name })));
    assert.deepEqual(parseRunCursor(cursor), { startedAt: -5, name });
  }
  for (const name of ["", ".", "..", "a/b", "a\u0085b", "\u007f", "\ud800", "x\udc00", "x".repeat(129), 5, null]) {
    assert.equal(jobNameOf(name), undefined, JSON.stringify(name));
  }
});

test("a host that gives no start of its process is the one that ran when it began", () => {
  assert.deepEqual(hostOf({ host: { pid: 7, peer: "p", startedAt: 5 } }), { pid: 7, seenAt: 5 });
  assert.deepEqual(hostOf({ host: { pid: 7, startedAt: "5" } }), { pid: 7, seenAt: 5 });
  assert.deepEqual(hostOf({ host: { pid: 7, startedAt: 5, start: "1", boot: "b" } }), {
    pid: 7,
    start: "1",
    boot: "b",
  });
  for (const host of [null, undefined, [], 7, { pid: "7" }, {}]) assert.equal(hostOf({ host }), undefined);
});

test("a job whose host's number another process has by now was interrupted", async (t) => {
  const home = join(temporaryFolder(t), "home");
  const job = (name: string, startedAt: number): object => ({
    name,
    status: "running",
    host: { pid: process.pid, peer: "p", startedAt },
  });
  put(home, "jobs.json", { version: 2, jobs: [job("earlier", Date.now() - 86_400_000), job("ours", Date.now())] });
  const inventory = new RunInventory({ bridgeHome: home, clock: systemClock });
  const [earlier, ours] = await Promise.all([inventory.job("earlier"), inventory.job("ours")]);
  assert.deepEqual([earlier?.summary.status, ours?.summary.status], ["interrupted", "running"]);
});

test("a job of Claude Code is that of its log by whatever name each knows the agent", async (t) => {
  for (const [agent, named] of [
    ["claude", "claude"],
    ["claude", "claude-code"],
    ["claude-code", "claude"],
    ["claude-code", "claude-code"],
  ]) {
    const home = join(temporaryFolder(t), "home");
    put(home, "jobs.json", [{ id: "4be1a7d2", name: "j", agent, status: "done", sessionId: "s" }]);
    put(home, `runs/2026-10-06-08-30-00-${named}-4be1a7d2.log`, finishedLog("x"));
    const { runs } = await inventoryOf(home, NOW).page(undefined);
    assert.deepEqual(
      runs.map(({ recovered, job, agent: shown }) => [recovered, job, shown]),
      [[false, "j", "claude"]],
      `${agent} ${named}`,
    );
  }
});

test("a file from any time whatever is listed, and paged past", async () => {
  const far = [-(2n ** 80n), -1_500_000n, 0n, 2n ** 63n, 2n ** 90n];
  const times = far.map((mtimeNs) => mtimeOf({ path: "", dev: 1n, ino: 1n, size: 0, ctimeNs: 0n, mtimeNs }));
  assert.deepEqual(times, [-8.64e15, -1, 0, 9_223_372_036_854, 8.64e15]);
  for (const startedAt of times) {
    assert.deepEqual(parseRunCursor(formatRunCursor({ startedAt, name: "x" })), { startedAt, name: "x" });
  }
});

test("metadata and jobs in which a byte is no text are shown without it, and named", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "runs/x.log", finishedLog("x"));
  const files = [put(home, "runs/x.json", '{"title":"a?b"}'), put(home, "jobs.json", '[{"name":"j","prompt":"a?b"}]')];
  for (const path of files) {
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("?")] = 0xff;
    writeFileSync(path, bytes);
  }
  const before = snapshot(home);
  const inventory = inventoryOf(home, NOW);
  assert.equal((await inventory.run("x"))?.summary.title, "a\ufffdb");
  assert.equal((await inventory.run("j"))?.summary.task, "a\ufffdb");
  assert.deepEqual(
    (await inventory.report()).skipped.map(({ reason, example }) => [reason, example]),
    [
      ["bytes in a job file that are no text", files[1]],
      ["bytes in a metadata file that are no text", files[0]],
    ],
  );
  assert.deepEqual(snapshot(home), before);
});
