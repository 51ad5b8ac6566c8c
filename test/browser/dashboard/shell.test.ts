import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import { axe, dashboardFor } from "./harness.ts";
import { writeHome } from "./home-folder.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeHome(home) });

const theme = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.dataset.theme ?? 'auto'");
const ground = (page: Page): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
const focused = (page: Page): Promise<unknown> =>
  page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent");
const settings = (page: Page) => page.getByRole("button", { name: "Settings" });
const current = (page: Page) => page.locator("nav [aria-current=page]").textContent();

test("keys go to the views, whose heading is then read on from, and are letters in a field", async (t) => {
  const page = await dashboard.tab(t);
  for (const [key, name] of [
    ["r", "Runs"],
    ["a", "Agents"],
    ["s", "Sessions"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await until(async () => (await current(page))?.startsWith(name) === true);
    assert.equal(await page.evaluate("document.querySelector('#view').contains(document.activeElement)"), true);
    await page.locator("p.hidden[role=status]", { hasText: "agent-bridge" }).waitFor({ state: "attached" });
  }
  await page.keyboard.press("/");
  await page.keyboard.type("gr?");
  const field = page.locator("[data-search]");
  assert.deepEqual([await field.inputValue(), await current(page)], ["gr?", "Sessions"]);
});

test("the list of keys opens and closes by key, and gives the focus back", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await settings(page).focus();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.getByText("Sessions").waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual([await focused(page), await current(page)], ["Settings", "Runs"]);
});

test("the theme is chosen from a menu by keys, in every tab, and is there before anything is painted", async (t) => {
  const window = await dashboard.window(t, { colorScheme: "light" });
  const [page, other] = [await window.openTab(), await window.openTab("#/runs")];
  const light = await ground(page);
  await settings(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("menuitemradio", { name: "system", checked: true }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("ArrowUp");
  assert.match(String(await focused(page)), /^Keys/);
  await page.keyboard.press("d");
  assert.equal(await focused(page), "Dark");
  await page.keyboard.press("Enter");
  await until(async () => (await theme(other)) === "dark");
  assert.equal(await settings(page).getAttribute("aria-expanded"), "false");
  await window.context.route("**/assets/page.js", (route) =>
    route.fulfill({ body: "", contentType: "text/javascript" }),
  );
  await page.reload();
  assert.deepEqual([await theme(page), (await ground(page)) === light], ["dark", false]);
  await page.locator("nav").getByText("Runs").waitFor();
});

test("a menu closes by Escape and by a click elsewhere, and gives the focus back", async (t) => {
  const page = await dashboard.tab(t);
  const menu = page.getByRole("menu");
  await settings(page).click();
  await menu.waitFor();
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "hidden" });
  assert.equal(await focused(page), "Settings");
  await settings(page).click();
  await menu.waitFor();
  await page.mouse.click(3, 600);
  await menu.waitFor({ state: "hidden" });
});

test("a menu closes when the place is left", async (t) => {
  const page = await dashboard.tab(t);
  await settings(page).click();
  await page.getByRole("menu").waitFor();
  await page.evaluate("location.hash = '#/agents'");
  await page.getByRole("menu").waitFor({ state: "hidden" });
  assert.equal(await settings(page).getAttribute("aria-expanded"), "false");
});

test("what is taken away with the focus in it leaves the focus in the view", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  const within = (): Promise<unknown> => page.evaluate("document.activeElement.closest('main, .note') !== null");
  await page.evaluate("document.querySelector('main').append(document.createElement('button'))");
  await page.locator("main > button:empty").focus();
  await page.evaluate("document.querySelector('main > button:empty').remove()");
  await until(within as () => Promise<boolean>);
});

test("the skip link leads into the view, and Back and Forward through the places", async (t) => {
  const page = await dashboard.tab(t);
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate("document.querySelector('#view').contains(document.activeElement)"), true);
  await page.locator("nav").getByText("Runs").click();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  assert.equal(await current(page), "Runs");
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
});

test("the header stays on one line at 320 pixels, and nothing is wider than the window", async (t) => {
  const page = await dashboard.tab(t, "#/", { viewport: { width: 320, height: 640 } });
  await settings(page).waitFor();
  const box = await page.locator("header.top").boundingBox();
  const last = await settings(page).boundingBox();
  assert.ok(
    box !== null && last !== null && box.height < 60 && last.x + last.width <= 320,
    JSON.stringify([box, last]),
  );
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 320);
});
