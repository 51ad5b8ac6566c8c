import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { ask, post } from "../../built/product.ts";
import { until } from "../../support/until.ts";
import { axe, dashboardFor } from "./harness.ts";
import { WHERE, writeHome } from "./home-folder.ts";
import { settled } from "./pages.ts";

const AGENT = fileURLToPath(new URL("../../support/fake-agent.mjs", import.meta.url));

const dashboard = dashboardFor({
  home({ home }) {
    writeHome(home);
    const folder = join(home, ".agent-bridge");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const config = { version: 1, agents: { fake: { command: process.execPath, args: [AGENT] } } };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config), { mode: 0o600 });
  },
});

const words = async (of: Locator): Promise<string> => (await of.textContent()) ?? "";
const rows = (page: Page) => page.locator(".rows [data-row]");
const now = (page: Page) => page.locator(".now-row");
const count = (page: Page) => page.locator(".count");
const search = (page: Page) => page.getByRole("searchbox");
const firstRow = (page: Page) => rows(page).first().getAttribute("data-row");
/** The line that has the focus, as its row names it. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement?.closest("[data-row]")?.dataset.row ?? null') as Promise<string | null>;
const scrolled = (page: Page) => page.evaluate('document.querySelector(".list-box").scrollTop') as Promise<number>;
const hash = (page: Page) => page.evaluate("location.hash") as Promise<string>;
/** The first row whose top is in view, and where it stands. */
const inView = (page: Page) =>
  page.evaluate(`(() => {
    const top = document.querySelector(".list-bar").getBoundingClientRect().bottom;
    const row = [...document.querySelectorAll(".rows [data-row]")].find((each) => each.getBoundingClientRect().top > top);
    return [row.dataset.row, Math.round(row.getBoundingClientRect().top)];
  })()`) as Promise<[string, number]>;

const KEYS = '[...document.querySelectorAll(".rows [data-row]")].map((row) => row.dataset.row)';

/** What of the view that people point at is less than 24 pixels high; what stands in a text may be. */
const SMALL = `[...document.querySelectorAll("main :is(a, button, input, select)")].filter((one) =>
  one.checkVisibility() && !one.matches(".go, .fold, .by-folder") && one.getBoundingClientRect().height < 24
).map((one) => one.outerHTML)`;

async function opened(t: test.TestContext, at = "#/", settings = {}): Promise<Page> {
  const page = await dashboard.tab(t, at, settings);
  await settled(page);
  return page;
}

async function scrollTo(page: Page, top: number): Promise<void> {
  await page.evaluate(`document.querySelector(".list-box").scrollTop = ${top}`);
  await settled(page);
}

test("what goes on now stands on top: who, what, since when, and what it did last", async (t) => {
  const page = await opened(t);
  assert.equal(await words(page.locator("h1")), "Sessions");
  const live = now(page).filter({ hasText: "Keep the test suite green" });
  assert.match(await words(live), /busyClaude Codeshop/);
  assert.equal((await live.locator("time").first().getAttribute("title")) !== "", true);
  assert.equal(await live.locator(".doing").isVisible(), true);
  // Its run stands in the same row.
  assert.equal(await live.count(), 1);
  assert.match(await words(live.locator(".doing")), /^answer: Run the tests/);
  await live.locator("a.go").click();
  assert.equal(await hash(page), `#/claude/${WHERE.live}`);
});

test("a question for permission comes first, and is gone when it is answered", async (t) => {
  const page = await opened(t);
  const { json } = await post(dashboard.api, "/api/sessions", {
    agent: "fake",
    name: "asker",
    cwd: dashboard.machine.home,
    permit: "ask",
    prompt: 'ask deploy {"toolCall":{"toolCallId":"deploy","title":"rm -rf \\u202ebuild"}}',
  });
  const first = now(page).first();
  await first.filter({ hasText: "waiting for you" }).waitFor();
  assert.equal(await first.getAttribute("data-status"), "awaiting-input");
  assert.equal(await words(first.locator(".wants")), "rm -rf build");
  assert.equal(await first.getByRole("link", { name: "Answer" }).getAttribute("href"), `#/agents/${json.id}`);
  assert.deepEqual(await axe(page), []);
  await post(dashboard.api, `/api/sessions/${json.id}/permissions`, { toolCallId: "deploy", optionId: "allow" });
  await now(page).filter({ hasText: "idle" }).filter({ hasText: "fake" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Answer" }).count(), 0);
  await ask(dashboard.api, `/api/sessions/${json.id}`, {}, "DELETE");
  await until(async () => (await now(page).filter({ hasText: "fake" }).count()) === 0);
});

test("a question of thousands of characters takes no more room than two lines", async (t) => {
  const page = await opened(t);
  const title = "Write all of this ".repeat(170);
  const { json } = await post(dashboard.api, "/api/sessions", {
    agent: "fake",
    cwd: dashboard.machine.home,
    permit: "ask",
    prompt: `ask deploy ${JSON.stringify({ toolCall: { toolCallId: "deploy", title } })}`,
  });
  const row = now(page).filter({ hasText: "Write all of this" });
  await row.locator(".wants").waitFor();
  assert.equal(((await row.boundingBox())?.height ?? 1_000) < 160, true);
  assert.equal(await row.getByRole("link", { name: "Answer" }).isVisible(), true);
  await ask(dashboard.api, `/api/sessions/${json.id}`, {}, "DELETE");
  await until(async () => (await row.count()) === 0);
});

test("several spaces between words, and some around them, are searched for as one", async (t) => {
  const page = await opened(t, "#/?q=%20test%20%20%20suite%20");
  const asked = await rows(page).count();
  assert.equal(await search(page).inputValue(), "test suite");
  await search(page).fill("");
  await until(async () => (await hash(page)) === "#/");
  await search(page).fill("  test    suite ");
  await until(async () => (await hash(page)) === "#/?q=test%20suite");
  await settled(page);
  assert.equal(await rows(page).count(), asked);
  assert.equal(asked > 0, true);
  assert.equal(await search(page).inputValue(), "  test    suite ");
});

test("the name of a folder turns nothing of what follows it, in the list, the field and the head of a session", async (t) => {
  const window = await dashboard.window(t);
  const turned = "/srv/x \u202egnp";
  await window.context.route(/\/api\/projects\b/, async (route) => {
    const response = await route.fetch();
    const page = await response.json();
    const projects = page.projects.map((each: object, at: number) => (at === 0 ? { ...each, project: turned } : each));
    await route.fulfill({ response, json: { ...page, projects } });
  });
  await window.context.route(/\/api\/transcripts\/claude\/[^/?]+$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), cwd: turned } });
  });
  const page = await window.openTab();
  const option = page.locator("option[title='/srv/x gnp']");
  await option.waitFor({ state: "attached" });
  assert.equal(await option.textContent(), "x gnp");
  await page.goto(`${dashboard.url}/#/claude/${WHERE.rich}`);
  await page.locator(".folder[title='/srv/x gnp']").waitFor();
  assert.equal(await page.locator(".session-head .folder").textContent(), "x gnp");
});

test("a store that can't be read says so, and what could not be shown is counted", async (t) => {
  const window = await dashboard.window(t);
  await window.context.route("**/api/state", async (route) => {
    const response = await route.fetch();
    const state = await response.json();
    const [first, ...others] = state.stores;
    const stores = [{ ...first, problem: "the folder can't be read", skipped: 3 }, ...others];
    for (const store of others) store.skipped = 0;
    await route.fulfill({ response, json: { ...state, stores } });
  });
  const page = await window.openTab();
  await settled(page);
  assert.deepEqual(await page.locator(".stores p").allTextContents(), [
    "Claude Code: the folder can't be read; what was listed before is still shown.",
    "3 things in the stores could not be shown; agent-bridge doctor says why.",
  ]);
  assert.equal((await rows(page).count()) > 0, true);
});

test("sessions stand by day, each with what tells it from the others, and lead to their chat", async (t) => {
  const page = await opened(t);
  const days = await page.locator(".day:visible").allTextContents();
  assert.equal(days[0], "Today");
  assert.match(days.at(-1) ?? "", /^(Yesterday|\w+day, \w+ \d+)/);
  const { transcripts, total } = (await ask(dashboard.api, "/api/transcripts?limit=5")).json;
  assert.equal(await words(count(page)), `${total} sessions`);
  for (const { agent, id } of transcripts)
    assert.equal(await page.locator(`.rows [data-row="${agent}/${id}"]`).count(), 1);
  const row = page.locator(`.rows [data-row="claude/${WHERE.rich}"]`);
  assert.match(await words(row), /Claude CodeOnly sessions in shopfix\/login/);
  assert.match((await row.locator("time").getAttribute("title")) ?? "", /\d{4} at .*UTC/);
  assert.equal(await row.getAttribute("aria-setsize"), String(total));
  // Anywhere in the row, not only on its title.
  await row.locator(".entry").click({ position: { x: 600, y: 30 } });
  assert.equal(await hash(page), `#/claude/${WHERE.rich}`);
});

test("titles that try to act or to turn the text are only text", async (t) => {
  const page = await opened(t, "#/?q=script");
  const titles = await page.locator(".rows a.go").allTextContents();
  assert.equal(titles.length > 0, true);
  for (const title of titles) assert.doesNotMatch(title, /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
  assert.equal(await page.locator(".rows script, .rows img, .rows b").count(), 0);
});

test("typing narrows the list, and a link holds what it is narrowed to", async (t) => {
  const page = await opened(t);
  const entries = await page.evaluate("history.length");
  await search(page).fill("session 1");
  await until(async () => (await hash(page)) === "#/?q=session%201");
  await until(async () => (await words(count(page))) === "11 sessions");
  assert.equal(await page.evaluate("history.length"), entries);
  await page.getByLabel("Agent").selectOption("codex");
  await page.getByText("No session matches.").waitFor();
  assert.equal(await hash(page), "#/?agent=codex&q=session%201");
  await page.reload();
  await page.getByText("No session matches.").waitFor();
  assert.equal(await search(page).inputValue(), "session 1");
  assert.equal(await page.getByLabel("Agent").inputValue(), "codex");
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await rows(page).first().waitFor();
  assert.equal(await hash(page), "#/");
  assert.equal(await search(page).inputValue(), "");
});

test("the list is narrowed to live sessions, and to a project from a field or from a row", async (t) => {
  const page = await opened(t);
  await page.getByLabel("State").selectOption("live");
  await until(async () => (await rows(page).count()) === 1);
  assert.equal(await firstRow(page), `claude/${WHERE.live}`);
  assert.equal(await words(rows(page).first().locator(".status")), "busy");
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await until(async () => (await rows(page).count()) > 5);
  const notes = join(dashboard.machine.home, "work/notes");
  await page.getByLabel("Project").selectOption({ label: "notes" });
  await until(async () => (await hash(page)) === `#/?project=${encodeURIComponent(notes)}`);
  await settled(page);
  const folders = new Set(await page.locator(".rows .folder").allTextContents());
  assert.deepEqual([...folders], ["notes"]);
  await page.goBack();
  await settled(page);
  assert.equal(await page.getByLabel("Project").inputValue(), "");
  await page.locator(".rows .by-folder").filter({ hasText: "gone" }).first().click();
  await settled(page);
  assert.equal(await page.getByLabel("Project").inputValue(), join(dashboard.machine.home, "work/gone"));
});

test("projects unfold in place to their sessions, page by page, also by the keyboard", async (t) => {
  const page = await opened(t, "#/?by=project");
  assert.equal(await page.getByRole("button", { name: "By project" }).getAttribute("aria-pressed"), "true");
  const { projects, total } = (await ask(dashboard.api, "/api/projects")).json;
  assert.equal(await words(count(page)), `${total} projects`);
  const shop = projects.find(({ project }: { project: string }) => project.endsWith("/shop"));
  const fold = page.locator(".fold").filter({ hasText: /^shop$/ });
  await fold.focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".inner").first().waitFor();
  assert.equal(await fold.getAttribute("aria-expanded"), "true");
  const more = page.getByRole("button", { name: /^\d+ more$/ });
  assert.equal(await words(more), `${shop.sessions - 20} more`);
  const place = 'document.activeElement?.closest(".inner")?.ariaPosInSet ?? null';
  for (let at = 1; at <= shop.sessions; at++) {
    await page.keyboard.press("ArrowDown");
    if ((await page.evaluate(place)) === null) await page.keyboard.press("Enter");
    await until(async () => (await page.evaluate(place)) === String(at));
  }
  await page.keyboard.press("ArrowLeft");
  await until(async () => (await page.locator(".inner").count()) === 0);
  assert.equal(await page.evaluate("document.activeElement.textContent"), "shop");
});

test("sessions whose folder is not known, and projects within others, are counted where they stand", async (t) => {
  const page = await opened(t, "#/?by=project");
  const { projects } = (await ask(dashboard.api, "/api/projects")).json;
  for (const [at, { sessions }] of projects.entries()) {
    const meta = page.locator(".row.project").nth(at).locator(".facts");
    assert.match(await words(meta), new RegExp(`(^|live)${sessions} sessions?`));
  }
});

test("the keyboard alone leads through everything", async (t) => {
  const page = await opened(t);
  const stops = await now(page).count();
  await page.keyboard.press("j");
  assert.equal(await focused(page), await now(page).first().getAttribute("data-row"));
  for (let at = 0; at < stops; at++) await page.keyboard.press("ArrowDown");
  const first = await firstRow(page);
  assert.equal(await focused(page), first);
  await page.keyboard.press("k");
  assert.equal(await focused(page), await now(page).last().getAttribute("data-row"));
  await search(page).focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(page), first);
  const seen: (string | null)[] = [];
  const { transcripts } = (await ask(dashboard.api, "/api/transcripts?limit=500")).json;
  for (let step = 0; step < transcripts.length; step++) {
    seen.push(await focused(page));
    await page.keyboard.press("j");
    if (step % 20 === 0) await settled(page);
  }
  assert.deepEqual(
    seen.toSorted(),
    transcripts.map(({ agent, id }: { agent: string; id: string }) => `${agent}/${id}`).toSorted(),
  );
  await page.keyboard.press("Home");
  assert.equal(await focused(page), await now(page).first().getAttribute("data-row"));
  await page.keyboard.press("End");
  assert.equal(await focused(page), seen.at(-1));
  await page.keyboard.press("PageUp");
  const above = seen.indexOf(await focused(page));
  assert.equal(above > 0 && above < seen.length - 4, true);
  await page.keyboard.press("PageDown");
  assert.equal(await focused(page), seen.at(-1));
  await page.keyboard.press("Enter");
  assert.equal(await hash(page), `#/${seen.at(-1)}`);
});

test("letters that are typed into a field move nothing", async (t) => {
  const page = await opened(t);
  await search(page).focus();
  await page.keyboard.type("jk");
  assert.equal(await search(page).inputValue(), "jk");
  assert.equal(await focused(page), null);
});

test("coming back from a session leads to where one was, with the focus", async (t) => {
  const page = await opened(t);
  for (const top of [1500, 3500, 4200]) await scrollTo(page, top);
  const [row] = await inView(page);
  const link = page.locator(`.rows [data-row="${row}"] a.go`);
  await link.focus();
  const [, place] = await inView(page);
  await page.keyboard.press("Enter");
  await until(async () => (await hash(page)) === `#/${row}`);
  await page.goBack();
  await until(async () => (await focused(page)) === row);
  await settled(page);
  const [rowThen, topThen] = await inView(page);
  assert.equal(rowThen, row);
  assert.equal(Math.abs(topThen - place) <= 1, true, `${place} → ${topThen}`);
  // A link to the list begins at its start.
  await page.evaluate('location.hash = "#/runs"');
  await page.locator("h1", { hasText: "Runs" }).waitFor();
  await page.evaluate('location.hash = "#/"');
  await rows(page).first().waitFor();
  assert.equal(await scrolled(page), 0);
});

test("a session that goes on moves to the top at once, and new ones appear there", async (t) => {
  const id = spoken("99999999-aaaa-4000-8000-000000000001", "Long ago", 200);
  const page = await opened(t);
  const before = await words(count(page));
  const row = page.locator(`.rows [data-row="claude/${id}"]`);
  assert.equal(await row.count(), 0);
  dashboard.machine.append(id, [turn(id, "Go on")]);
  await row.waitFor();
  // Those that were busy within the same minute stay where they are.
  assert.equal(Number(await row.getAttribute("aria-posinset")) < 8, true);
  assert.equal(await words(count(page)), before);
  const made = "99999999-aaaa-4000-8000-000000000002";
  dashboard.machine.append(made, [turn(made, "Something new")]);
  await until(async () => (await firstRow(page)) === `claude/${made}`);
  assert.notEqual(await words(count(page)), before);
  assert.equal(await scrolled(page), 0);
  const keys = (await page.evaluate(KEYS)) as string[];
  assert.equal(new Set(keys).size, keys.length);
});

test("what one reads does not move when sessions go on: they wait until one asks for them", async (t) => {
  const id = spoken("99999999-aaaa-4000-8000-000000000003", "Also long ago", 300);
  const page = await opened(t);
  await scrollTo(page, 2500);
  const [row, top] = await inView(page);
  dashboard.machine.append(id, [turn(id, "From far below")]);
  const made = "99999999-aaaa-4000-8000-000000000004";
  dashboard.machine.append(made, [turn(made, "Also new")]);
  const news = page.getByRole("button", { name: "2 updated · Show" });
  await news.waitFor();
  const [rowThen, topThen] = await inView(page);
  assert.equal(rowThen, row);
  assert.equal(Math.abs(topThen - top) <= 1, true, `${top} → ${topThen}`);
  assert.deepEqual(await axe(page), []);
  await news.click();
  await until(async () => (await focused(page)) === `claude/${made}`);
  assert.equal(await news.isVisible(), false);
});

test("while the server is gone what is shown stays, and goes on by itself when it is back", async (t) => {
  const window = await dashboard.window(t);
  window.seen.allow(/^console Failed to load resource|ERR_CONNECTION_REFUSED/);
  const page = await window.openTab();
  await settled(page);
  const shown = await rows(page).count();
  await dashboard.stopServer();
  await search(page).fill("session 7");
  await page.getByText("The sessions could not be listed.").waitFor();
  await search(page).fill("");
  await dashboard.startServer();
  await until(async () => (await rows(page).count()) >= shown);
  await until(async () => (await page.locator(".state.bad").count()) === 0);
});

for (const [name, settings] of Object.entries({
  "a wide window in the dark": { colorScheme: "dark" },
  "a phone": { viewport: { width: 390, height: 844 } },
  "a window of 320 pixels in the dark": { viewport: { width: 320, height: 568 }, colorScheme: "dark" },
})) {
  test(`in ${name} everything fits and can be used`, async (t) => {
    for (const at of ["#/", "#/?by=project"]) {
      const page = await opened(t, at, settings);
      assert.deepEqual(await axe(page), []);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
      assert.deepEqual(await page.evaluate(SMALL), []);
    }
  });
}

/** A session in which `text` was said `hours` ago; its id. */
function spoken(id: string, text: string, hours: number): string {
  const at = Date.now() - hours * 3_600_000;
  dashboard.machine.append(id, [turn(id, text, at)]);
  utimesSync(dashboard.machine.transcript(id), at / 1000, at / 1000);
  return id;
}

/** What a person says in the session `id`. */
function turn(id: string, text: string, at = Date.now()): object {
  const { home } = dashboard.machine;
  return {
    type: "user",
    sessionId: id,
    cwd: join(home, "work"),
    timestamp: new Date(at).toISOString(),
    message: { role: "user", content: text },
  };
}
