import assert from "node:assert/strict";
import { test } from "node:test";
import { placeAfter } from "../../src/dashboard/app/parts/list-keys.ts";

test("arrows and their letters go to the next row and the one before, and not beyond the ends", () => {
  assert.deepEqual(
    ["ArrowDown", "j", "ArrowUp", "k"].map((key) => placeAfter(key, 3, 10, 4)),
    [4, 4, 2, 2],
  );
  assert.equal(placeAfter("ArrowDown", 9, 10, 4), undefined);
  assert.equal(placeAfter("ArrowUp", 0, 10, 4), undefined);
});

test("where no row has the focus, down leads to the first, and up nowhere", () => {
  assert.equal(placeAfter("j", -1, 10, 4), 0);
  assert.equal(placeAfter("k", -1, 10, 4), undefined);
  assert.equal(placeAfter("PageDown", -1, 10, 4), undefined);
});

test("Home and End lead to the ends, and a page no further than that", () => {
  assert.deepEqual(
    ["Home", "End", "PageDown", "PageUp"].map((key) => placeAfter(key, 7, 10, 4)),
    [0, 9, 9, 3],
  );
  assert.equal(placeAfter("PageUp", 2, 10, 4), 0);
});

test("an empty list, and any other key, leads nowhere", () => {
  assert.equal(placeAfter("End", -1, 0, 4), undefined);
  assert.equal(placeAfter("Home", -1, 0, 4), undefined);
  assert.equal(placeAfter("x", 3, 10, 4), undefined);
});
