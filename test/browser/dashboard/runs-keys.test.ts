import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import { dashboardFor } from "./harness.ts";
import { entry, writeRun } from "./runs-home.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
const MANY = 703;
const LAST = "A long log";

let named = "";

const dashboard = dashboardFor({
  home({ home }) {
    for (let i = 0; i < MANY; i++) {
      const id = (0x1000 + i).toString(16).padStart(8, "0");
      writeRun(home, {
        id,
        at: NOW - (i + 1) * HOUR,
        title: `Task ${i}`,
        outcome: "done",
        metadata: { job: `job-${i}` },
      });
    }
    const log = Array.from({ length: 400 }, (_, i) => entry(NOW, `step ${i}`)).join("");
    named = writeRun(home, { id: "aaaa0001", at: NOW - 1000 * HOUR, title: "A long log", outcome: "done", log });
  },
});

/** What has the focus, by its words. */
const focused = (page: Page) => page.evaluate("document.activeElement.textContent.slice(0, 40)") as Promise<string>;

async function opened(t: test.TestContext): Promise<Page> {
  const page = await dashboard.tab(t, "#/runs");
  await page.getByRole("link", { name: "Task 0" }).waitFor();
  return page;
}

test("Home and End lead to the first run and the last, and the keys go on from there", async (t) => {
  const page = await opened(t);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await focused(page), "Task 1");
  await page.keyboard.press("End");
  await until(async () => (await focused(page)) === LAST);
  await page.keyboard.press("End");
  await page.keyboard.press("PageUp");
  await until(async () => /^Task 6\d\d$/.test(await focused(page)));
  await page.keyboard.press("Home");
  await until(async () => (await focused(page)) === "Task 0");
  await page.keyboard.press("PageDown");
  await until(async () => /^Task \d{1,2}$/.test(await focused(page)));
  assert.notEqual(await focused(page), "Task 0");
});

test("whoever presses another key meanwhile is not taken to the last run", async (t) => {
  const window = await dashboard.window(t);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let pages = 0;
  await window.context.route(/\/api\/runs\?.*limit=500/, async (route) => {
    pages++;
    await held;
    await route.continue();
  });
  const page = await window.openTab("#/runs");
  await page.getByRole("link", { name: "Task 0" }).waitFor();
  await page.keyboard.press("End");
  await until(() => Promise.resolve(pages > 0));
  await page.keyboard.press("Home");
  const answer = page.waitForResponse(/limit=500/);
  go();
  await (await answer).finished();
  // The page has drawn what came.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  assert.equal(await focused(page), "Task 0");
  await page.keyboard.press("j");
  assert.equal(await focused(page), "Task 1");
});

test("when what has the focus goes away, one goes on where one would look next", async (t) => {
  const page = await opened(t);
  const search = page.getByLabel("Search runs");
  await search.fill("no such run");
  await page.getByRole("button", { name: "Load all" }).press("Enter");
  await page.getByText("No run is like this.").waitFor();
  await until(async () => (await focused(page)) === "All runs");
  await page.getByRole("link", { name: "All runs" }).press("Enter");
  await until(async () => (await focused(page)) === "Task 0");
  await page.getByRole("link", { name: "job-1", exact: true }).press("Enter");
  await until(async () => (await page.locator(".run-row").count()) === 1);
  await page.getByTitle("Of all jobs again").press("Enter");
  await until(async () => (await page.locator(".run-row").count()) > 1);
  assert.equal(await search.evaluate((field) => field === field.ownerDocument.activeElement), true);
});

test("the key that goes back to the end of a log leaves the focus in the log", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(/^console Failed to load resource: the server responded with a status of 409/);
  const page = await window.openTab(`#/runs/${named}`);
  await page.locator(".log-row", { hasText: "finished after" }).waitFor();
  await page.getByRole("button", { name: "First", exact: true }).press("Enter");
  const follow = page.getByRole("button", { name: "Follow" });
  await follow.waitFor();
  await follow.press("Enter");
  await follow.waitFor({ state: "hidden" });
  const log = page.getByRole("region", { name: "Log" });
  assert.equal(await log.evaluate((box) => box === box.ownerDocument.activeElement), true);
});
