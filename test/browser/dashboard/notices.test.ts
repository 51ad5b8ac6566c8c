import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { ask, post } from "../../built/product.ts";
import { FAKE_AGENT } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";
import { dashboardFor, type Window } from "./harness.ts";

const dashboard = dashboardFor({
  home: ({ home }) => {
    mkdirSync(join(home, ".agent-bridge"), { recursive: true });
    mkdirSync(join(home, "work"));
    const mine = { command: process.execPath, args: [FAKE_AGENT] };
    writeFileSync(join(home, ".agent-bridge/config.json"), JSON.stringify({ version: 1, agents: { mine } }));
  },
});

/** Puts in the place of the browser's notices some that are kept in `shown`, and has the page believe that nobody looks at it. */
const RECORDED = `
  window.shown = [];
  window.Notification = class extends EventTarget {
    static permission = "default";
    static asked = 0;
    static async requestPermission() { this.asked++; return (this.permission = window.answer ?? "granted"); }
    constructor(title, options) { super(); this.title = title; Object.assign(this, options); window.shown.push(this); }
    close() { this.closed = true; }
  };
  document.hasFocus = () => window.looking === true;
  if (navigator.locks) navigator.locks.query = async () => ({ held: [], pending: [] });
`;

async function windowOf(t: TestContext): Promise<Window> {
  const window = await dashboard.window(t);
  await window.context.addInitScript(RECORDED);
  return window;
}

async function turnOn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Notices" }).click();
}

const shown = (page: Page): Promise<string[]> =>
  page.evaluate("shown.map(({ title, body }) => title + ': ' + body)") as Promise<string[]>;

/** Starts a session whose agent asks at once; its id. */
async function asking(name: string, title: string): Promise<string> {
  const prompt = `ask t1 ${JSON.stringify({ toolCall: { toolCallId: "t1", title } })}`;
  const cwd = join(dashboard.machine.home, "work");
  const { json } = await post(dashboard.api, "/api/sessions", { agent: "mine", cwd, name, prompt, permit: "ask" });
  return json.id;
}

const answer = (id: string) =>
  post(dashboard.api, `/api/sessions/${id}/permissions`, { toolCallId: "t1", optionId: "allow" });
const end = (id: string) => ask(dashboard.api, `/api/sessions/${id}`, {}, "DELETE");

test("what waits for an answer stands in the tab's title and the header, also without notices", async (t) => {
  const page = await (await windowOf(t)).openTab("#/runs");
  const id = await asking("first", "Write a file");
  await page.getByRole("link", { name: "Agents 1 waits for an answer" }).waitFor();
  await until(async () => (await page.title()).startsWith("(1) Runs"));
  await page.evaluate("window.looking = true");
  await page.goto(`${dashboard.url}/#/agents/${id}`);
  await until(async () => !(await page.title()).startsWith("("));
  await page.getByRole("link", { name: "Agents 1 waits for an answer" }).waitFor();
  await answer(id);
  await page.getByRole("link", { name: "Agents", exact: true }).waitFor();
  await end(id);
  assert.deepEqual([await shown(page), await page.evaluate("Notification.asked")], [[], 0]);
});

test("who asked for notices gets one when a session waits, and one when it ends; a click leads to it", async (t) => {
  const window = await windowOf(t);
  const pages = [await window.openTab("#/runs"), await window.openTab("#/")];
  const [page, other] = pages as [Page, Page];
  await turnOn(page);
  await page.getByText("Notices are on").waitFor();
  await other.evaluate("Notification.permission = 'granted'");
  const id = await asking("second", "Write \u202ea file");
  const waits = "mine · second: Waits for your answer: Write a file";
  for (const each of pages) await until(async () => (await shown(each)).includes(waits));
  const [tag, otherTag] = await Promise.all(pages.map((each) => each.evaluate("shown[0].tag")));
  assert.equal(tag, otherTag);
  await page.evaluate("shown[0].dispatchEvent(new Event('click'))");
  await until(() => page.url().endsWith(`#/agents/${id}`));
  await answer(id);
  await end(id);
  await until(async () => (await shown(page)).includes("mine · second: Ended"));
  assert.equal((await shown(page)).length, 2);
  await turnOn(page);
  await page.getByText("Notices are off").waitFor();
});

test("a browser that does not let the page show notices is told of, and nothing is turned on", async (t) => {
  const page = await (await windowOf(t)).openTab("#/runs");
  await page.evaluate("window.answer = 'denied'");
  await turnOn(page);
  await page.getByRole("alert").getByText("does not let this page show notices").waitFor();
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.getByRole("alert").getByText("does not let").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Notices", checked: false }).waitFor();
});
