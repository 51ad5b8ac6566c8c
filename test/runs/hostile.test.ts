import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { isNestedAtMost } from "../../src/platform/read.ts";
import { jobNameOf } from "../../src/runs/job.ts";
import { formatRunCursor, parseRunCursor } from "../../src/runs/page.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { finishedLog, inventoryOf, put } from "./home.ts";

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
