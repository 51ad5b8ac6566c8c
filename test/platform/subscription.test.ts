import assert from "node:assert/strict";
import { test } from "node:test";
import { Subscription } from "../../src/platform/subscription.ts";

function subscription() {
  const leaving = new AbortController();
  const left = { times: 0 };
  return { notes: new Subscription<string>(leaving.signal, () => left.times++), leaving, left };
}

/** What a reader finds that comes late. */
async function taken(notes: Subscription<string>, leaving: AbortController): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  // A note of its own shows where the others end.
  for await (const note of notes) {
    found.push(note);
    notes.tell("end");
    if (note === "end") leaving.abort();
  }
  return found.slice(0, -1);
}

test("a reader that waits is told at once", async () => {
  const { notes } = subscription();
  const next = notes.next();
  notes.tell("a");
  assert.deepEqual(await next, { done: false, value: "a" });
});

test("a thousand notes to a slow reader are one of each kind", async () => {
  const { notes, leaving } = subscription();
  for (let n = 0; n < 1_000; n++) notes.tell(n % 2 === 0 ? "a" : "b");
  assert.deepEqual(await taken(notes, leaving), ["a", "b"]);
});

test("a note of anything takes the place of all others, and more than 16 of them are such a note", async () => {
  const first = subscription();
  first.notes.tell("a");
  first.notes.tell(undefined);
  first.notes.tell("b");
  assert.deepEqual(await taken(first.notes, first.leaving), [undefined]);
  const many = subscription();
  for (let n = 0; n < 16; n++) many.notes.tell(`${n}`);
  many.notes.tell("3");
  assert.equal((await many.notes.next()).value, "0");
  many.notes.tell("16");
  many.notes.tell("17");
  assert.deepEqual(await taken(many.notes, many.leaving), [undefined]);
});

test("readers that wait are let go when the signal aborts, and what was kept is dropped", async () => {
  const { notes, leaving, left } = subscription();
  const waiting = [notes.next(), notes.next()];
  leaving.abort();
  notes.tell("late");
  assert.deepEqual(await Promise.all(waiting), [
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  assert.deepEqual(await notes.next(), { done: true, value: undefined });
  await notes.return();
  assert.equal(left.times, 1);
});

test("a signal that has aborted before ends it before it begins", async () => {
  const left = { times: 0 };
  const notes = new Subscription<string>(AbortSignal.abort(), () => left.times++);
  notes.tell("a");
  assert.deepEqual([notes.ended, left.times, (await notes.next()).done], [true, 1, true]);
});
