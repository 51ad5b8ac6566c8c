import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { until } from "../../support/until.ts";
import { dashboardFor, nodes } from "./harness.ts";
import { Talk } from "./home/claude.ts";
import { ADDRESSES, WHERE, writeCalls, writeHome } from "./home-folder.ts";
import { settled } from "./pages.ts";

const LONG = "7b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
const LIVE = "7c0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
const MESSAGES = 2_000;

const talkOf = (home: string, session: string): Talk =>
  new Talk(home, { session, cwd: join(home, "work/shop"), branch: "main", startedAt: Date.now() as EpochMs });

const dashboard = dashboardFor({
  home({ home }) {
    writeHome(home);
    writeCalls(home);
    const long = talkOf(home, LONG).title("A long talk");
    for (let i = 0; i < MESSAGES; i++) {
      if (i % 500 === 250) long.user(`Prompt ${i};`);
      else if (i % 1_000 === 700) long.tool("Bash", { command: `make part-${i};` }, `broken ${i}`, true);
      else long.says(`Message ${i}; ${"some words ".repeat(60)}`);
    }
    long.save();
    talkOf(home, LIVE).title("A live talk").user("Begin.").says("Message 0;").save();
  },
});

const box = (page: Page) => page.locator(".chat-box").first();
const scrolledFromEnd = (page: Page): Promise<number> =>
  box(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
/** The numbers that stand in the page, as `Message 12;`. */
const numbersIn = (page: Page): Promise<number[]> =>
  page.evaluate(`[...document.querySelectorAll(".chat-rows > *")].flatMap((row) =>
    [...row.textContent.matchAll(/(?:Message|Prompt|part-) ?(\\d+);/g)].map((match) => Number(match[1])))`);
const isInView = (page: Page, text: string): Promise<boolean> =>
  page.evaluate(`(() => {
    const { top, bottom } = document.querySelector(".chat-box").getBoundingClientRect();
    return [...document.querySelectorAll(".chat-rows > *")].some((row) => {
      const rect = row.getBoundingClientRect();
      return row.textContent.includes(${JSON.stringify(text)}) && rect.bottom > top && rect.top < bottom;
    });
  })()`);
const eventually = (done: () => Promise<boolean>): Promise<void> => until(done);

test("a session opens at its end, with what is known of it above", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  assert.ok((await scrolledFromEnd(page)) < 2);
  await page.getByRole("heading", { level: 1, name: "A long talk" }).waitFor();
  assert.equal(await page.title(), "A long talk · agent-bridge");
  assert.match((await page.locator(".session-head").textContent()) ?? "", /Claude Code.*shop.*main/);
});

test("scrolled back to its start, every record has been there once, in few elements at a time", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  const seen = new Set<number>();
  let most = 0;
  for (let step = 0; !seen.has(0) && step < 5_000; step++) {
    for (const number of await numbersIn(page)) seen.add(number);
    if (step % 50 === 0) most = Math.max(most, await nodes(page));
    await box(page).evaluate((element) => element.scrollBy(0, -element.clientHeight));
    if (step % 8 === 0) await page.waitForTimeout(20);
  }
  assert.equal(seen.size, MESSAGES);
  assert.ok(most <= 2_000, `${most} elements`);
  const down = new Set<number>();
  for (let step = 0; !down.has(300) && step < 500; step++) {
    for (const number of await numbersIn(page)) down.add(number);
    await box(page).evaluate((element) => element.scrollBy(0, element.clientHeight));
    await page.waitForTimeout(10);
  }
  assert.deepEqual([...down].filter((number) => number <= 300).length, 301);
});

test("the keys go to the first and the last, to prompts and to errors, wherever they are", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  await page.keyboard.press("[");
  await eventually(() => isInView(page, "Prompt 1750;"));
  await page.keyboard.press("[");
  await eventually(() => isInView(page, "Prompt 1250;"));
  await page.keyboard.press("]");
  await eventually(() => isInView(page, "Prompt 1750;"));
  await page.keyboard.press("Home");
  await eventually(() => isInView(page, "Message 0;"));
  await page.keyboard.press("e");
  await eventually(() => isInView(page, "part-700;"));
  await page.keyboard.press("e");
  await eventually(() => isInView(page, "part-1700;"));
  await page.keyboard.press("E");
  await eventually(() => isInView(page, "part-700;"));
  await page.keyboard.press("End");
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  assert.ok((await scrolledFromEnd(page)) < 2);
});

test("every item has a link, which opens the session at that item", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LONG}`);
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  await page.keyboard.press("[");
  await eventually(() => isInView(page, "Prompt 1750;"));
  const prompt = page.locator(".row", { hasText: "Prompt 1750;" });
  const href = await prompt.locator("a.at").getAttribute("href");
  const other = await page.context().newPage();
  await other.goto(`${dashboard.url}/${href}`);
  await eventually(() => isInView(other, "Prompt 1750;"));
  assert.equal(await other.locator(".row[aria-current]").textContent(), await prompt.textContent());
  const { y = 0 } = (await other.locator(".row[aria-current]").boundingBox()) ?? {};
  const { y: top = 0 } = (await box(other).boundingBox()) ?? {};
  assert.ok(y - top >= 0 && y - top < 100, `${y - top} px below the top`);
});

test("a link to an item that is not there says so, and shows the session all the same", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(/^console Failed to load resource: the server responded with a status of 400/);
  const page = await window.openTab(`#/claude/${LONG}?ref=nowhere`);
  await eventually(() => isInView(page, `Message ${MESSAGES - 1};`));
  await page.getByText("This link's item is not in this session", { exact: false }).waitFor();
});

test("what is written is shown at once, until one scrolls up; then what is read stays where it is", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LIVE}`);
  await eventually(() => isInView(page, "Message 0;"));
  const talk = talkOf(dashboard.machine.home, LIVE);
  const filler = "some words ".repeat(80);
  for (let i = 1; i <= 30; i++) talk.says(`Message ${i}; ${filler}`).save();
  await eventually(() => isInView(page, "Message 30;"));
  assert.ok((await scrolledFromEnd(page)) < 2);

  await box(page).hover();
  await page.mouse.wheel(0, -700);
  await eventually(async () => (await scrolledFromEnd(page)) > 400);
  const first = await numbersIn(page);
  const row = page.locator(".row", { hasText: `Message ${first.at(-6)};` });
  const before = await row.boundingBox();
  for (let i = 31; i <= 60; i++) talk.says(`Message ${i}; ${filler}`).save();
  await page.locator(".latest:visible").waitFor();
  await page.waitForTimeout(500);
  assert.deepEqual(await row.boundingBox(), before);

  await page.locator(".latest").click();
  await eventually(() => isInView(page, "Message 60;"));
  talk.says("Message 61;").save();
  await eventually(() => isInView(page, "Message 61;"));
});

test("a transcript that is replaced is shown anew", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${LIVE}`);
  await eventually(() => isInView(page, "Message 61;"));
  const talk = talkOf(dashboard.machine.home, LIVE).title("Another").user("Message 1000;");
  rmSync(talk.file);
  writeFileSync(talk.file, "");
  talk.save();
  await eventually(() => isInView(page, "Message 1000;"));
  await eventually(async () => !(await numbersIn(page)).includes(61));
});

test("a call is one line, which unfolds what it was told to do and the whole of what it gave back", async (t) => {
  const page = await dashboard.tab(t, ADDRESSES.rich);
  await settled(page);
  await page.locator(".row.group .line").first().click();
  const edit = page.locator(".row.call", { hasText: "src/login.ts" }).filter({ hasText: /^Edit/ });
  await edit.locator(".line").click();
  const detail = edit.locator(".detail");
  await detail.getByText("safePath(query.next)").waitFor();
  await detail.getByText("The file has been updated.").waitFor();
  assert.equal(await edit.locator(".line").getAttribute("aria-expanded"), "true");
  await edit.locator(".line").click();
  assert.equal(await detail.count(), 0);
  const failed = page.locator(".row.call.bad");
  assert.match((await failed.first().textContent()) ?? "", /failed/);
  await failed.first().locator(".line").click();
  await eventually(async () => /(?:✖ a test that fails\s*){2}/.test((await failed.first().textContent()) ?? ""));
});

test("a text that was cut is shown whole when asked, or it is said that it can't be", async (t) => {
  const page = await dashboard.tab(t, ADDRESSES.world);
  await settled(page);
  const cut = page.locator(".row.assistant", { hasText: "zzz" }).last();
  const whole = cut.getByRole("button", { name: "Show the whole" });
  await page.route(/\/item\?/, (route) => route.fulfill({ json: { items: [] } }), { times: 1 });
  await whole.click();
  await page.getByRole("alert").getByText("could not be told").waitFor();
  await whole.click();
  await eventually(async () => /^\D*z{20000}$/.test(((await cut.textContent()) ?? "").replace(/^.*?[AP]M/, "")));
  assert.equal(await whole.count(), 0);
});

test("ten thousand calls one after the other are groups that unfold in few elements", async (t) => {
  const page = await dashboard.tab(t, ADDRESSES.calls);
  await settled(page);
  const groups = page.locator(".row.group");
  assert.ok((await groups.count()) > 3);
  await groups.last().locator(".line").click();
  await page.locator(".row.call").first().waitFor();
  assert.ok((await nodes(page)) <= 2_000);
  const seen = new Set<string>();
  for (let step = 0; step < 60; step++) {
    for (const text of await page.locator(".row.call .brief").allTextContents()) seen.add(text);
    await box(page).evaluate((element) => element.scrollBy(0, element.clientHeight / 2));
    await page.waitForTimeout(20);
  }
  assert.ok(seen.has("echo 9999") && seen.size >= 90, `${seen.size} calls seen`);
});

test("a subagent opens in its place and beside, and says how it stands", async (t) => {
  const page = await dashboard.tab(t, ADDRESSES.rich);
  await settled(page);
  const row = page.locator(".row.subagent", { hasText: "Review prices" });
  await row.scrollIntoViewIfNeeded();
  await row.getByText("done", { exact: true }).waitFor();
  await row.locator("> .line").click();
  await row.locator(".chat.nested").getByText("Prices are summed as floats.").waitFor();
  const inner = row.locator(".chat.nested .row.subagent", { hasText: "Try the rounding" });
  await inner.locator("> .line").click();
  await inner.getByText("0.9999999999999999").first().waitFor();
  await row.locator("> .line").click();
  assert.equal(await row.locator(".chat.nested").count(), 0);

  await row.getByRole("link", { name: "Open beside" }).click();
  const beside = page.locator(".beside-pane");
  await beside.getByText("Prices are summed as floats.").waitFor();
  await beside.getByRole("heading", { name: "Review prices" }).waitFor();
  assert.match(page.url(), /#\/claude\/[^/]+\/a1f0c2d4e6b80912a$/);
  await beside.getByRole("link", { name: "Close" }).click();
  assert.equal(await page.locator(".beside-pane").count(), 0);
});

test("what a subagent says while one looks at it is shown at once", async (t) => {
  const page = await dashboard.tab(t, `${ADDRESSES.rich}/a2e1d3c5b7f90813b`);
  const beside = page.locator(".beside-pane");
  await beside.getByText("npm run build").first().waitFor();
  const { home } = dashboard.machine;
  const child = new Talk(home, {
    session: WHERE.rich,
    agentId: "a2e1d3c5b7f90813b",
    cwd: join(home, "work/shop"),
    branch: "main",
    startedAt: Date.now() as EpochMs,
  });
  child.says("The build is green now.").save();
  await beside.getByText("The build is green now.").waitFor();
});

test("the command that goes on with a session can be copied", async (t) => {
  const window = await dashboard.window(t, { permissions: ["clipboard-read", "clipboard-write"] });
  const page = await window.openTab(`#/claude/${LONG}`);
  await settled(page);
  await page.locator(".session-head").getByRole("button").first().click();
  await page.getByRole("menuitem", { name: /resume/i }).click();
  await eventually(async () =>
    /claude.*--resume.*7b0e4c52/.test(await page.evaluate("navigator.clipboard.readText()")),
  );
});

test("a session that can't be read, or is not there, says why and can be tried again", async (t) => {
  for (const [hash, words] of [
    [ADDRESSES.missing, /no such transcript/i],
    [ADDRESSES.unreadable, /can't be read|not readable|damaged|could not/i],
  ] as const) {
    const window = await dashboard.window(t);
    window.seen.allow(/^console Failed to load resource: the server responded with a status of (?:404|409|500)/);
    const page = await window.openTab(hash);
    const alert = page.getByRole("alert").first();
    await alert.waitFor();
    assert.match((await alert.textContent()) ?? "", words);
    await alert.getByRole("button", { name: "Try again" }).waitFor();
  }
});
