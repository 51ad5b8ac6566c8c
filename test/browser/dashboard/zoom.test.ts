import assert from "node:assert/strict";
import { test } from "node:test";
import { dashboardFor } from "./harness.ts";
import { writeCalls, writeHome } from "./home-folder.ts";
import { allowRefusals, PLACES, settled, unfold } from "./pages.ts";

const dashboard = dashboardFor({
  home({ home }) {
    writeHome(home);
    writeCalls(home, 500);
  },
});

/** A phone's window; and one of 1280 × 900 at twice the size of everything, which halves what of it the page has. */
const WINDOWS = { "320 pixels wide": { width: 320, height: 640 }, "at 200 %": { width: 640, height: 450 } };

/** How far the document itself can be scrolled sideways, and what stands out of the window that no box of its own scrolls. */
const SIDEWAYS = `(() => {
  const clips = (e) => e !== null && e !== document.documentElement && (getComputedStyle(e).overflowX !== "visible" || clips(e.parentElement));
  const out = [...document.querySelectorAll("body *")].filter((e) => {
    const { right, width } = e.getBoundingClientRect();
    return width > 0 && right > innerWidth + 1 && !clips(e.parentElement);
  });
  return [document.documentElement.scrollWidth - innerWidth, ...out.map((e) => e.outerHTML.slice(0, 120))];
})()`;

for (const [name, hash] of PLACES) {
  test(`the page at ${name} does not scroll sideways in a small window or at 200 %`, async (t) => {
    const window = await dashboard.window(t, { viewport: WINDOWS["at 200 %"], deviceScaleFactor: 2 });
    allowRefusals(window, name);
    const page = await window.openTab(hash);
    await settled(page);
    await unfold(page, 12);
    for (const [what, viewport] of Object.entries(WINDOWS)) {
      await page.setViewportSize(viewport);
      await settled(page);
      assert.deepEqual(await page.evaluate(SIDEWAYS), [0], what);
    }
  });
}
