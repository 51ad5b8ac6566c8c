import assert from "node:assert/strict";
import { test } from "node:test";
import { epochMsFromIso, epochMsOf, systemClock } from "../../src/platform/clock.ts";

const NUMBERS: readonly (readonly [unknown, number | undefined])[] = [
  [0, 0],
  [-0.5, 0],
  [1_796_030_640_000, 1_796_030_640_000],
  [1_796_030_640_000.9, 1_796_030_640_000],
  [-1.9, -1],
  [8.64e15, 8.64e15],
  [8.64e15 + 2, undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  ["5", undefined],
  [5n, undefined],
  [null, undefined],
  [undefined, undefined],
];

for (const [value, time] of NUMBERS) {
  test(`${String(value)} (${typeof value}) as a time is ${time}`, () => assert.equal(epochMsOf(value), time));
}

const TEXTS: readonly (readonly [unknown, number | undefined])[] = [
  ["2026-11-30T09:24:00.000Z", 1_796_030_640_000],
  ["2026-11-30T09:24:00Z", 1_796_030_640_000],
  ["2026-11-30T10:24:00+01:00", 1_796_030_640_000],
  ["2026-11-30 09:24:00Z", 1_796_030_640_000],
  ["2026-11-30T09:24:00.123456789Z", 1_796_030_640_123],
  ["2026-11-30", 1_795_996_800_000],
  [1_796_030_640_000, 1_796_030_640_000],
  ["1796030640000", undefined],
  ["x 5", undefined],
  ["November 30, 2026", undefined],
  ["2026-13-45T00:00:00Z", undefined],
  ["2026-11-30T", undefined],
  ["", undefined],
  [`2026-11-30T09:24:00.${"0".repeat(30)}Z`, undefined],
  [{}, undefined],
  [null, undefined],
];

for (const [value, time] of TEXTS) {
  test(`${JSON.stringify(value)} states the time ${time}`, () => assert.equal(epochMsFromIso(value), time));
}

test("the machine's clock gives whole milliseconds", () => {
  const now = systemClock.now();
  assert.ok(Number.isInteger(now) && now > 1_700_000_000_000);
});
