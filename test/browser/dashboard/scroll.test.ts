import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { until } from "../../support/until.ts";
import { dashboardFor } from "./harness.ts";
import { Talk } from "./home/claude.ts";

const LONG = "8b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
const LIVE = "8c0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
const MESSAGES = 4_000;
const FILLER = "some words ".repeat(60);

const talkOf = (home: string, session: string): Talk =>
  new Talk(home, { session, cwd: join(home, "work/shop"), branch: "main", startedAt: Date.now() as EpochMs });

const dashboard = dashboardFor({
  home({ home }) {
    const long = talkOf(home, LONG).title("A long talk").user("Begin.");
    for (let i = 0; i < MESSAGES; i++) {
      if (i % 40 === 20) long.tool("Bash", { command: `make part-${i};` }, "made\n".repeat(100));
      else long.says(`Message ${i}; ${FILLER.slice(0, 40 + ((i * 97) % 600))}`);
    }
    long.save();
    const live = talkOf(home, LIVE).title("A live talk").user("Begin.");
    for (let i = 0; i < 60; i++) live.says(`Message ${i}; ${FILLER}`);
    live.save();
  },
});

/** Has what is read of chats come late, as on a slow machine. */
async function slowly(page: Page, ms: number): Promise<void> {
  await page.route(/\/chat\?/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await route.continue();
  });
}

interface Row {
  readonly key: string;
  readonly text: string;
  readonly top: number;
}

/** The rows in view, from the top. */
const rowsInView = (page: Page): Promise<Row[]> =>
  page.evaluate(`(() => {
    const { top, bottom } = document.querySelector(".chat-box").getBoundingClientRect();
    return [...document.querySelectorAll(".chat-rows > [data-key]")].flatMap((row) => {
      const rect = row.getBoundingClientRect();
      if (rect.bottom <= top || rect.top >= bottom) return [];
      return [{ key: row.dataset.key, text: row.textContent.slice(0, 60), top: rect.top }];
    });
  })()`);

/** Scrolls down a part of the view in each of so many frames; the numbers of all rows that were in view in any of them. */
const scrolledDown = (page: Page, frames: number): Promise<number[]> =>
  page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector(".chat-box");
    const seen = new Set();
    let left = ${frames};
    const look = () => {
      const { top, bottom } = box.getBoundingClientRect();
      for (const row of document.querySelectorAll(".chat-rows > [data-key]")) {
        const rect = row.getBoundingClientRect();
        const number = /(?:Message |part-)(\\d+);/.exec(row.textContent)?.[1];
        if (number !== undefined && rect.bottom > top && rect.top < bottom) seen.add(Number(number));
      }
      if (left-- === 0) return resolve([...seen]);
      box.scrollBy(0, 240);
      requestAnimationFrame(look);
    };
    look();
  })`);

const numberOf = ({ text }: Row): number => Number(/(?:Message |part-)(\d+);/.exec(text)?.[1] ?? Number.NaN);
const topOf = async (page: Page, key: string): Promise<number | undefined> =>
  (await rowsInView(page)).find((row) => row.key === key)?.top;
const fromEnd = (page: Page): Promise<number> =>
  page.locator(".chat-box").evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
const isShown = (page: Page, number: number): Promise<boolean> =>
  rowsInView(page).then((rows) => rows.some((row) => numberOf(row) === number));

async function opened(page: Page, last: number): Promise<void> {
  await until(() => isShown(page, last));
  await page.locator(".chat-box").hover();
}

test("scrolled down faster than it can be read on, no row is passed over, and nothing moves by itself", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await opened(page, MESSAGES - 1);
  await page.keyboard.press("Home");
  await until(() => isShown(page, 0));
  await slowly(page, 400);
  const seen = new Set(await scrolledDown(page, 400));
  await page.waitForTimeout(1_000);
  const before = await rowsInView(page);
  for (const row of before) seen.add(numberOf(row));
  await page.waitForTimeout(1_500);
  assert.deepEqual(
    (await rowsInView(page)).map(({ key }) => key),
    before.map(({ key }) => key),
  );
  const numbers = [...seen].filter(Number.isFinite).sort((a, b) => a - b);
  assert.ok(numbers.length > 300, `only ${numbers.length} rows were seen`);
  assert.deepEqual(
    numbers,
    numbers.map((_, place) => place),
  );
});

test("however little one scrolls up, the end is let go of, also while more comes", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LIVE}`);
  const talk = talkOf(dashboard.machine.home, LIVE);
  let last = 59;
  for (const move of [
    () => page.mouse.wheel(0, -8),
    () => page.mouse.wheel(0, -28),
    () => page.keyboard.press("ArrowUp"),
    () => page.locator(".chat-box").evaluate((element) => element.scrollBy({ top: -300, behavior: "smooth" })),
  ]) {
    await opened(page, last);
    await page.locator(".chat-box").focus();
    for (let step = 0; step < 8; step++) {
      await move();
      talk.says(`Message ${++last}; ${FILLER}`).save();
      await page.waitForTimeout(60);
    }
    await page.waitForTimeout(400);
    const [first] = await rowsInView(page);
    assert.ok(first !== undefined && (await fromEnd(page)) > 100, `${await fromEnd(page)} from the end: ${move}`);
    talk.says(`Message ${++last}; ${FILLER}`).save();
    await page.waitForTimeout(400);
    assert.equal(await topOf(page, first.key), first.top, String(move));
    await page.keyboard.press("End");
  }
});

test("what is read stays where it is when the window changes its size or a row above grows", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await opened(page, MESSAGES - 1);
  await page.keyboard.press("Home");
  await until(() => isShown(page, 0));
  for (let step = 0; step < 12; step++) await page.mouse.wheel(0, 300);
  await page.waitForTimeout(300);
  const read = (await rowsInView(page))[1];
  assert.ok(read !== undefined);
  for (const height of [600, 900, 500, 900]) {
    await page.setViewportSize({ width: 1280, height });
    await page.waitForTimeout(150);
    assert.ok(Math.abs(((await topOf(page, read.key)) ?? Number.NaN) - read.top) < 2, `at ${height}`);
  }
  await page.route(/\/item\?/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await route.continue();
  });
  const call = page.locator(".row.call", { hasText: "part-60;" });
  while ((await call.count()) === 0) await page.mouse.wheel(0, 300);
  await call.locator(".line").click();
  await call.evaluate((element) => element.scrollIntoView({ block: "start" }));
  for (let step = 0; step < 2; step++) await page.mouse.wheel(0, 150);
  const [, after] = await rowsInView(page);
  assert.ok(after !== undefined);
  await page.waitForTimeout(1_500);
  assert.ok(Math.abs(((await topOf(page, after.key)) ?? Number.NaN) - after.top) < 2);
});

test("of keys that are pressed while a part is on its way the last one counts", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await opened(page, MESSAGES - 1);
  await slowly(page, 300);
  for (const [keys, number] of [
    [["Home", "End"], MESSAGES - 1],
    [["Home", "e", "End"], MESSAGES - 1],
    [["End", "Home"], 0],
    [["Home", "[", "End", "[", "Home"], 0],
  ] as const) {
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(100);
    }
    await page.waitForTimeout(1_500);
    assert.ok(await isShown(page, number), `${keys}: ${(await rowsInView(page))[0]?.text}`);
  }
});

test("what is read stays where it is when the window gets narrower while more comes", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LIVE}`);
  const talk = talkOf(dashboard.machine.home, LIVE);
  await page.keyboard.press("End");
  await until(async () => (await fromEnd(page)) < 2 && (await rowsInView(page)).length > 0);
  await page.locator(".chat-box").hover();
  await page.mouse.wheel(0, -3_000);
  await page.waitForTimeout(400);
  const writing = setInterval(() => talk.says(`More; ${FILLER}`).save(), 40);
  t.after(() => clearInterval(writing));
  for (const width of [700, 1280, 600, 1100]) {
    const before = (await rowsInView(page))[1];
    assert.ok(before !== undefined);
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(300);
    const moved = ((await topOf(page, before.key)) ?? Number.NaN) - before.top;
    // The row at the top of the view, which is held, is itself higher or lower now.
    assert.ok(Math.abs(moved) < 300, `at ${width}: ${moved}`);
  }
});

test("what was folded again at the end, or scrolled to, is followed again; what scrolls inside is not", async (t) => {
  const { home } = dashboard.machine;
  const session = "8d0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
  const talk = talkOf(home, session).title("Short").user("Begin.");
  talk.says("Message 0;").tool("Bash", { command: "make part-1;" }, "made\n".repeat(300)).save();
  const page = await dashboard.tab(t, `#/claude/${session}`);
  await until(() => isShown(page, 1));
  const line = page.locator(".row.call .line");
  await line.click();
  await page.locator(".row.call .detail").waitFor();
  await line.click();
  let last = 1;
  const comes = async (): Promise<void> => {
    for (let i = 0; i < 12; i++) talk.says(`Message ${++last}; ${FILLER}`).save();
    await until(() => isShown(page, last));
    assert.ok((await fromEnd(page)) < 2);
  };
  await comes();

  await page.locator(".chat-box").hover();
  await page.mouse.wheel(0, -20);
  await page.waitForTimeout(300);
  await page.mouse.wheel(0, 200);
  await page.waitForTimeout(300);
  await comes();

  await page.evaluate(`document.querySelector(".chat-box").dispatchEvent(
    new WheelEvent("wheel", { deltaY: -100, ctrlKey: true, bubbles: true }))`);
  await comes();
});
