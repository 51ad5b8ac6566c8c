import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { openStores, type StoreParts } from "../../src/stores/registry.ts";
import { FakeStore } from "../support/fake-store.ts";

const nothing = async function* (): AsyncGenerator<undefined, void> {};
const parts: StoreParts = {
  environment: environmentFrom({ home: "/home/someone" }),
  clock: systemClock,
  watcher: { file: nothing, folder: nothing },
  extraRoots: { codex: ["/extra"] },
};

test("every agent's store is opened with the same parts", (t) => {
  const given: StoreParts[] = [];
  const open = (agent: "claude" | "codex") => (each: StoreParts) => {
    given.push(each);
    const store = new FakeStore(agent);
    t.after(() => store.remove());
    return store;
  };
  const stores = openStores(parts, [open("claude"), open("codex")]);
  assert.deepEqual(
    [stores.map(({ agent }) => agent), given],
    [
      ["claude", "codex"],
      [parts, parts],
    ],
  );
  assert.throws(() => openStores(parts, [open("claude"), open("claude")]), /two stores of one agent/);
});
