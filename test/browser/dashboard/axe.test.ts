import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, dashboardFor } from "./harness.ts";
import { writeHome } from "./home-folder.ts";
import { allowRefusals, PLACES, SCREENS, settled, unfold } from "./pages.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeHome(home) });

/** In another colour scheme, only colours differ. */
const COLOURS = ["color-contrast", "link-in-text-block"];

// Foreign text of every kind changes nothing here, and takes a browser long to look through.
for (const [name, hash] of PLACES.filter(([place]) => place !== "calls" && place !== "hostile")) {
  test(`the page at ${name} has no accessibility fault, light or dark, wide or small`, async (t) => {
    const window = await dashboard.window(t, { ...SCREENS["light, wide"], reducedMotion: "reduce" });
    allowRefusals(window, name);
    const page = await window.openTab(hash);
    await settled(page);
    await unfold(page, 12);
    assert.deepEqual(await axe(page), []);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await axe(page, COLOURS), [], "dark");
    await page.setViewportSize(SCREENS["dark, small"].viewport);
    await settled(page);
    assert.deepEqual(await axe(page), [], "dark and small");
  });
}
