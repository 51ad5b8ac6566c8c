import assert from "node:assert/strict";
import { test } from "node:test";
import { CumulativeSum } from "../../../src/stores/recorded/totals.ts";

test("a stated cost stands as it is stated; costs that are added carry no error of their binary form", () => {
  const stated = new CumulativeSum();
  stated.add({ tokens: {}, costUsd: 0.1234567891234 });
  assert.deepEqual(stated.totals(), { tokens: {}, costUsd: 0.1234567891234 });
  const added = new CumulativeSum();
  added.add({ tokens: {}, costUsd: 0.2 });
  added.add({ tokens: {}, costUsd: 0.1 });
  assert.deepEqual(added.totals(), { tokens: {}, costUsd: 0.3 });
});
