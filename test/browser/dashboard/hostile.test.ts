import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { dashboardFor } from "./harness.ts";
import { ADDRESSES, writeHome } from "./home-folder.ts";
import { allowRefusals, settled, unfold } from "./pages.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeHome(home) });

/** Where hostile texts are shown. */
const HOSTILE = {
  ...{ "the list": ADDRESSES.home, "the list by project": ADDRESSES.projects, "a chat": ADDRESSES.hostile },
  ...{ "a subagent": `${ADDRESSES.hostile}/abadbadbadbadbad1`, Codex: ADDRESSES.codex, runs: ADDRESSES.runs },
  ...{ OpenCode: `${ADDRESSES.opencode}h`, Hermes: `${ADDRESSES.hermes}h`, "a recording": "#/daemon/sess_plain0001h" },
};

/**
 * Everything in the page that only foreign text could have brought: scripts, frames and the like, attributes that run or
 * style, and links that lead to more than a site, a mailbox or the page itself.
 */
const FOREIGN = `(() => {
  const tags = "script:not([src^='/assets/']), style, iframe, object, embed, base, form[action], img:not([src^='/assets/']), video, audio, link:not([href^='/assets/'])";
  const found = [...document.querySelectorAll(tags)].map((e) => e.outerHTML.slice(0, 100));
  for (const e of document.querySelectorAll("*")) {
    for (const { name, value } of e.attributes) {
      if (/^on/i.test(name) || name === "srcdoc" || name === "formaction") found.push(e.localName + " " + name + "=" + value);
      if (name === "href" && e.localName === "a" && !/^(?:#|https?:|mailto:|\\/api\\/)/i.test(value)) found.push("a href=" + value);
    }
    if (e.localName === "a" && e.protocol.startsWith("http") && e.origin !== location.origin && (e.target !== "_blank" || !e.relList.contains("noopener") || !e.relList.contains("noreferrer")))
      found.push("an open link " + e.outerHTML.slice(0, 100));
  }
  return found;
})()`;

/** Characters that steer the terminal or the order of letters, in any text of the page or attribute that is shown. */
const STEERING = `(() => {
  const steers = /[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/;
  const texts = [document.title, ...[...document.querySelectorAll("body *")].flatMap((e) => [
    ...[...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data),
    ...["title", "aria-label", "placeholder", "alt"].map((name) => e.getAttribute(name) ?? ""),
  ])];
  return texts.filter((text) => steers.test(text)).map((text) => JSON.stringify(text.slice(0, 80)));
})()`;

async function harmless(page: Page): Promise<void> {
  assert.deepEqual(await page.evaluate(FOREIGN), []);
  assert.deepEqual(await page.evaluate(STEERING), []);
  assert.equal(await page.evaluate("window.ran"), undefined);
  assert.equal(await page.locator("header").first().isVisible(), true);
}

/** Scrolls what scrolls from its end to its start, a view at a time, and looks at each. */
async function eachScreen(page: Page, look: () => Promise<void>): Promise<void> {
  for (let screen = 0; screen < 40; screen++) {
    await look();
    const moved = await page.evaluate(`(() => {
      const box = document.querySelector(".chat-box, .list-box") ?? document.scrollingElement;
      const before = box.scrollTop;
      box.scrollTop -= box.clientHeight * 2;
      return box.scrollTop !== before;
    })()`);
    if (moved !== true) break;
    await settled(page);
  }
}

for (const [name, hash] of Object.entries(HOSTILE)) {
  test(`hostile texts in ${name} run nothing, fetch nothing, style nothing and steer nothing`, async (t) => {
    const window = await dashboard.window(t);
    const page = await window.openTab(hash);
    await settled(page);
    await eachScreen(page, async () => {
      await unfold(page, 20);
      await harmless(page);
    });
    assert.deepEqual(window.seen.all, []);
  });
}

test("a hostile address leads nowhere, and is shown as text at most", async (t) => {
  const window = await dashboard.window(t);
  allowRefusals(window, "missing");
  for (const hash of [
    "#/claude/<img src=x onerror=window.ran=1>",
    "#/?q=<script>window.ran=1</script>&project=<b>",
    "#/runs/<svg onload=window.ran=1>",
    "#/agents/..%2f..%2fapi",
    "#/start?agent=<b>&cwd=<script>window.ran=1</script>",
    "#javascript:window.ran=1",
  ]) {
    const page = await window.openTab(hash);
    await settled(page);
    await harmless(page);
    await page.close();
  }
});
