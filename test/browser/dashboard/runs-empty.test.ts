import assert from "node:assert/strict";
import { test } from "node:test";
import { dashboardFor } from "./harness.ts";
import { writeRun } from "./runs-home.ts";

const dashboard = dashboardFor();

test("a home without runs says how runs come to be, and shows the first one by itself", async (t) => {
  const page = await dashboard.tab(t, "#/runs");
  await page.getByText("There are no runs yet.").waitFor();
  await page.getByText("agent-bridge run claude").waitFor();
  writeRun(dashboard.machine.home, { id: "aaaa0001", at: Date.now() - 60_000, title: "The first", outcome: "done" });
  await page.locator(".run-row", { hasText: "The first" }).waitFor();
  assert.equal(await page.getByText("There are no runs yet.").count(), 0);
});
