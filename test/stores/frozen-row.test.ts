import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { frozenRow } from "../../src/stores/frozen-row.ts";
import type { Listed } from "../../src/stores/store.ts";
import { requireSessionId } from "../../src/transcript/names.ts";

const ROW: Listed = {
  agent: "claude",
  id: requireSessionId("one"),
  title: "One",
  cwd: "/srv/shop",
  startedAt: 1 as EpochMs,
  updatedAt: 2 as EpochMs,
  live: { pid: 7 },
  resume: { command: ["claude", "--resume", "one"], cwd: "/srv/shop" },
};

test("a row is frozen to its depth, without the fields that are its store's alone", () => {
  const row = frozenRow({ ...ROW, secret: "mine" } as Listed);
  assert.deepEqual(row, ROW);
  for (const part of [row, row.live, row.resume, row.resume?.command]) assert.ok(Object.isFrozen(part));
});

test("a frozen row is held once", () => {
  const row = frozenRow(ROW);
  assert.equal(frozenRow(row), row);
});

test("a row that is frozen in part, or holds more, is copied", () => {
  for (const row of [Object.freeze({ ...ROW }), Object.freeze({ ...frozenRow(ROW), secret: "mine" })]) {
    assert.notEqual(frozenRow(row), row);
    assert.deepEqual(frozenRow(row), ROW);
  }
});
