import assert from "node:assert/strict";
import { test } from "node:test";
import { startableAgents } from "../../src/agents/startable.ts";
import { FakeTime } from "../support/fake-time.ts";

test("which agents are installed is looked for at most every ten seconds, and only when somebody asks", () => {
  const time = new FakeTime();
  let looks = 0;
  const { list } = startableAgents(() => [{ name: `look ${++looks}`, isInstalled: true, remedy: "" }], time);
  const first = list();
  time.pass(9_999);
  assert.equal(list(), first);
  assert.equal(looks, 1);
  time.pass(1);
  assert.deepEqual([list()[0]?.name, looks], ["look 2", 2]);
  time.pass(-60_000);
  assert.deepEqual([list()[0]?.name, list()[0]?.name, looks], ["look 3", "look 3", 3]);
});
