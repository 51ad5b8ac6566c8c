import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { readAll } from "../../src/commands/standard-input.ts";
import { Failure } from "../../src/platform/failure.ts";

const MOST = { bytes: 8, ms: 60_000 };
const isFailure = (text: RegExp) => (error: unknown) => error instanceof Failure && text.test(error.message);

test("what comes on stdin is read to its end, also a character that comes in two pieces", async () => {
  const bytes = Buffer.from("aé😀");
  assert.equal(await readAll(Readable.from([bytes.subarray(0, 2), bytes.subarray(2)]), MOST), "aé😀");
  assert.equal(await readAll(Readable.from([]), MOST), "");
});

test("more than is wanted is refused, and one that never ends is left", async () => {
  await assert.rejects(readAll(Readable.from([Buffer.alloc(9)]), MOST), isFailure(/over 8 bytes/));
  const endless = new PassThrough();
  endless.write("x");
  await assert.rejects(readAll(endless, { bytes: 8, ms: 5 }), isFailure(/does not end/));
  assert.ok(endless.destroyed);
});
