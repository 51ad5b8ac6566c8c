import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import { grow } from "./grower.ts";
import { dashboardFor, nodes } from "./harness.ts";
import { WHERE, writeCalls } from "./home-folder.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeCalls(home) });

/** How long the session grows, by how many records a second, and how many elements a page may have. */
const GROWS_MS = 8_000;
const PER_SECOND = 1_000;
const MOST_NODES = 2_000;

/** The numbers of the records that stand in the page, in its order. */
const NUMBERS = `[...document.querySelectorAll(".chat-rows [data-key]")].flatMap((row) =>
  [...row.textContent.matchAll(/record (\\d+)\\./g)].map((match) => Number(match[1])))`;

function numbers(page: Page): Promise<number[]> {
  return page.evaluate(NUMBERS) as Promise<number[]>;
}

function scroll(page: Page, views: number): Promise<unknown> {
  return page.evaluate(`(() => {
    const box = document.querySelector(".chat-box");
    box.scrollTop += box.clientHeight * ${views};
  })()`);
}

test("a session that grows by 1,000 records a second is followed with few elements, and no record is missing", async (t) => {
  const session = "7bce4c68-9fa0-41d1-8db7-6ebf9c8fd176";
  const growing = grow(dashboard.machine.home, session, join(dashboard.machine.home, "work/shop"), PER_SECOND);
  t.after(() => growing.stop());
  const page = await dashboard.tab(t, `#/claude/${session}`);
  await until(async () => (await numbers(page)).length > 0);
  let most = 0;
  for (const end = performance.now() + GROWS_MS; performance.now() < end; await sleep(50)) {
    most = Math.max(most, await nodes(page));
  }
  const count = await growing.stop();
  await until(async () => (await numbers(page)).at(-1) === count - 1);
  const seen = new Set<number>();
  for (let quiet = 0; !seen.has(0) && quiet < 200; quiet++) {
    const before = seen.size;
    const shown = await numbers(page);
    assert.deepEqual(
      shown,
      [...shown].sort((a, b) => a - b),
      "records stand in their order",
    );
    for (const number of shown) seen.add(number);
    most = Math.max(most, await nodes(page));
    if (seen.size > before) quiet = 0;
    await scroll(page, -0.8);
    await sleep(10);
  }
  const missing = Array.from({ length: count }, (_, number) => number).filter((number) => !seen.has(number));
  assert.deepEqual(missing, []);
  assert.equal(most <= MOST_NODES, true, `${most} elements`);
});

test("a session of 10,000 calls one after another opens with few elements", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${WHERE.calls}`);
  await until(async () => (await page.locator(".chat-rows [data-key]").count()) > 0);
  assert.equal((await nodes(page)) <= MOST_NODES, true);
});
