import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/until.ts";
import { dashboardFor } from "./harness.ts";
import { writeRun } from "./runs-home.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
/** What stands where a text should. */
const WRONG: readonly unknown[] = [5, true, ["a"], { a: 1 }, "half a character: \ud800"];
const FIELDS = ["title", "model", "job", "session", "sessionId", "continues", "by", "workdir", "branch", "finishedAt"];

const names: string[] = [];

const dashboard = dashboardFor({
  home({ home }) {
    const host = { host: { pid: process.pid, startedAt: NOW } };
    for (const [i, wrong] of WRONG.entries()) {
      const metadata = Object.fromEntries(FIELDS.map((field) => [field, wrong]));
      const damaged = { id: `bbbb000${i}`, at: NOW - (i + 2) * HOUR, prompt: `Damaged ${i}`, metadata };
      names.push(writeRun(home, { ...damaged, outcome: "done" }));
      // What goes on is shown at home too.
      writeRun(home, { ...damaged, id: `cccc000${i}`, writtenAt: NOW, metadata: { ...metadata, ...host } });
    }
    const odd = { agent: "constructor", worktree: 5, error: {}, exitCode: "x", prompt: [], parentJob: 7 };
    names.push(writeRun(home, { id: "bbbb0009", at: NOW - HOUR, prompt: "Damaged 9", outcome: "done", metadata: odd }));
    names.push(writeRun(home, { id: "aaaa0001", at: NOW - 30 * HOUR, title: "Whole", outcome: "done" }));
  },
});

const NO_SESSION = /^console Failed to load resource: the server responded with a status of (?:409|404)/;

test("runs whose metadata is damaged stand in the lists with what is sound of them, and so do the others", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await page.getByRole("link", { name: "Whole", exact: true }).waitFor();
  assert.equal(await page.locator(".run-row").count(), names.length + WRONG.length);
  assert.equal((await page.locator(".run-row", { hasText: "Damaged" }).count()) >= names.length - 2, true);
  assert.equal(await page.locator(".fault").count(), 0);
  await page.goto(`${dashboard.url}/#/`);
  await until(async () => (await page.locator(".now-row").count()) === WRONG.length);
});

test("going from run to run shows each under its own address, however damaged it is", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(NO_SESSION);
  const page = await window.openTab("#/runs");
  await page.getByRole("link", { name: "Whole", exact: true }).waitFor();
  for (const name of names) {
    await page.evaluate(`location.hash = "#/runs/${name}"`);
    const heading = page.locator(".run h1");
    await until(async () => /Damaged|Whole|half a character/.test((await heading.textContent()) ?? ""));
    await page.locator(".log-row", { hasText: "finished after 90s" }).waitFor();
    assert.equal(await page.getByText("Something went wrong in the page").count(), 0);
  }
});

test("a view that fails at the change to another place is left, and its error is shown where it would stand", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(/RangeError|out of range|^console/);
  // As if the page itself had a fault in it that only this run brings out.
  await window.context.addInitScript(`{
    const own = Intl.DateTimeFormat.prototype;
    const format = Object.getOwnPropertyDescriptor(own, "format").get;
    Object.defineProperty(own, "format", { get() {
      if (location.hash.endsWith("aaaa0001")) throw new RangeError("out of range");
      return format.call(this);
    } });
  }`);
  const page = await window.openTab(`#/runs`);
  await page.getByRole("link", { name: "Damaged 9" }).first().click();
  await page.locator(".run h1", { hasText: "Damaged 9" }).waitFor();
  await page.evaluate(`location.hash = "#/runs/${names.at(-1)}"`);
  await page.locator("[role=alert]", { hasText: "out of range" }).first().waitFor();
  assert.equal(await page.locator(".run h1", { hasText: "Damaged 9" }).count(), 0);
  await page.evaluate(`location.hash = "#/runs/${names[0]}"`);
  await page.locator(".run h1", { hasText: "Damaged 0" }).waitFor();
});

test("a row that can't be shown says so in its place, and the rows around it are there", async (t) => {
  const window = await dashboard.window(t);
  // As if the page itself had a fault in it that only this row brings out.
  await window.context.addInitScript(`{
    const set = Element.prototype.setAttribute;
    Element.prototype.setAttribute = function (name, value) {
      if (name === "data-row" && String(value).endsWith("bbbb0001")) throw new RangeError("this row");
      return set.call(this, name, value);
    };
  }`);
  const page = await window.openTab("#/runs");
  await page.getByRole("link", { name: "Whole", exact: true }).waitFor();
  assert.match((await page.locator("li.fault").textContent()) ?? "", /^This row can't be shown\..*this row/);
  assert.equal(await page.locator(".run-row").count(), names.length + WRONG.length - 1);
});
