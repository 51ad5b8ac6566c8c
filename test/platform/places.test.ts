import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "../../src/platform/places.ts";

const never = new AbortController().signal;
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("places are given in the order in which they are asked for, each to one", async () => {
  const places = new Places(2);
  const came: string[] = [];
  const take = async (name: string): Promise<() => void> => {
    const leave = await places.take(never);
    came.push(name);
    return leave;
  };
  const [a, b, c, d] = [take("a"), take("b"), take("c"), take("d")];
  await turns();
  assert.deepEqual(came, ["a", "b"]);
  (await b)();
  await turns();
  assert.deepEqual(came, ["a", "b", "c"]);
  (await a)();
  (await c)();
  await d;
  assert.deepEqual(came, ["a", "b", "c", "d"]);
});

test("a place that is given back twice is free once", async () => {
  const places = new Places(1);
  const leave = await places.take(never);
  leave();
  leave();
  await places.take(never);
  let isIn = false;
  void places.take(never).then(() => {
    isIn = true;
  });
  await turns();
  assert.equal(isIn, false);
});

test("who gives up waiting takes no place", async () => {
  const places = new Places(1);
  const leave = await places.take(never);
  const left = new AbortController();
  const waiting = places.take(left.signal);
  const next = places.take(never);
  left.abort(new Error("gone"));
  await assert.rejects(waiting, { message: "gone" });
  leave();
  await next;
  await assert.rejects(places.take(left.signal), { message: "gone" });
});
