import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { axe, dashboardFor } from "./harness.ts";

const dashboard = dashboardFor();

test("without any session the page says where it looked and what to do, until there is one", async (t) => {
  const page = await dashboard.tab(t);
  await page.getByText("There are no sessions yet.").waitFor();
  await page.getByText("Nothing is running.").waitFor();
  const { home } = dashboard.machine;
  const looked = page.locator(".roots li");
  await looked.first().waitFor();
  assert.equal(
    (await looked.allTextContents()).includes(`${join(home, ".claude/projects")} is not there`),
    true,
    JSON.stringify(await looked.allTextContents()),
  );
  assert.match((await page.locator(".state").textContent()) ?? "", /agent-bridge doctor/);
  assert.deepEqual(await axe(page), []);
  const id = "99999999-bbbb-4000-8000-000000000001";
  const cwd = join(home, "work");
  const message = { role: "user", content: "The first of all" };
  const timestamp = new Date().toISOString();
  dashboard.machine.append(id, [{ type: "user", sessionId: id, cwd, timestamp, message }]);
  await page.locator(`.rows [data-row="claude/${id}"]`).waitFor();
  assert.equal(await page.getByText("There are no sessions yet.").count(), 0);
});
