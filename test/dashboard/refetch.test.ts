import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused, Unreachable } from "../../src/dashboard/app/api.ts";
import { type RefetchOptions, refetching } from "../../src/dashboard/app/parts/refetch.ts";

/** A tab that can be hidden, with a clock that is set by hand; what is fetched there is counted. */
function tab(t: test.TestContext, options: RefetchOptions = {}, fetch = async (): Promise<void> => undefined) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const document = Object.assign(new EventTarget(), { hidden: false });
  const before = Object.getOwnPropertyDescriptor(globalThis, "document");
  Object.defineProperty(globalThis, "document", { value: document, configurable: true });
  t.after(() => {
    if (before === undefined) Reflect.deleteProperty(globalThis, "document");
    else Object.defineProperty(globalThis, "document", before);
  });
  const counted = { fetches: 0 };
  const refetch = refetching(async () => {
    counted.fetches++;
    await fetch();
  }, options);
  return {
    refetch,
    fetches: () => counted.fetches,
    hide(hidden: boolean) {
      document.hidden = hidden;
      document.dispatchEvent(new Event("visibilitychange"));
    },
    async pass(ms: number) {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      t.mock.timers.tick(ms);
    },
  };
}

test("what is asked for is fetched at once, and then once for all that is asked within the gap", async (t) => {
  const { refetch, fetches, pass } = tab(t);
  refetch.ask();
  assert.equal(fetches(), 1);
  for (let asked = 0; asked < 5; asked++) refetch.ask();
  await pass(999);
  assert.equal(fetches(), 1);
  await pass(1);
  assert.equal(fetches(), 2);
  await pass(5_000);
  assert.equal(fetches(), 2);
});

test("what takes long is not fetched a second time meanwhile", async (t) => {
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const { refetch, fetches, pass } = tab(t, {}, () => arrived);
  refetch.ask();
  refetch.ask();
  await pass(60_000);
  assert.equal(fetches(), 1);
  arrive();
  await pass(1_000);
  assert.equal(fetches(), 2);
});

test("nothing is fetched while the tab is hidden, and at once when it is shown again", async (t) => {
  const { refetch, fetches, hide, pass } = tab(t);
  hide(true);
  refetch.ask();
  await pass(10_000);
  assert.equal(fetches(), 0);
  hide(false);
  assert.equal(fetches(), 1);
});

test("what notices need is fetched while the tab is hidden, too", (t) => {
  const { refetch, fetches, hide } = tab(t, { whileHidden: true });
  hide(true);
  refetch.ask();
  assert.equal(fetches(), 1);
});

test("a server that does not answer is asked again; what it refuses is told, and asked for no more by itself", async (t) => {
  const errors: unknown[] = [new Unreachable(), new Refused(404, "there is none")];
  const told: unknown[] = [];
  const { refetch, fetches, pass } = tab(t, { failed: (error) => told.push(error) }, async () => {
    throw errors[told.length];
  });
  refetch.ask();
  await pass(3_000);
  assert.equal(fetches(), 2);
  await pass(60_000);
  assert.equal(fetches(), 2);
  assert.deepEqual(told, errors);
  refetch.ask();
  assert.equal(fetches(), 3);
});

test("what is closed fetches nothing more, and tells of no failure", async (t) => {
  const told: unknown[] = [];
  const { refetch, fetches, pass } = tab(t, { failed: (error) => told.push(error) }, async () => {
    throw new Error("ended");
  });
  refetch.ask();
  refetch.close();
  refetch.ask();
  await pass(60_000);
  assert.equal(fetches(), 1);
  assert.deepEqual(told, []);
});
