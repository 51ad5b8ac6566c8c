import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { createWatcher } from "../../../src/platform/watch.ts";
import { openClaude } from "../../../src/stores/claude/open.ts";
import { Pages } from "../../../src/stores/pages.ts";
import { START } from "../../../src/transcript/cursor.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";

const SESSION = "11111111-1111-4111-8111-111111111111";

test("a transcript that is replaced by a copy of itself starts again once, however often it is asked", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "replaced-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, ".claude", "projects", "-p");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${SESSION}.jsonl`);
  const prompt = { type: "user", timestamp: "2026-01-01T00:00:00.000Z", message: { content: "hello" } };
  writeFileSync(file, `${JSON.stringify(prompt)}\n`);
  const watcher = createWatcher({});
  const store = openClaude({ environment: environmentFrom({ home }), clock: systemClock, watcher, extraRoots: {} });
  const pages = new Pages(systemClock);
  const ref = await store.find(requireSessionId(SESSION));
  assert.ok(ref);
  const first = await pages.from(store, ref, START);
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  const told = [];
  for (let poll = 0; poll < 4; poll++) {
    const { page } = await pages.from(store, ref, first.page.next);
    told.push([page.items.length, page.reset, page.next === first.page.next]);
  }
  assert.deepEqual(told, [
    [1, true, true],
    [0, undefined, true],
    [0, undefined, true],
    [0, undefined, true],
  ]);
});
