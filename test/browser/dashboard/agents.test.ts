import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { ask } from "../../built/product.ts";
import { post } from "../../built/session-server.ts";
import { FAKE_AGENT } from "../../support/fake-agent.ts";
import { until } from "../../support/until.ts";
import { axe, dashboardFor } from "./harness.ts";

const dashboard = dashboardFor({
  home: ({ home }) => {
    mkdirSync(join(home, "work/shop"), { recursive: true });
    mkdirSync(join(home, ".agent-bridge"), { mode: 0o700 });
    const helper = { command: process.execPath, args: [FAKE_AGENT, "load", `store ${join(home, "fakes")}`] };
    writeFileSync(
      join(home, ".agent-bridge/config.json"),
      JSON.stringify({ version: 1, agents: { helper, broken: { command: "no-such-program" } } }),
    );
  },
});

const cwd = (): string => join(dashboard.machine.home, "work/shop");

/** Starts a session by the API; its id. */
async function started(body: object): Promise<string> {
  const { status, body: session } = await post(dashboard.api, "/api/sessions", { cwd: cwd(), ...body });
  assert.equal(status, 201, JSON.stringify(session));
  return session.id;
}

function helper(t: TestContext, more: object = {}): Promise<{ readonly id: string; readonly tab: Page }> {
  return opened(t, { agent: "helper", permit: "ask", ...more });
}

/** A session that was started by the API, in a tab. */
async function opened(t: TestContext, body: object): Promise<{ readonly id: string; readonly tab: Page }> {
  const id = await started(body);
  const tab = await dashboard.tab(t, `#/agents/${id}`);
  await tab.locator(".drive").waitFor();
  return { id, tab };
}

const prompt = (tab: Page): Locator => tab.getByRole("textbox", { name: "Prompt" });
const button = (tab: Page, name: string): Locator => tab.getByRole("button", { name, exact: true });
/** Comes back when the session is said to be in that state. */
const stands = (tab: Page, words: string): Promise<void> => tab.locator(".drive .status", { hasText: words }).waitFor();

async function say(tab: Page, text: string): Promise<void> {
  await prompt(tab).fill(text);
  await prompt(tab).press("Enter");
}

test("what an agent said can be exported where one talks with it", async (t) => {
  const { tab } = await helper(t, { prompt: 'say "to keep"' });
  await tab.getByText("to keep", { exact: true }).waitFor();
  await button(tab, "Export, link and more").click();
  await tab.getByRole("menuitem", { name: "Export …" }).click();
  const [download] = await Promise.all([tab.waitForEvent("download"), button(tab, "Export").click()]);
  assert.match(download.suggestedFilename(), /\.(?:md|html|json)$/);
});

test("an agent is started from the form, prompted, and says something", async (t) => {
  const tab = await dashboard.tab(t, "#/agents");
  await tab.getByRole("link", { name: "Start an agent" }).click();
  await tab.getByLabel("Agent", { exact: true }).waitFor();
  assert.equal(await tab.getByLabel("Agent", { exact: true }).inputValue(), "helper");
  assert.equal(await tab.getByRole("option", { name: "broken (not installed)" }).isDisabled(), true);
  assert.deepEqual(await axe(tab), []);
  await tab.getByLabel("Folder", { exact: true }).fill(cwd());
  await tab.getByLabel("Name", { exact: true }).fill("from the form");
  await tab.getByLabel("First prompt", { exact: true }).fill('say "good morning"');
  await button(tab, "Start").click();
  await tab.getByRole("heading", { name: "from the form", level: 1 }).waitFor();
  await tab.getByRole("region", { name: "Conversation" }).getByText("good morning", { exact: true }).waitFor();
  await stands(tab, "idle");
  await say(tab, 'say "second answer"');
  await tab.getByText("second answer", { exact: true }).waitFor();
  await until(async () => (await prompt(tab).inputValue()) === "");
});

test("what can't be started is said in the server's words, and the form stays as it was", async (t) => {
  const window = await dashboard.window(t);
  const tab = await window.openTab("#/start?cwd=/nowhere/at/all");
  window.seen.expect(/console .*status of 400/);
  await tab.getByLabel("First prompt", { exact: true }).fill("say x");
  await button(tab, "Start").click();
  await tab.getByRole("alert").getByText("is no folder that is there").waitFor();
  assert.equal(await tab.getByLabel("First prompt", { exact: true }).inputValue(), "say x");
  assert.equal(await button(tab, "Start").isEnabled(), true);
});

test("a command line is shown as it will run, and is not sent while it is not whole", async (t) => {
  const tab = await dashboard.tab(t, `#/start?cwd=${encodeURIComponent(cwd())}`);
  await tab.getByLabel("What", { exact: true }).selectOption("command");
  await tab.getByLabel("Command line", { exact: true }).fill('sh -c "echo one two');
  await button(tab, "Start").click();
  await tab.getByRole("alert").getByText('The " is not closed.').waitFor();
  await tab.getByLabel("Command line", { exact: true }).fill('sh -c "echo one two"');
  await tab.getByText("Runs: sh -c 'echo one two'").waitFor();
  await button(tab, "Start").click();
  await tab.locator(".screen").getByText("one two", { exact: true }).waitFor();
  await stands(tab, "ended");
  await tab.getByText("exit code 0").waitFor();
});

test("a question is answered, and the turn goes on", async (t) => {
  const { tab } = await helper(t);
  await say(tab, 'ask "the-file"\nsay done');
  const question = tab.getByRole("group", { name: /^Permission: / });
  await question.waitFor();
  await stands(tab, "waiting for you");
  const options = question.getByRole("button");
  assert.deepEqual(await options.locator("bdi").allInnerTexts(), ["Allow", "Always allow", "Reject"]);
  assert.deepEqual(await options.locator("small").allInnerTexts(), [
    "allows it once",
    "allows it always",
    "rejects it once",
  ]);
  assert.deepEqual(await axe(tab, [], ".session-foot"), []);
  await button(tab, "Reject").click();
  await question.waitFor({ state: "detached" });
  await stands(tab, "idle");
});

test("a question says what its call is given and what its options mean, whatever they are called", async (t) => {
  const { tab } = await helper(t);
  const lies = [{ optionId: "o", name: "Reject", kind: "allow_always" }];
  const more = { toolCall: { toolCallId: "q", title: "Read file", rawInput: { command: "rm -rf /" } }, options: lies };
  await say(tab, `ask q ${JSON.stringify(more)}`);
  await tab.getByRole("group", { name: "Permission: Read file" }).getByText("command: rm -rf /").waitFor();
  const option = button(tab, "Reject");
  assert.equal(await option.locator("small").textContent(), "allows it always");
  assert.equal(await option.getAttribute("aria-description"), "allows it always");
});

test("a question of any length leaves the prompt and the buttons within reach, also at 400 %", async (t) => {
  const { tab } = await helper(t);
  const long = "n".repeat(2_000);
  const options = [
    { optionId: "y", name: long, kind: "allow_once" },
    { optionId: "n", name: "No", kind: "reject_once" },
  ];
  const toolCall = { toolCallId: "q", title: "t ".repeat(1_500), rawInput: { command: "c ".repeat(1_500) } };
  await say(tab, `ask q ${JSON.stringify({ toolCall, options })}`);
  await button(tab, "No").waitFor();
  const seen = (name: string): Promise<unknown> =>
    button(tab, name).evaluate((element) => {
      const { top, bottom, left, right } = element.getBoundingClientRect();
      const { innerWidth, innerHeight } = element.ownerDocument.defaultView ?? { innerWidth: 0, innerHeight: 0 };
      return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
    });
  for (const name of ["No", "Stop", "Send"]) assert.equal(await seen(name), true, name);
  assert.deepEqual(await axe(tab, [], ".session-foot"), []);
  await tab.setViewportSize({ width: 320, height: 256 });
  for (const name of [long, "No", "Stop", "Send"]) {
    await button(tab, name).scrollIntoViewIfNeeded();
    assert.equal(await seen(name), true, name);
  }
});

test("no view scrolls sideways at 320 pixels while a session waits for an answer", async (t) => {
  await started({ agent: "helper", permit: "ask", prompt: "ask the-file" });
  const tab = await dashboard.tab(t, "#/", { viewport: { width: 320, height: 640 } });
  for (const hash of ["#/", "#/runs", "#/agents", "#/start"]) {
    await tab.evaluate(`location.hash = "${hash}"`);
    await tab.locator(".badge", { hasText: "wait" }).waitFor();
    for (const count of ["1", "99+"]) {
      await tab.evaluate(`document.querySelector(".badge > span").textContent = "${count}"`);
      const settings = await button(tab, "Settings").boundingBox();
      const width = await tab.evaluate("document.documentElement.scrollWidth");
      assert.deepEqual([width, settings !== null && settings.x + settings.width <= 320], [320, true], hash);
    }
  }
});

test("a question that was answered elsewhere is gone", async (t) => {
  const { id, tab } = await helper(t);
  await say(tab, "ask q1\nask q2\nuntil-cancel");
  await tab.getByRole("group", { name: "Permission: q1" }).waitFor();
  await button(tab, "Allow").focus();
  await post(dashboard.api, `/api/sessions/${id}/permissions`, { toolCallId: "q1", optionId: "allow" });
  await tab.getByRole("group", { name: "Permission: q2" }).waitFor();
  assert.equal(await tab.getByRole("group", { name: "Permission: q1" }).count(), 0);
});

test("a turn is cancelled, and the session goes on", async (t) => {
  const { tab } = await helper(t);
  await say(tab, "say begun\nsilent");
  await stands(tab, "busy");
  await button(tab, "Cancel turn").click();
  await stands(tab, "idle");
  await say(tab, 'say "goes on"');
  await tab.getByText("goes on", { exact: true }).waitFor();
});

test("a prompt to a busy session waits in the field until one says that it interrupts", async (t) => {
  const { tab } = await helper(t);
  await say(tab, "say begun\nsilent");
  await stands(tab, "busy");
  await say(tab, 'say "came between"');
  await button(tab, "Send and interrupt").waitFor();
  assert.equal(await prompt(tab).inputValue(), 'say "came between"');
  await button(tab, "Send and interrupt").click();
  await tab.getByText("came between", { exact: true }).waitFor();
  await stands(tab, "idle");
});

test("a draft outlives the page, and is gone once it was taken", async (t) => {
  const { tab } = await helper(t);
  await prompt(tab).fill("say one");
  await prompt(tab).press("Shift+Enter");
  await prompt(tab).pressSequentially("say two");
  await tab.reload();
  await prompt(tab).waitFor();
  assert.equal(await prompt(tab).inputValue(), "say one\nsay two");
  assert.equal(await prompt(tab).getAttribute("rows"), "2");
  await prompt(tab).press("Enter");
  await until(async () => (await prompt(tab).inputValue()) === "");
  await tab.reload();
  await prompt(tab).waitFor();
  assert.equal(await prompt(tab).inputValue(), "");
});

test("a session is stopped after one was asked once more, and restarted", async (t) => {
  const { id, tab } = await helper(t, { name: "to be stopped" });
  await button(tab, "Stop").click();
  await button(tab, "No").click();
  await button(tab, "Stop").click();
  await button(tab, "Yes, stop it").click();
  await stands(tab, "ended");
  assert.equal(await prompt(tab).isVisible(), false);
  await button(tab, "Restart").click();
  await tab.waitForURL((url) => url.hash.startsWith("#/agents/") && !url.hash.endsWith(id));
  await stands(tab, "idle");
  assert.equal(await tab.getByRole("link", { name: "Restarted from" }).getAttribute("href"), `#/agents/${id}`);
});

test("what takes its own button away hands the focus on", async (t) => {
  const { tab } = await helper(t);
  const focus = (): Promise<unknown> => tab.evaluate("document.activeElement.closest('.composer, .facts')?.className");
  const handed = (to: string): Promise<void> => until(async () => (await focus()) === to);
  await say(tab, "say begun\nsilent");
  await button(tab, "Cancel turn").press("Enter");
  await stands(tab, "idle");
  await handed("composer");
  await say(tab, "ask q1");
  await button(tab, "Allow").press("Enter");
  await stands(tab, "idle");
  await handed("composer");
  await say(tab, "say begun\nuntil-cancel\nexit 3");
  await button(tab, "Cancel turn").press("Enter");
  await stands(tab, "failed");
  await handed("facts");
  await button(tab, "Restart").press("Enter");
  await stands(tab, "idle");
  await button(tab, "Stop").press("Enter");
  await button(tab, "Yes, stop it").press("Enter");
  await stands(tab, "ended");
  await handed("facts");
});

test("a program that ends hands the focus from its keys to its screen", async (t) => {
  const { tab } = await opened(t, { kind: "command", argv: ["cat"] });
  await button(tab, "End of input").press("Enter");
  await stands(tab, "ended");
  await until(async () => (await tab.evaluate("document.activeElement.ariaLabel")) === "Output");
});

test("the list shows what is live first, what waits before all, and keeps up", async (t) => {
  const tab = await dashboard.tab(t, "#/agents");
  const row = (name: string): Locator => tab.getByRole("listitem").filter({ hasText: name });
  const idle = await started({ agent: "helper", permit: "ask", name: "is idle" });
  await started({ agent: "helper", permit: "ask", name: "is asking", prompt: "ask the-file\nuntil-cancel" });
  await row("is asking").getByText("asks: the-file").waitFor();
  const names = await tab.locator(".own-row > a").allInnerTexts();
  assert.equal(names.indexOf("is asking") < names.indexOf("is idle"), true);
  assert.equal(await row("is idle").locator(".status").textContent(), "idle");
  await post(dashboard.api, `/api/sessions/${idle}/prompt`, { prompt: "silent" });
  await row("is idle").locator(".status", { hasText: "busy" }).waitFor();
  assert.deepEqual(await axe(tab), []);
  await row("is idle").getByRole("link").click();
  await stands(tab, "busy");
  assert.equal(new URL(tab.url()).hash, `#/agents/${idle}`);
});

test("a session without a name is called by its first prompt, in every list and where it is opened", async (t) => {
  const { tab } = await helper(t);
  await tab.getByRole("heading", { name: /^helper · shop · / }).waitFor();
  await say(tab, 'say "what it is called by"');
  await tab.getByRole("heading", { name: 'say "what it is called by"', level: 1 }).waitFor();
  for (const hash of ["#/agents", "#/"]) {
    await tab.evaluate(`location.hash = "${hash}"`);
    await tab.getByRole("link", { name: 'say "what it is called by"' }).first().waitFor();
  }
});

test("a terminal is typed into, shows colours, and is left by Escape twice and by Shift+Tab", async (t) => {
  const { tab } = await opened(t, { kind: "terminal", argv: ["/bin/sh"] });
  const screen = tab.getByRole("application");
  await screen.click();
  await tab.keyboard.type("printf '\\033[31mr%s\\033[m\\n' ed; PS1='ready> '");
  await tab.keyboard.press("Enter");
  await screen.getByText("ready>").first().waitFor();
  assert.equal(await screen.locator(".sgr-1").first().textContent(), "red");
  assert.deepEqual(await axe(tab), []);
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("Escape");
  assert.equal(await tab.getByLabel("A line of input").evaluate((field) => field.matches(":focus")), true);
  await button(tab, "Ctrl-C: interrupt").click();
  await tab.getByLabel("A line of input").fill("echo from-the-$((40+2))-line");
  await tab.getByLabel("A line of input").press("Enter");
  await screen.getByText("from-the-42-line", { exact: true }).waitFor();
  await screen.focus();
  await tab.keyboard.press("Shift+Tab");
  assert.equal(await screen.evaluate((box) => box.matches(":focus-within")), false);
  await screen.focus();
  await tab.keyboard.type("sleep 100; echo slept");
  await tab.keyboard.press("Enter");
  await screen.getByText("sleep 100").waitFor();
  await tab.keyboard.press("Control+c");
  // An interrupt throws away what was typed before it is served, as in any terminal.
  await until(async () => /ready>\s*$/.test((await screen.textContent()) ?? ""));
  await tab.keyboard.type("exit 3");
  await tab.keyboard.press("Enter");
  await tab.getByText("exit code 3").waitFor();
});

test("a terminal takes text that comes without keys: input methods, dead keys, keyboards on glass", async (t) => {
  const { tab } = await opened(t, { kind: "terminal", argv: ["cat"] });
  const screen = tab.getByRole("application");
  const keyboard = await tab.context().newCDPSession(tab);
  await screen.click();
  await tab.keyboard.type("Hello");
  await keyboard.send("Input.imeSetComposition", { text: "にほ", selectionStart: 2, selectionEnd: 2 });
  await until(async () => (await tab.locator(".typed").inputValue()) === "にほ");
  await keyboard.send("Input.insertText", { text: "日本" });
  await tab.keyboard.insertText("é");
  await tab.keyboard.type("!");
  await tab.keyboard.press("Enter");
  await until(async () => (await screen.getByText("Hello日本é!", { exact: true }).count()) === 2);
  assert.equal(await tab.locator(".typed").inputValue(), "");
});

test("a terminal takes the edits of a keyboard that tells no keys", async (t) => {
  const { tab } = await opened(t, { kind: "terminal", argv: ["cat"] });
  const screen = tab.getByRole("application");
  await screen.focus();
  await tab.keyboard.insertText("glaxx");
  const edit = (inputType: string): Promise<unknown> =>
    tab.evaluate(`document.querySelector(".typed").dispatchEvent(
      new InputEvent("beforeinput", { inputType: "${inputType}", cancelable: true }))`);
  await edit("deleteContentBackward");
  await edit("deleteContentBackward");
  await tab.keyboard.insertText("ss");
  await edit("insertLineBreak");
  await until(async () => (await screen.getByText("glass", { exact: true }).count()) === 2);
});

test("a terminal is pasted into, and what is selected in it is copied", async (t) => {
  const permissions = ["clipboard-read", "clipboard-write"];
  const id = await started({ kind: "terminal", argv: ["cat"] });
  const tab = await dashboard.tab(t, `#/agents/${id}`, { permissions });
  const screen = tab.getByRole("application");
  await screen.click();
  await tab.evaluate("navigator.clipboard.writeText('from elsewhere')");
  await tab.keyboard.press("Control+v");
  await tab.keyboard.press("Enter");
  await until(async () => (await screen.getByText("from elsewhere", { exact: true }).count()) === 2);
  await screen
    .getByText("from elsewhere", { exact: true })
    .first()
    .dblclick({ position: { x: 5, y: 5 } });
  await tab.evaluate("navigator.clipboard.writeText('')");
  await tab.keyboard.press("Control+c");
  assert.equal(await tab.evaluate("navigator.clipboard.readText()"), "from");
  await tab.keyboard.type("goes on");
  await screen.getByText("goes on", { exact: true }).waitFor();
});

test("a terminal keeps up with much output and keeps few lines in the page", async (t) => {
  const script = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; read x";
  const { tab } = await opened(t, { kind: "terminal", argv: ["/bin/sh", "-c", script] });
  const screen = tab.getByRole("application");
  await screen.getByText("line 3000", { exact: true }).waitFor();
  assert.equal((await screen.locator(".screen-line").count()) < 200, true);
  await screen.evaluate((box) => {
    box.scrollTop = 0;
  });
  await button(tab, "To the end").waitFor();
  await button(tab, "To the end").click();
  await screen.getByText("line 3000", { exact: true }).waitFor();
});

test("a terminal that gets another size elsewhere is shown in it", async (t) => {
  const { id, tab } = await opened(t, { kind: "terminal", argv: ["/bin/sh"], columns: 20, rows: 5 });
  const screen = tab.getByRole("application");
  await screen.locator(".screen-line").nth(4).waitFor();
  assert.equal(await screen.locator(".screen-line").count(), 5);
  await post(dashboard.api, `/api/sessions/${id}/input`, { columns: 40, rows: 9 });
  await screen.locator(".screen-line").nth(8).waitFor();
  const { json } = await ask(dashboard.api, `/api/sessions/${id}`);
  assert.deepEqual([json.columns, json.rows], [40, 9]);
  await screen.focus();
  await tab.keyboard.type("stty size");
  await tab.keyboard.press("Enter");
  await screen.getByText("9 40", { exact: true }).waitFor();
});

test("a command takes lines and the end of its input", async (t) => {
  const { tab } = await opened(t, { kind: "command", argv: ["sh", "-c", "echo begun; cat; echo over"] });
  const output = tab.getByRole("region", { name: "Output" });
  await output.getByText("begun").waitFor();
  await tab.getByLabel("A line of input").fill("a line for it");
  await button(tab, "Send line").click();
  await output.getByText("a line for it", { exact: true }).waitFor();
  assert.deepEqual(await axe(tab), []);
  await button(tab, "End of input").click();
  await output.getByText("over", { exact: true }).waitFor();
  await stands(tab, "ended");
});

test("what no session is called is said to be none", async (t) => {
  const window = await dashboard.window(t);
  window.seen.expect(/console .*status of 404/);
  const tab = await window.openTab("#/agents/sess_ffffffff");
  await tab.getByText("No such session.").waitFor();
});

test("a session whose server was killed is shown as interrupted, and can be restarted", async (t) => {
  const window = await dashboard.window(t);
  // What was on its way when the server was killed.
  window.seen.allow(/^console Failed to load resource: net::ERR_/);
  const id = await started({ agent: "helper", permit: "ask", prompt: "say begun\nsilent" });
  const tab = await window.openTab(`#/agents/${id}`);
  await stands(tab, "busy");
  await tab.getByText("begun", { exact: true }).waitFor();
  dashboard.server.child.kill("SIGKILL");
  await dashboard.server.ended;
  await dashboard.startServer();
  await stands(tab, "interrupted");
  await tab.getByText("the server that had started it ended").waitFor();
  await button(tab, "Restart").click();
  await stands(tab, "idle");
});
