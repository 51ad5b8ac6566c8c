import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { axe, dashboardFor } from "./harness.ts";

const ID = "aaaaaaaa-0000-4000-8000-000000000001";

const dashboard = dashboardFor({
  home: (machine) => {
    const common = { sessionId: ID, cwd: `${machine.home}/work`, timestamp: "2026-01-02T03:04:05.000Z" };
    machine.append(ID, [{ ...common, type: "user", message: { role: "user", content: "Say hello." } }]);
  },
});

const choose = async (page: Page, entry: string): Promise<void> => {
  await page.getByRole("button", { name: "Export, link and more" }).first().click();
  await page.getByRole("menuitem", { name: entry }).click();
};

test("a chat is exported as it was asked for, under the name that the server gives it", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${ID}`);
  await choose(page, "Export …");
  const dialog = page.getByRole("dialog", { name: "Export" });
  assert.deepEqual(await axe(page), []);
  await dialog.getByLabel("Format").selectOption("json");
  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Export" }).click();
  const download = await downloading;
  assert.match(download.suggestedFilename(), /\.json$/);
  const { messages } = JSON.parse(readFileSync(await download.path(), "utf8"));
  assert.deepEqual(
    messages.map(({ role, text }: { role: string; text: string }) => [role, text]),
    [["user", "Say hello."]],
  );
  await dialog.waitFor({ state: "detached" });
  await page.getByText(`Exported: ${download.suggestedFilename()}`).first().waitFor();
});

test("what can't be exported is said in the server's words, and nothing is downloaded", async (t) => {
  const window = await dashboard.window(t);
  const page = await window.openTab(`#/claude/${ID}`);
  await choose(page, "Export …");
  let downloads = 0;
  page.on("download", () => downloads++);
  const dialog = page.getByRole("dialog", { name: "Export" });
  await dialog.getByLabel("From").selectOption("daemon");
  await dialog.getByRole("button", { name: "Export" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/record/i)
    .waitFor();
  assert.deepEqual([downloads, page.url()], [0, `${dashboard.url}/#/claude/${ID}`]);
  window.seen.expect(/Failed to load resource.*404/);
});

test("an export that was asked for is given up when the place is left", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${ID}`);
  await choose(page, "Export …");
  const dialog = page.getByRole("dialog", { name: "Export" });
  await dialog.waitFor();
  await page.evaluate("location.hash = '#/runs'");
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  await dialog.waitFor({ state: "detached" });
});

test("a link and the command that goes on are copied", async (t) => {
  const page = await dashboard.tab(t, `#/claude/${ID}`, { permissions: ["clipboard-read", "clipboard-write"] });
  const copied = (): Promise<unknown> => page.evaluate("navigator.clipboard.readText()");
  await choose(page, "Copy link");
  await page.getByText("Link copied").first().waitFor();
  assert.equal(await copied(), `${dashboard.url}/#/claude/${ID}`);
  await choose(page, "Copy resume command");
  await page.getByText("Resume command copied").first().waitFor();
  assert.equal(await copied(), `cd ${dashboard.machine.home}/work && claude --resume ${ID}`);
});
