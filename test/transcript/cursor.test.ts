import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { cursorOf, START } from "../../src/transcript/cursor.ts";

test("any printable text of at most 256 characters may be some store's cursor", () => {
  for (const text of [START, "j:812:0", "o:1791277200500:prt_example", "!~", "x".repeat(256)]) {
    assert.equal(cursorOf(text), text);
  }
});

for (const text of ["", "x".repeat(257), "a b", "a\n", "a\n\nb", "\tj", "é", "j:5\0", "\u007f", "tail"]) {
  test(`${JSON.stringify(text.slice(0, 20))} is no store's cursor`, () => {
    assert.throws(
      () => cursorOf(text),
      (error) => error instanceof Failure && error.kind === "bad-request",
    );
  });
}
