import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_SHELF, restocked } from "../../src/stores/shelf.ts";
import type { Listed } from "../../src/stores/store.ts";
import { at, row, sid } from "../support/fake-store.ts";

const FULL: Required<Listed> = {
  agent: "claude",
  id: sid("a"),
  title: "T",
  cwd: "/w",
  branch: "main",
  startedAt: at(1),
  updatedAt: at(2),
  bytes: 3,
  model: "m",
  parent: sid("p"),
  live: { pid: 4, activity: "busy" },
  resume: { command: ["claude", "--resume", "a"], cwd: "/w" },
};

test("a row that differs in any one field is shown anew, and in none is the same object", async () => {
  const { shelf } = await restocked(EMPTY_SHELF, [FULL]);
  assert.deepEqual(shelf.sorted, [FULL]);
  const others: { readonly [field in keyof Omit<Listed, "id">]-?: unknown[] } = {
    agent: ["codex"],
    title: ["U"],
    cwd: ["/v"],
    branch: ["dev", undefined],
    startedAt: [5],
    updatedAt: [5],
    bytes: [0, undefined],
    model: ["n", undefined],
    parent: ["q", undefined],
    live: [undefined, { pid: 5, activity: "busy" }, { pid: 4 }, { pid: 4, activity: "idle" }],
    resume: [undefined, { ...FULL.resume, cwd: "/v" }, { ...FULL.resume, command: ["claude", "--resume a"] }],
  };
  for (const [field, values] of Object.entries(others)) {
    for (const value of values) {
      const { changed } = await restocked(shelf, [{ ...FULL, [field]: value }]);
      assert.deepEqual(changed, ["a"], field);
    }
  }
  const same = await restocked(shelf, [structuredClone(FULL)]);
  assert.deepEqual(same.changed, []);
  assert.equal(same.shelf.sorted[0], shelf.sorted[0]);
});

test("a store that gives the same rows again costs nothing: the shelf stays the same object", async () => {
  const list = [row({ id: sid("a") }), row({ id: sid("b") })];
  const { shelf } = await restocked(EMPTY_SHELF, list);
  assert.equal((await restocked(shelf, [...list])).shelf, shelf);
});
