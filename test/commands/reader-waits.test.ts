import assert from "node:assert/strict";
import { test } from "node:test";
import { OutputClosed, ReaderWaits } from "../../src/commands/reader-waits.ts";

const never = new Promise<void>(() => {});

/** Whether the wait ends as one that was given up, seen until `other` does. */
function givenUp(wait: Promise<void>, other: Promise<void> = never): Promise<boolean> {
  return Promise.race([
    wait.then(
      () => false,
      (error: unknown) => error instanceof OutputClosed,
    ),
    other.then(() => false),
  ]);
}

/** Comes after every wait that was given up by now. */
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000));

test("a request to end ends the wait for a reader that takes nothing, and every later one", async () => {
  const waits = new ReaderWaits();
  const waiting = givenUp(waits.wait(never));
  waits.interrupted("end");
  assert.equal(await waiting, true);
  assert.equal(await givenUp(waits.wait(never)), true);
  await waits.wait(Promise.resolve());
});

test("the first request to stop leaves the wait to the command, the second in the same wait ends it", async () => {
  const waits = new ReaderWaits();
  const first = waits.wait(never);
  waits.interrupted("stop");
  assert.equal(await givenUp(first, later()), false);
  const second = givenUp(waits.wait(never), later());
  waits.interrupted("stop");
  assert.equal(await givenUp(first), true);
  assert.equal(await second, false);
});

test("what a slow reader still takes is written", async () => {
  const waits = new ReaderWaits();
  let take = (): void => {};
  const writing = new Promise<void>((resolve) => {
    take = resolve;
  });
  const waiting = waits.wait(writing);
  waits.interrupted("end");
  take();
  await waiting;
});
