import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeHistory } from "../../src/commands/demo/history.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { environmentFrom } from "../../src/platform/environment.ts";
import { createWatcher } from "../../src/platform/watch.ts";
import { PAGE_BUDGET } from "../../src/stores/pages.ts";
import { openStores } from "../../src/stores/registry.ts";
import type { Store } from "../../src/stores/store.ts";
import { START } from "../../src/transcript/cursor.ts";
import { toItems } from "../../src/transcript/item.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "agent-bridge-history-")));
after(() => rmSync(home, { recursive: true }));

test("the made-up history is read as it was meant: several projects, all kinds of items, subagents, nothing left out", async () => {
  writeHistory(home, systemClock.now());
  const [claude] = openStores({
    environment: environmentFrom({ home }),
    clock: systemClock,
    watcher: createWatcher(),
    extraRoots: {},
  });
  assert.ok(claude);
  const listed = await claude.list("sweep");
  assert.deepEqual(listed.map(({ cwd }) => cwd.slice(home.length + 1)).sort(), [
    "notes",
    "notes",
    "shop",
    "shop",
    "shop",
    "翻訳",
  ]);
  const told = await Promise.all(listed.map(({ id }) => kindsIn(claude, id)));
  assert.deepEqual([...new Set(told.flatMap(({ kinds }) => kinds))].sort(), [
    "assistant",
    "subagent",
    "tool Agent",
    "tool Agent error",
    "tool Bash",
    "tool Bash error",
    "tool Edit",
    "tool Grep",
    "tool Read",
    "tool Write",
    "tool bash",
    "tool command",
    "tool compact",
    "tool error error",
    "tool interrupted",
    "user",
  ]);
  assert.deepEqual(told.flatMap(({ children }) => children).sort(), ["done", "done, nested", "failed"]);
  assert.deepEqual((await claude.report()).skipped, []);
});

async function kindsIn(
  store: Store,
  id: Parameters<Store["find"]>[0],
): Promise<{ kinds: string[]; children: string[] }> {
  const ref = await store.find(id);
  assert.ok(ref);
  const { entries } = await store.entries(ref, START, PAGE_BUDGET);
  const kinds = toItems(entries).map(({ kind, tool, error }) =>
    [kind, tool, error && "error"].filter(Boolean).join(" "),
  );
  const { children } = await store.children(ref);
  return {
    kinds,
    children: children.map(({ status, parent }) => (parent === undefined ? status : `${status}, nested`)),
  };
}
