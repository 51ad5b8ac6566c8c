import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { dashboardFor } from "./harness.ts";
import { writeHome } from "./home-folder.ts";
import { settled } from "./pages.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeHome(home) });

/** The colour behind an element, or its `part`. */
const ground = (of: Locator, part?: string): Promise<string> =>
  of.evaluate((element, pseudo) => {
    const style = element.ownerDocument.defaultView?.getComputedStyle(element, pseudo);
    return style?.backgroundColor ?? "";
  }, part);

test("in colours that a person forces upon pages, what is chosen differs from what is not, and dots can be seen", async (t) => {
  const page = await dashboard.tab(t);
  await page.emulateMedia({ forcedColors: "active" });
  await settled(page);
  const pressed = await ground(page.getByRole("button", { name: "By day" }));
  assert.notEqual(pressed, await ground(page.getByRole("button", { name: "By project" })));
  const here = await ground(page.getByRole("navigation").locator("[aria-current]"));
  assert.notEqual(here, await ground(page.getByRole("navigation").locator("a:not([aria-current])").first()));
  const canvas = await ground(page.locator("body"));
  assert.notEqual(await ground(page.locator(".status").first(), "::before"), canvas);
});
