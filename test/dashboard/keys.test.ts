import assert from "node:assert/strict";
import { test } from "node:test";
import { GoKeys } from "../../src/dashboard/app/parts/keys.ts";

test("g and another key, soon after it, go to a view", () => {
  const keys = new GoKeys();
  assert.equal(keys.take("g", 1_000), "first");
  assert.deepEqual(keys.take("r", 2_000), { view: "runs" });
  assert.equal(keys.take("r", 2_100), undefined);
  assert.equal(keys.take("g", 3_000), "first");
  assert.equal(keys.take("r", 5_000), undefined);
  assert.equal(keys.take("g", 6_000), "first");
  assert.equal(keys.take("constructor", 6_100), undefined);
});
