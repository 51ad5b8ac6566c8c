import assert from "node:assert/strict";
import { test } from "node:test";
import { interleaved, median, percentile } from "../../scripts/bench/stats.ts";
import { tableOf } from "../../scripts/bench/table.ts";

test("a percentile is the nearest rank, and never outside the values", () => {
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(percentile([4, 2, 1, 3], 99), 4);
  assert.equal(percentile([7], 1), 7);
});

test("subjects run in turn, every other round in reverse, and warm rounds do not count", async () => {
  const ran: string[] = [];
  const subject = (name: string, figures: number[]) => (round: number) => {
    ran.push(`${name} ${round}`);
    return figures.shift() ?? 0;
  };
  const medians = await interleaved(2, { ours: subject("ours", [99, 3, 5]), bare: subject("bare", [98, 1, 1]) });
  assert.deepEqual(ran, ["ours 0", "bare 0", "bare 1", "ours 1", "ours 2", "bare 2"]);
  assert.deepEqual(medians, { ours: 3, bare: 1 });
});

test("the table states ratios first and absolute figures last", () => {
  const row = { measure: "m", what: "w", unit: "ms", ours: 3, bare: 2 } as const;
  assert.equal(
    tableOf([
      { ...row, compare: "ratio", slope: 1, aim: "≤ 2 ×" },
      { ...row, compare: "difference" },
    ]),
    [
      "measure  what    ratio  slope    aim     ours     bare",
      "m        w      1.50 ×   1.00  ≤ 2 ×  3.00 ms  2.00 ms",
      "m        w     +1.0 ms                3.00 ms  2.00 ms",
    ].join("\n"),
  );
});
