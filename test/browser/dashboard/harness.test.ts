import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, dashboardFor, nodes } from "./harness.ts";

const dashboard = dashboardFor();

test("the page opens by the printed link, for every tab of the browser, and has no accessibility fault", async (t) => {
  const window = await dashboard.window(t);
  const tabs = [await window.openTab(), await window.openTab("#/nowhere/at/all/there")];
  const [home = "", nowhere] = await Promise.all(tabs.map((tab) => tab.title()));
  assert.match(home, /agent-bridge$/);
  assert.equal(nowhere, "Not found · agent-bridge");
  for (const tab of tabs) {
    assert.deepEqual(await axe(tab), []);
    assert.equal((await nodes(tab)) > 5, true);
  }
});

test("what a page does is noticed here", async (t) => {
  const window = await dashboard.window(t);
  const page = await window.openTab();
  await page.evaluate(`(() => {
    console.log("said");
    const image = new Image();
    image.src = "https://evil.example/a.png";
    open("about:blank");
    setTimeout(() => { throw new Error("thrown") });
    setTimeout(() => alert("asked"));
  })()`);
  await page.evaluate('fetch("https://evil.example/b").catch(() => 0)');
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))");
  await page.evaluate('try { document.body.innerHTML = "<b>"; } catch {}');
  for (const deed of [
    /^console said/,
    /^window/,
    /^error Error: thrown/,
    /^dialog asked/,
    /^console .*img-src/,
    /^console .*connect-src/,
    /TrustedHTML/,
  ]) {
    assert.equal(
      window.seen.all.some((one) => deed.test(one)),
      true,
      `${deed} ${JSON.stringify(window.seen.all)}`,
    );
  }
  assert.throws(() => window.seen.check());
  window.seen.expect(/./);
});

test("an accessibility fault is found", async (t) => {
  const page = await dashboard.tab(t);
  await page.evaluate('document.querySelector("main").append(document.createElement("button"))');
  assert.match((await axe(page)).join("\n"), /^button-name: /);
});
