import assert from "node:assert/strict";
import { test } from "node:test";
import { dashboardFor } from "./harness.ts";
import { writeCalls, writeHome } from "./home-folder.ts";
import { allowRefusals, PLACES, settled, unfold } from "./pages.ts";

const dashboard = dashboardFor({
  home({ home }) {
    writeHome(home);
    writeCalls(home);
  },
});

for (const [name, hash] of PLACES) {
  test(`the page at ${name} is complete, has one main heading and a title, and says nothing in the console`, async (t) => {
    const window = await dashboard.window(t);
    allowRefusals(window, name);
    const page = await window.openTab(hash);
    await settled(page);
    await unfold(page);
    assert.equal(await page.locator("h1").count(), 1);
    assert.match(await page.title(), /agent-bridge$/);
    assert.equal(await page.locator("main").count(), 1);
  });
}

test("going through all places in one tab, and back again, says nothing in the console", async (t) => {
  const window = await dashboard.window(t);
  const page = await window.openTab();
  for (const [name, hash] of PLACES) {
    allowRefusals(window, name);
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await settled(page);
  }
  for (const _ of PLACES.slice(1)) {
    await page.goBack();
    await settled(page);
  }
  assert.deepEqual(window.seen.all, []);
});
