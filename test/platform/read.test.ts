import assert from "node:assert/strict";
import { test } from "node:test";
import { asArray, asCount, asNumber, asObject, asString, asText } from "../../src/platform/read.ts";

const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  "",
  "a",
  "12",
  0,
  1.5,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  [],
  ["a"],
  {},
  { a: 1 },
];

/** Which of the values above each reader lets through. */
const READERS: readonly (readonly [string, (value: unknown) => unknown, readonly unknown[]])[] = [
  ["asObject", asObject, [{}, { a: 1 }]],
  ["asArray", asArray, [[], ["a"]]],
  ["asString", asString, ["", "a", "12"]],
  ["asText", asText, ["a", "12"]],
  ["asNumber", asNumber, [0, 1.5, -1]],
  ["asCount", asCount, [12, 0, 1]],
];

for (const [name, reader, wanted] of READERS) {
  test(`${name} lets through what has its shape`, () => {
    assert.deepEqual(
      VALUES.map(reader).filter((value) => value !== undefined),
      wanted,
    );
  });
}

test("a count is whole and never beyond 2^53 - 1", () => {
  assert.equal(asCount(12.9), 12);
  assert.equal(asCount("0012"), 12);
  assert.equal(asCount(1e300), 9_007_199_254_740_991);
  assert.equal(asCount("9999999999999999"), 9_007_199_254_740_991);
  for (const value of ["1.5", "-1", " 1", "1 ", "0x1", "1e3", "", "12345678901234567", [1], {}]) {
    assert.equal(asCount(value), undefined, JSON.stringify(value));
  }
});
