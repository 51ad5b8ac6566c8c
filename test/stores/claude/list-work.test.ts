import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { systemClock } from "../../../src/platform/clock.ts";
import type { Watcher } from "../../../src/platform/watch.ts";
import { type ClaudeHome, claudeHome, prompt, sessionId, stillWatcher } from "./claude-home.ts";

const SESSIONS = 30;
const long = new Date(Date.now() - 3_600_000);

/** Thirty sessions in three folders that were made an hour ago, five of them longer than both ends. */
function history(t: TestContext): ClaudeHome {
  const home = claudeHome(t);
  for (let n = 0; n < SESSIONS; n++) {
    const lines = [prompt(`p${n}`), ...(n % 6 === 0 ? [prompt("x".repeat(200_000))] : [])];
    home.write(`f${n % 3}`, `${sessionId(n)}.jsonl`, [...lines, { type: "last-prompt", lastPrompt: `p${n}` }], long);
  }
  settle(home);
  return home;
}

/** Makes the folders' times old, as those of a folder in which nothing happens are. */
function settle(home: ClaudeHome): void {
  for (const folder of ["f0", "f1", "f2", ""]) utimesSync(join(home.projects, folder), long, long);
}

test("a first look opens each file once and reads its two ends", async (t) => {
  const home = history(t);
  await home.store().list("quick");
  const { opens, reads, stats, folders, parses } = home.work();
  assert.deepEqual({ opens, reads, folders }, { opens: SESSIONS, reads: SESSIONS + 5, folders: 4 });
  assert.equal(stats, 1 + 3 + 3);
  assert.ok(parses <= 5 * SESSIONS, `${parses} lines parsed`);
});

test("an unchanged listing opens nothing and parses nothing: a sweep asks each file once, a quick look only folders", async (t) => {
  const home = history(t);
  const store = home.store();
  const first = await store.list("sweep");
  home.work();
  assert.deepEqual(await store.list("sweep"), first);
  assert.deepEqual(home.work(), { folders: 0, stats: 1 + 3 + 3 + SESSIONS, opens: 0, reads: 0, parses: 0 });
  assert.deepEqual(await store.list("quick"), first);
  assert.deepEqual(home.work(), { folders: 0, stats: 1 + 3 + 3, opens: 0, reads: 0, parses: 0 });
});

test("a sweep reads what grew, and nothing else", async (t) => {
  const home = history(t);
  const store = home.store();
  await store.list("sweep");
  home.work();
  home.append(join(home.projects, "f1", `${sessionId(4)}.jsonl`), [{ type: "ai-title", aiTitle: "grown" }]);
  const rows = await store.list("sweep");
  assert.equal(rows.find((row) => row.id === sessionId(4))?.title, "grown");
  assert.deepEqual({ ...home.work(), stats: 0, parses: 0 }, { folders: 0, stats: 0, opens: 1, reads: 1, parses: 0 });
});

test("a quick look sees files that came, went or moved, by their folders alone", async (t) => {
  const home = history(t);
  const store = home.store();
  await store.list("sweep");
  home.work();
  home.write("f0", `${sessionId(100)}.jsonl`, [prompt("new")]);
  rmSync(join(home.projects, "f1", `${sessionId(4)}.jsonl`));
  mkdirSync(join(home.projects, "f9"));
  renameSync(join(home.projects, "f2", `${sessionId(5)}.jsonl`), join(home.projects, "f9", `${sessionId(5)}.jsonl`));
  const rows = await store.list("quick");
  const ids = new Set(rows.map((row) => row.id));
  assert.deepEqual([ids.has(sessionId(100)), ids.has(sessionId(4)), ids.has(sessionId(5))], [true, false, true]);
  assert.equal(rows.length, SESSIONS);
  const { opens } = home.work();
  assert.equal(opens, 2);
});

test("a quick look reads what watching told of", async (t) => {
  const home = history(t);
  const told = [join(home.projects, "f1")];
  const watcher: Watcher = {
    ...stillWatcher,
    async *folder(path, signal) {
      if (told.includes(path)) yield `${sessionId(4)}.jsonl`;
      yield* stillWatcher.folder(path, signal);
    },
  };
  const store = home.store({ watcher });
  await store.list("sweep");
  home.append(join(home.projects, "f1", `${sessionId(4)}.jsonl`), [{ type: "ai-title", aiTitle: "grown" }]);
  const ended = new AbortController();
  for await (const change of store.changes(ended.signal)) if (change.id === sessionId(4)) ended.abort();
  home.work();
  const rows = await store.list("quick");
  assert.equal(rows.find((row) => row.id === sessionId(4))?.title, "grown");
  assert.equal(home.work().opens, 1);
});

test("looks that are asked for together are one", async (t) => {
  const home = history(t);
  const store = home.store();
  await Promise.all([store.list("sweep"), store.list("sweep"), store.list("sweep")]);
  assert.equal(home.work().opens, SESSIONS);
});

test("a folder that has just changed is read again, since its next change may bear the same time", async (t) => {
  const home = history(t);
  const store = home.store({ clock: { now: () => (long.getTime() + 50) as ReturnType<typeof systemClock.now> } });
  await store.list("sweep");
  home.work();
  await store.list("quick");
  assert.equal(home.work().folders, 4);
});

test("the rows of a listing can't be changed by who got them", async (t) => {
  const rows = await history(t).store().list("sweep");
  assert.throws(() => Object.assign(rows[0] ?? {}, { title: "mine" }), TypeError);
});

test("a listing that nobody waits for any more ends for its asker", async (t) => {
  await assert.rejects(history(t).store().list("sweep", AbortSignal.abort()), { name: "AbortError" });
});

test("the newest sessions that begin so are those of the list, and of all others no file is opened", async (t) => {
  const home = history(t);
  const written = new Date(long.getTime() + 1_000);
  for (const n of [1, 5, 9]) {
    const folder = join(home.projects, `f${n % 3}`);
    utimesSync(join(folder, `${sessionId(n)}.jsonl`), written, new Date(written.getTime() + n * 1_000));
  }
  const store = home.store();
  const newest = (await store.newest("", 3)) ?? [];
  assert.deepEqual(
    newest.map(({ id }) => id),
    [9, 5, 1].map(sessionId),
  );
  assert.equal(home.work().opens, 3);
  assert.deepEqual(
    await store.newest(sessionId(7), 3),
    (await store.list("sweep")).filter(({ id }) => id === sessionId(7)),
  );
  assert.deepEqual(await store.newest("nothing", 3), []);
});
