import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type EpochMs, systemClock } from "../../../src/platform/clock.ts";
import type { Cursor } from "../../../src/transcript/cursor.ts";
import { homeWith, insertPart, SESSION, session, T0, text, turns } from "./conversation.ts";
import {
  dataFolder,
  makeDatabase,
  openStore,
  PAGE,
  readOn,
  refOf,
  schemaOf,
  temporaryFolder,
  told,
} from "./fixtures.ts";
import { startWriter } from "./writer.ts";

test("whoever watches a chat is told of what is committed, and ends with its signal", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const store = openStore(home, systemClock);
  const ref = await refOf(store, SESSION);
  const end = new AbortController();
  const watched = store.watch(ref, end.signal)[Symbol.asyncIterator]();
  assert.deepEqual(await watched.next(), { done: false, value: undefined });
  let { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const seen: string[] = [];
  for (const n of [1, 2, 3]) {
    await writer.run(insertPart(`prt_1${n}`, "msg_0000b", Date.now() - T0, text(`more ${n}`)));
    while (!seen.includes(`assistant: more ${n}`)) {
      await watched.next();
      const page = await readOn(store, ref, next);
      seen.push(...told(page.entries));
      next = page.next;
    }
  }
  assert.deepEqual([...new Set(seen)], ["assistant: more 1", "assistant: more 2", "assistant: more 3"]);
  const last = watched.next();
  end.abort();
  while (!(await last).done && !(await watched.next()).done);
});

test("changes tell of a new session, and of a new database", async (t) => {
  const { home, path } = homeWith(t, { session: [session()] });
  const store = openStore(home);
  const end = new AbortController();
  const changes = store.changes(end.signal)[Symbol.asyncIterator]();
  const until = async (count: number): Promise<void> => {
    while ((await store.list("quick")).length < count) await changes.next();
  };
  await changes.next();
  const writer = startWriter(t, path);
  await writer.run(
    `INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
     VALUES ('ses_new', 'global', 's', '/p', 'New', '1.18.33', ${T0}, ${T0})`,
  );
  await until(2);
  makeDatabase(join(dataFolder(home), "opencode-dev.db"), schemaOf("1.18.33"), {
    session: [session({ id: "ses_dev" })],
  });
  await until(3);
  end.abort();
});

test("clients that follow a session lose no row while a writer goes on and on", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  // The rows' times are those of the clock, and the clock moves on when all is written.
  let ahead = 0;
  const store = openStore(home, { now: () => (Date.now() + ahead) as EpochMs });
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const ROWS = 600;
  const written = (async () => {
    for (let n = 0; n < ROWS; n += 5) {
      const rows = Array.from({ length: 5 }, (_, i) =>
        insertPart(`prt_1${String(n + i).padStart(5, "0")}`, "msg_0000b", Date.now() - T0, text(`row ${n + i}`)),
      );
      await writer.run(`BEGIN; ${rows.join("")} COMMIT`);
    }
    ahead = 60_000;
    await writer.run("UPDATE session SET title = 'Done'");
  })();
  const follow = async (): Promise<Set<string>> => {
    const seen = new Set<string>();
    const end = new AbortController();
    let from: Cursor = next;
    for await (const _ of store.watch(ref, end.signal)) {
      const page = await store.entries(ref, from, PAGE);
      assert.equal(page.reset, undefined);
      for (const line of told(page.entries)) seen.add(line);
      from = page.next;
      if (ahead > 0) break;
    }
    // The last rows are settled now: nothing can come any more.
    for (const line of told((await readOn(store, ref, from)).entries)) seen.add(line);
    return seen;
  };
  const clients = await Promise.all([follow(), follow(), follow(), follow(), follow()]);
  await written;
  for (const seen of clients) assert.equal(seen.size, ROWS);
});

test("changes tell of the first database of all, though there was no folder for it before", async (t) => {
  const home = temporaryFolder(t);
  const store = openStore(home);
  assert.deepEqual(await store.list("sweep"), []);
  const end = new AbortController();
  t.after(() => end.abort());
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  const changes = store.changes(end.signal)[Symbol.asyncIterator]();
  await changes.next();
  makeDatabase(join(dataFolder(home), "opencode.db"), schemaOf("1.18.33"), { session: [session()] });
  while ((await store.list("quick")).length === 0) await changes.next();
  assert.deepEqual(
    (await store.list("quick")).map((row) => row.id),
    [SESSION],
  );
});
