import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { until } from "../../support/until.ts";
import { countedWay } from "./counted.ts";
import { dashboardFor } from "./harness.ts";

const ID = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER = "aaaaaaaa-0000-4000-8000-000000000002";
const GONE = /console Failed to load resource/;

const said = (session: string, cwd: string, text: string): object => ({
  ...{ type: "user", sessionId: session, cwd, timestamp: new Date().toISOString() },
  message: { role: "user", content: text },
});

/** All of the chat is in view. */
const TALL = { viewport: { width: 1280, height: 6_000 } };

const dashboard = dashboardFor({
  home: (machine) => {
    for (const id of [ID, OTHER]) machine.append(id, [said(id, `${machine.home}/work`, `record 0 of ${id}`)]);
  },
});

let count = 0;

/** The texts that were said in the session, up to now. */
const all: string[] = [];

/** Says one thing more in the session. */
function say(): string {
  const text = `word-${++count}.`;
  all.push(text);
  dashboard.machine.append(ID, [said(ID, `${dashboard.machine.home}/work`, text)]);
  return text;
}

/** What the chat shows of what was said. */
async function shown(page: Page): Promise<string[]> {
  return ((await page.locator("main").textContent()) ?? "").match(/word-\d+\./g) ?? [];
}

const bar = (page: Page) => page.locator(".link-bar");

test("all tabs of a browser share one connection, which goes on when tabs are closed", async (t) => {
  const way = await countedWay(t, dashboard.api.port);
  const window = await dashboard.window(t);
  await window.context.route(`${way.url}/**`, (route) => route.continue());
  const open = async (hash: string): Promise<Page> => {
    const page = await window.context.newPage();
    await page.goto(`${way.url}/${hash}`);
    await page.locator("main").first().waitFor();
    return page;
  };
  const home = await open("#/");
  const chats = [await open(`#/claude/${ID}`), await open(`#/claude/${OTHER}`), await open(`#/claude/${ID}`)];
  await until(() => way.open === 1 && [ID, OTHER].every((id) => way.targets.at(-1)?.includes(id) === true));
  const text = say();
  for (const page of [chats[0], chats[2]]) await page?.getByText(text).waitFor();
  const before = way.targets.length;
  for (const page of [home, chats[0]]) await page?.close();
  const more = say();
  await chats[2]?.getByText(more).waitFor();
  assert.deepEqual([way.open, way.targets.length], [1, before]);
  for (const page of [chats[1], chats[2]]) await page?.close();
  await until(() => way.open === 0);
});

test("a browser that shares no worker among tabs, or lets none be made, has a tab follow by itself", async (t) => {
  for (const lacking of ["delete window.SharedWorker", "window.SharedWorker = function () { throw new Error('no') }"]) {
    const window = await dashboard.window(t);
    await window.context.addInitScript(lacking);
    const page = await window.openTab(`#/claude/${ID}`);
    await page.getByText(say()).waitFor();
    await page.goto(`${dashboard.url}/#/runs`);
    await page.goto(`${dashboard.url}/#/claude/${ID}`);
    await page.getByText(say()).waitFor();
  }
});

test("a tab that is come back to with Back goes on", async (t) => {
  const window = await dashboard.window(t);
  const page = await window.openTab(`#/claude/${ID}`);
  await page.getByText(say()).waitFor();
  await page.goto(`${dashboard.url}/api/state`);
  const missed = say();
  await page.goBack();
  await page.getByText(missed).waitFor();
  await page.getByText(say()).waitFor();
});

test("a server that ends and comes again is noticed, and no record is missing or there twice", async (t) => {
  const window = await dashboard.window(t, TALL);
  const page = await window.openTab(`#/claude/${ID}`);
  await page.getByText(say()).waitFor();
  await dashboard.stopServer();
  await bar(page).getByText("The server does not answer.").waitFor();
  for (let i = 0; i < 20; i++) say();
  await dashboard.startServer();
  await bar(page)
    .getByRole("button", { name: "Try now" })
    .click({ timeout: 2_000 })
    .catch(() => undefined);
  await page.getByText(say()).waitFor();
  await until(async () => (await shown(page)).length >= all.length);
  assert.deepEqual(await shown(page), all);
  assert.equal(await bar(page).textContent(), "");
  if (window.seen.all.some((one) => GONE.test(one))) window.seen.expect(GONE);
});

test("a key that was reset shuts every tab out, which says how to get in again; a fresh link lets all go on", async (t) => {
  const window = await dashboard.window(t, TALL);
  const pages = [await window.openTab(`#/claude/${ID}`), await window.openTab("#/runs")];
  const [page, other] = pages as [Page, Page];
  await page.getByText(say()).waitFor();
  await dashboard.machine.run("token", "--reset");
  for (const each of pages) await bar(each).getByText("agent-bridge.mjs link").waitFor();
  const missed = say();
  await bar(page).getByLabel("A fresh link").fill("no link");
  await bar(page).getByRole("button", { name: "Go on" }).click();
  await bar(page).getByText("This is no such link").waitFor();
  const field = bar(page).getByLabel("A fresh link");
  assert.equal(await field.evaluate((element) => element.matches(":focus")), true);
  assert.doesNotMatch(String(await bar(page).textContent()), /cookie/);
  await field.fill("http://elsewhere.example/?t=abc");
  await field.press("Enter");
  await bar(page).getByText("is another server’s (it is for elsewhere.example").waitFor();
  const { out } = await dashboard.machine.run("link");
  await bar(page).getByLabel("A fresh link").fill(out.trim());
  await bar(page).getByRole("button", { name: "Go on" }).click();
  await page.getByText(missed).waitFor();
  await page.getByText(say()).waitFor();
  await until(async () => (await bar(other).textContent()) === "");
  assert.deepEqual(await shown(page), all);
  if (window.seen.all.some((one) => GONE.test(one))) window.seen.expect(GONE);
});
