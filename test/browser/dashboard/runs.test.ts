import assert from "node:assert/strict";
import { appendFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { until } from "../../support/until.ts";
import { axe, dashboardFor, nodes } from "./harness.ts";
import { Talk } from "./home/claude.ts";
import { entry, logOf, writeJobs, writeRun } from "./runs-home.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
const MANY = 300;
/** Runs in the home beside the many, and the job whose log is lost. */
const OTHERS = 7;
const ALL = MANY + OTHERS;
const SESSION = "7bce4c68-9fa0-41d1-8db7-6ebf9c8fd177";
const LARGE_LINES = 95_000;
const HOST = { host: { pid: process.pid, startedAt: NOW } };

let names: { [run: string]: string } = {};

const dashboard = dashboardFor({
  home({ home }) {
    for (let i = 0; i < MANY; i++) {
      const id = (0x1000 + i).toString(16).padStart(8, "0");
      const agent = i % 2 === 0 ? "claude" : "codex";
      const outcome = i === 290 ? "failed: the model is overloaded" : "done";
      const metadata = { job: `job-${Math.floor(i / 3)}` };
      writeRun(home, {
        id,
        agent,
        at: NOW - 10 * HOUR - i * HOUR,
        title: `Task number ${i}`,
        outcome,
        archived: i > 200,
        metadata,
      });
    }
    const running = { writtenAt: NOW, metadata: HOST };
    // Entries of fifty lines, so that a test need not scroll through thousands of screens.
    const large = Array.from({ length: LARGE_LINES }, (_, i) => {
      const line = `line ${i} of a large log, which has some more words`;
      return i % 50 === 0 ? entry(NOW - HOUR, line) : `         ${line}\n`;
    });
    const steps = Array.from({ length: 300 }, (_, i) => entry(NOW - HOUR, `step ${i}`)).join("");
    names = {
      ends: writeRun(home, { ...running, id: "aaaa0001", at: NOW - HOUR, title: "It will end" }),
      grows: writeRun(home, { ...running, id: "aaaa0002", at: NOW - HOUR, title: "It grows", log: steps }),
      large: writeRun(home, {
        id: "aaaa0003",
        at: NOW - 2 * HOUR,
        title: "A large log",
        log: large.join(""),
        outcome: "done",
      }),
      coloured: writeRun(home, {
        id: "aaaa0004",
        at: NOW - 3 * HOUR,
        title: "Colours",
        prompt: "Say it in colour.\n\nAnd say why.",
        log: entry(NOW, "answer: \u001b[31mred\u001b[0m and <b>bold</b>"),
        outcome: "failed: no key",
        metadata: { branch: "topic/colour" },
      }),
      talks: writeRun(home, {
        id: "aaaa0006",
        at: NOW - 5 * HOUR,
        title: "It talks",
        outcome: "done",
        metadata: { session: SESSION },
      }),
      replaced: writeRun(home, { ...running, id: "aaaa0005", at: NOW - HOUR, title: "It is replaced", log: steps }),
    };
    const talk = new Talk(home, {
      session: SESSION,
      cwd: home,
      branch: "main",
      startedAt: (NOW - 5 * HOUR) as EpochMs,
    });
    talk.user("Tidy up.").says("All of it is tidy.").save();
    const lost = { id: "0f0f0f0f", name: "codex-job-0f0f0f0f", agent: "codex", prompt: "Look into what was lost." };
    writeJobs(home, [{ ...lost, status: "done", startedAt: NOW - 4 * HOUR, finishedAt: NOW - 3 * HOUR }]);
  },
});

/** Chromium itself says in the console that an answer was an error. */
const NO_SESSION = /^console Failed to load resource: the server responded with a status of (?:409|404)/;

const rowOf = (page: Page, title: string) => page.locator(".run-row", { hasText: title });
const says = async (what: Locator): Promise<string> => (await what.textContent()) ?? "";
const logText = (page: Page) => says(page.locator(".log-box"));

async function runTab(t: Parameters<typeof dashboard.window>[0], name = "", options = {}): Promise<Page> {
  const window = await dashboard.window(t, options);
  window.seen.allow(NO_SESSION);
  const page = await window.openTab(`#/runs/${name}`);
  await page.locator(".run h1").waitFor();
  return page;
}

function scrollBox(page: Page, box: string, to: "start" | "end" | number): Promise<unknown> {
  const top = to === "start" ? "0" : to === "end" ? "box.scrollHeight" : `box.scrollTop + ${to}`;
  return page.evaluate(`(() => { const box = document.querySelector("${box}"); box.scrollTop = ${top}; })()`);
}

test("the list shows running ones first, loads further pages as one scrolls, and keeps few of them in the page", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await rowOf(page, "It will end").waitFor();
  assert.equal(await page.locator("h2").first().textContent(), "Running");
  assert.equal(await page.locator(".runs-head p").textContent(), String(ALL));
  let most = 0;
  await until(async () => {
    await scrollBox(page, ".list-box", "end");
    most = Math.max(most, await nodes(page));
    return (await rowOf(page, `Task number ${MANY - 1}`).count()) === 1;
  });
  assert.match(await says(rowOf(page, `Task number ${MANY - 1}`)), /archived/);
  assert.equal(most < 1_500, true, `${most} elements`);
});

test("a run that ends is shown as ended, without the page being asked for anew", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await rowOf(page, "It will end").locator("[data-status=running]").waitFor();
  const { home } = dashboard.machine;
  appendFileSync(logOf(home, names.ends ?? ""), entry(NOW, "12s · step 1 · running: npm test"));
  await rowOf(page, "running: npm test").waitFor();
  const link = rowOf(page, "It will end").locator("[data-row]");
  await link.focus();
  appendFileSync(logOf(home, names.ends ?? ""), entry(NOW, "finished after 20s · failed: out of tokens"));
  await rowOf(page, "out of tokens").locator("[data-status=failed]").waitFor();
  assert.equal(await link.evaluate((element) => element.ownerDocument.activeElement === element), true);
});

test("a log is followed while its end is in view, and stays where it is when one has scrolled up", async (t) => {
  const page = await runTab(t, names.grows);
  await until(async () => (await logText(page)).includes("step 299"));
  const path = logOf(dashboard.machine.home, names.grows ?? "");
  appendFileSync(path, entry(NOW, "followed 1"));
  await page.locator(".log-row", { hasText: "followed 1" }).waitFor();
  const atEnd =
    "(() => { const box = document.querySelector('.log-box'); return box.scrollHeight - box.scrollTop - box.clientHeight < 4; })()";
  await until(async () => (await page.evaluate(atEnd)) === true);
  await page.locator(".log-box").hover();
  await page.mouse.wheel(0, -1_500);
  await page.getByRole("button", { name: "Follow" }).waitFor();
  const top =
    "(() => { const box = document.querySelector('.log-box').getBoundingClientRect(); const row = document.elementFromPoint(box.left + 40, box.top + 40).closest('.log-row'); return row.textContent + row.getBoundingClientRect().top; })()";
  const before = await page.evaluate(top);
  const size = page.locator(".pane-head .quiet");
  const told = await size.textContent();
  appendFileSync(path, Array.from({ length: 50 }, (_, i) => entry(NOW, `later ${i}`)).join(""));
  // What is new stands below: only the size that is told shows that it was read.
  await until(async () => (await size.textContent()) !== told);
  assert.equal(await page.evaluate(top), before);
  await page.getByRole("button", { name: "Follow" }).click();
  await page.locator(".log-row", { hasText: "later 49" }).waitFor();
  await until(async () => (await page.evaluate(atEnd)) === true);
  assert.equal(await page.getByRole("button", { name: "Follow" }).isVisible(), false);
});

/** Scrolls a log up through many screens, each once what is above it stands there. */
const UPWARD = `new Promise((done) => {
  const box = document.querySelector(".log-box");
  let steps = 0;
  const step = () => {
    box.scrollTop = 0;
    if (++steps < 50) requestAnimationFrame(step);
    else done();
  };
  step();
})`;

test("a log of megabytes opens at its end with one read more, and can be scrolled to its start with little of it in the page", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(NO_SESSION);
  let reads = 0;
  await window.context.route(/\/api\/runs\/[^/?]+\?from=/, (route) => {
    reads++;
    return route.continue();
  });
  const page = await window.openTab(`#/runs/${names.large}`);
  await page.locator(".log-row", { hasText: `line ${LARGE_LINES - 1} ` }).waitFor();
  assert.equal(reads <= 4, true, `${reads} reads`);
  let most = 0;
  const start = page.locator(".log-row", { hasText: "access edit, by you" });
  for (; (await start.count()) === 0; most = Math.max(most, await nodes(page))) await page.evaluate(UPWARD);
  assert.equal(most < 2_000, true, `${most} elements`);
  assert.match(await says(page.locator(".pane-head .quiet")), /^[12]\.\d MB of 5\.\d MB$/);
  await page.getByRole("button", { name: "Follow" }).click();
  await page.locator(".log-row", { hasText: `line ${LARGE_LINES - 1} ` }).waitFor();
  await page.getByRole("button", { name: "First", exact: true }).click();
  await page.locator(".log-row", { hasText: "line 0 of" }).waitFor();
});

test("a log that is written anew is shown anew, and that is said", async (t) => {
  const page = await runTab(t, names.replaced);
  await page.locator(".log-row", { hasText: "step 299" }).waitFor();
  writeFileSync(logOf(dashboard.machine.home, names.replaced ?? ""), entry(NOW, "begun again"));
  await page.locator(".log-row", { hasText: "begun again" }).waitFor();
  assert.equal((await logText(page)).includes("step"), false);
  await page.getByText("The log was written anew").first().waitFor();
});

test("a job whose log is lost is marked, and its saved prompt and times are shown", async (t) => {
  const list = await dashboard.tab(t, "#/runs");
  assert.match(await says(rowOf(list, "Look into what was lost.")), /log lost; from the saved job/);
  const page = await runTab(t, "codex-job-0f0f0f0f");
  await page.getByText("The log is lost.").waitFor();
  assert.match(await says(page.locator(".run-head")), /done[\s\S]*took 1 h[\s\S]*log lost/);
  await page.locator("summary", { hasText: "Prompt" }).click();
  assert.equal(await page.locator(".run-prompt").textContent(), "Look into what was lost.");
});

test("a run shows its outcome, its whole prompt and the colours of its log, and nothing of it acts", async (t) => {
  const page = await runTab(t, names.coloured);
  await page.locator(".log-row[data-kind=answer]", { hasText: "red and <b>bold</b>" }).waitFor();
  assert.equal(await page.locator(".log-row[data-kind=answer] span[class^=sgr]", { hasText: "red" }).count(), 1);
  assert.match(await says(page.locator(".run-head")), /Outcomefailed: no key.*topic\/colour/);
  await page.locator("summary", { hasText: "Prompt" }).click();
  assert.equal(await page.locator(".run-prompt").textContent(), "Say it in colour.\n\nAnd say why.");
});

test("a run without a saved session says calmly that it has no chat, and why, and a run that there is not leads back", async (t) => {
  const page = await runTab(t, names.coloured);
  await page
    .locator(".sides")
    .getByText(/session id/i)
    .waitFor();
  assert.equal(await page.locator(".sides .state-title").textContent(), "There is no chat.");
  assert.equal(await page.locator(".sides").getByRole("alert").count(), 0);
  assert.equal(await page.locator(".sides").getByRole("button", { name: "Try again" }).count(), 0);
  await page.goto(`${dashboard.url}/#/runs/2026-01-01-00-00-00-claude-00000000`);
  await page.getByText("There is no such run.").waitFor();
  await page.getByRole("link", { name: "All runs" }).click();
  await rowOf(page, "It grows").waitFor();
});

test("the list is gone through, opened from and come back to with the keyboard", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(NO_SESSION);
  const page = await window.openTab("#/runs");
  await rowOf(page, "Task number 0").waitFor();
  const focused = () => page.evaluate("document.activeElement.dataset.row");
  for (let i = 0; i < 12; i++) await page.keyboard.press(i % 2 === 0 ? "j" : "ArrowDown");
  await page.keyboard.press("k");
  const name = await focused();
  assert.match(String(name), /-(?:claude|codex)-/);
  await page.keyboard.press("Enter");
  await page.locator(".run h1").waitFor();
  assert.equal(page.url().endsWith(`#/runs/${name}`), true);
  await page.goBack();
  await until(async () => (await focused()) === name);
  await page.keyboard.press("/");
  await page.keyboard.type("jk number 12");
  await page
    .getByText("No run is like this.")
    .or(page.getByText(/Searched/))
    .waitFor();
  assert.equal(await page.locator(".run-row").count(), 0);
});

test("a filter says how far it has looked, and looks through all of the runs when asked to", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await rowOf(page, "Task number 0").waitFor();
  await page.getByLabel("Search runs").fill("number 290");
  await page.getByText("Searched the newest 50").waitFor();
  await page.getByRole("button", { name: `Load all ${ALL}` }).click();
  await rowOf(page, "the model is overloaded").waitFor();
  assert.equal(await page.locator(".runs-head p").textContent(), `1 of ${ALL}`);
  await page.getByLabel("Search runs").fill("");
  await rowOf(page, "Task number 1").first().waitFor();
  await rowOf(page, "Task number 1").first().getByRole("link", { name: "job-0" }).click();
  await until(async () => (await page.locator(".run-row").count()) === 3);
  await page.getByTitle("Of all jobs again").click();
  await until(async () => (await page.locator(".run-row").count()) > 3);
  await page.getByLabel("Status").selectOption("failed");
  await until(async () => page.url().endsWith("#/runs?status=failed"));
  await page.reload();
  await page.locator(".run-row [data-status=failed]").first().waitFor();
  assert.equal(await page.locator(".run-row [data-status=done]").count(), 0);
});

test("on a small screen log and chat stand under tabs, which arrow keys change", async (t) => {
  const page = await runTab(t, names.large, { viewport: { width: 390, height: 844 } });
  await page.locator(".log-row", { hasText: `line ${LARGE_LINES - 1} ` }).waitFor();
  await page.getByRole("tab", { name: "Log" }).press("ArrowRight");
  await page.getByText(/session id/i).waitFor();
  assert.equal(await page.getByRole("tab", { name: "Chat" }).getAttribute("aria-selected"), "true");
  assert.equal(await page.locator(".log-box").isVisible(), false);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.locator(".log-row", { hasText: `line ${LARGE_LINES - 1} ` }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
});

/** Landmarks that nothing tells from each other; which axe calls a moderate fault. */
async function landmarks(page: Page): Promise<readonly string[]> {
  const names = await page.getByRole("region").evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `two regions are called ${name}`);
}

/** What stands in a chat is held to this where chats are. */
const IN_CHAT = /chat-rows|data-key=/;

for (const colorScheme of ["light", "dark"] as const) {
  test(`the list and a run with its chat have no accessibility fault in the ${colorScheme}`, async (t) => {
    const list = await dashboard.tab(t, "#/runs", { colorScheme, reducedMotion: "reduce" });
    await rowOf(list, "Task number 0").waitFor();
    assert.deepEqual(await axe(list), []);
    const page = await dashboard.tab(t, `#/runs/${names.talks}`, { colorScheme, reducedMotion: "reduce" });
    await page.locator(".sides .chat").getByText("All of it is tidy.").waitFor();
    await page.locator(".log-row", { hasText: "started" }).waitFor();
    await page.locator("summary", { hasText: "Prompt" }).click();
    const faults = [...(await axe(page)), ...(await landmarks(page))];
    assert.deepEqual(
      faults.filter((fault) => !IN_CHAT.test(fault)),
      [],
    );
  });
}
