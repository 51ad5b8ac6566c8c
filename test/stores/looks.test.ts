import assert from "node:assert/strict";
import { test } from "node:test";
import { Looks } from "../../src/stores/looks.ts";

test("looks come one after another, and who asks while one waits shares it", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const looks = new Looks(async (effort) => {
    begun.push(effort);
    await new Promise<void>((resolve) => ends.push(resolve));
    return begun.length;
  });
  const first = looks.take("quick");
  await new Promise(setImmediate);
  const shared = [looks.take("quick"), looks.take("quick")];
  await new Promise(setImmediate);
  assert.deepEqual(begun, ["quick"]);
  ends.shift()?.();
  assert.equal(await first, 1);
  await new Promise(setImmediate);
  ends.shift()?.();
  assert.deepEqual(await Promise.all(shared), [2, 2]);
});

test("a look that fails does not keep the next one", async () => {
  let fails = true;
  const looks = new Looks(async () => {
    if (fails) throw new Error("gone");
    return "there";
  });
  await assert.rejects(looks.take("sweep"), /gone/);
  fails = false;
  assert.equal(await looks.take("sweep"), "there");
});
