import assert from "node:assert/strict";
import { test } from "node:test";
import { USUAL, writeHistory } from "../../../scripts/history.ts";
import { until } from "../../support/until.ts";
import { dashboardFor, nodes } from "./harness.ts";
import { settled } from "./pages.ts";

const SESSIONS = 10_000;

const dashboard = dashboardFor({
  home({ home }) {
    writeHistory(home, { ...USUAL, sessions: SESSIONS, bytes: 40_000_000, projects: 300, agents: 0, spread: 0 });
  },
});

test("10,000 sessions: the first rows take one request for the list, and as many as one scrolls through stay few", async (t) => {
  const window = await dashboard.window(t);
  const asked: string[] = [];
  window.context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith("/api/")) asked.push(`${url.pathname}${url.search}`);
  });
  const page = await window.openTab();
  const rows = page.locator(".rows [data-row]");
  await rows.first().waitFor();
  assert.deepEqual(asked.filter((one) => /^\/api\/(transcripts|projects)/.test(one)).slice(0, 1), [
    "/api/transcripts?limit=60",
  ]);
  assert.equal(await page.locator(".count").textContent(), "10,000 sessions");
  assert.equal(await rows.first().getAttribute("aria-setsize"), String(SESSIONS));
  const last = async (): Promise<number> => Number(await rows.last().getAttribute("aria-posinset"));
  let most = 0;
  for (let read = 0; (await last()) < 1_500; read++) {
    assert.equal(read < 500, true, `row ${await last()} is the last`);
    await page.evaluate('document.querySelector(".list-box").scrollTop += 4000');
    await page.evaluate("new Promise(requestAnimationFrame)");
    most = Math.max(most, await nodes(page));
  }
  assert.equal(most < 2_000, true, `${most} elements`);
  const keys = (await page.evaluate(
    '[...document.querySelectorAll(".rows [data-row]")].map((row) => row.dataset.row)',
  )) as string[];
  assert.equal(new Set(keys).size, keys.length);
});

test("10,000 sessions: Back from far down leads there again", async (t) => {
  const page = await dashboard.tab(t);
  await page.locator(".rows [data-row]").first().waitFor();
  await page.keyboard.press("End");
  for (let end = 0; end < 10; end++) {
    await settled(page);
    await page.keyboard.press("End");
  }
  const focused = 'document.activeElement?.closest("[data-row]")?.ariaPosInSet ?? null';
  await page.keyboard.press("k");
  const place = await page.evaluate(focused);
  assert.equal(Number(place) > 500, true, `at ${place}`);
  await page.keyboard.press("Enter");
  await until(async () => (await page.locator(".list-box").count()) === 0);
  await page.goBack();
  await until(async () => (await page.evaluate(focused)) === place);
});

test("10,000 sessions: every project can be reached, and unfolds", async (t) => {
  const page = await dashboard.tab(t, "#/?by=project");
  await page.locator(".fold").first().waitFor();
  assert.equal(await page.locator(".count").textContent(), "300 projects");
  await page.keyboard.press("End");
  for (let end = 0; end < 6; end++) {
    await settled(page);
    await page.keyboard.press("End");
  }
  assert.equal(await page.evaluate('document.activeElement?.closest("[data-row]")?.ariaPosInSet'), "300");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await until(async () => {
    await page.keyboard.press("ArrowDown");
    return (await page.evaluate('document.activeElement?.closest(".inner") !== null')) === true;
  });
});
