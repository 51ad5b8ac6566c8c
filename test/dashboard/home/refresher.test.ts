import assert from "node:assert/strict";
import { test } from "node:test";
import { Refresher } from "../../../src/dashboard/app/home/refresher.ts";

/** A page that can be hidden, with a clock that is set by hand. */
function page(t: test.TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let told = (): void => undefined;
  let hidden = false;
  return {
    isHidden: () => hidden,
    onVisibility(listener: () => void) {
      told = listener;
      return () => undefined;
    },
    hide(now: boolean) {
      hidden = now;
      told();
    },
    async pass(ms: number) {
      await Promise.resolve();
      await Promise.resolve();
      t.mock.timers.tick(ms);
    },
  };
}

test("a work is done at once, and then once for all that is wanted within the gap", async (t) => {
  const tab = page(t);
  let done = 0;
  const refresher = new Refresher(async () => void done++, 1_000, tab);
  refresher.want();
  assert.equal(done, 1);
  for (let wanted = 0; wanted < 5; wanted++) refresher.want();
  await tab.pass(999);
  assert.equal(done, 1);
  await tab.pass(1);
  assert.equal(done, 2);
  await tab.pass(5_000);
  assert.equal(done, 2);
});

test("nothing is done while the page is hidden, and at once when it is shown again", async (t) => {
  const tab = page(t);
  let done = 0;
  const refresher = new Refresher(async () => void done++, 1_000, tab);
  tab.hide(true);
  refresher.want();
  await tab.pass(10_000);
  assert.equal(done, 0);
  tab.hide(false);
  assert.equal(done, 1);
});

test("a work that fails does not end it, and one that is closed does nothing more", async (t) => {
  const tab = page(t);
  let done = 0;
  const refresher = new Refresher(
    async () => {
      done++;
      throw new Error("gone");
    },
    1_000,
    tab,
  );
  refresher.want();
  await tab.pass(1_000);
  refresher.want();
  assert.equal(done, 2);
  refresher.close();
  refresher.want();
  await tab.pass(1_000);
  assert.equal(done, 2);
});
