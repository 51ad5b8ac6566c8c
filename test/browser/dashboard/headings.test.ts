import assert from "node:assert/strict";
import { test } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import { dashboardFor } from "./harness.ts";
import { writeHome } from "./home-folder.ts";
import { allowRefusals, PLACES, settled } from "./pages.ts";

const dashboard = dashboardFor({ home: ({ home }) => writeHome(home) });

const SAID: readonly string[] = ["rich", "world", "hostile", "calls", "subagent"];

// What people and agents wrote has headings of its own.
for (const [name, hash] of PLACES.filter(([name]) => !SAID.includes(name))) {
  test(`the headings of the page at ${name} begin with one and leave none out`, async (t) => {
    const window = await dashboard.window(t);
    allowRefusals(window, name);
    const page = await window.openTab(hash);
    await settled(page);
    const builder = new AxeBuilder({ page }).setLegacyMode().withRules(["page-has-heading-one", "heading-order"]);
    const { violations } = await builder.analyze();
    assert.deepEqual(
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
      [],
    );
  });
}
