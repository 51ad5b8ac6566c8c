import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../src/platform/clock.ts";
import { environmentFrom } from "../../../src/platform/environment.ts";
import { holdersBySystem } from "../../../src/stores/opencode/holders.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";
import { homeWith, message, part, SESSION, session, T0, text, turns } from "./conversation.ts";
import {
  change,
  dataFolder,
  LATER,
  makeDatabase,
  makeFiles,
  makeHome,
  openStore,
  PAGE,
  readOn,
  refOf,
  schemaOf,
  temporaryFolder,
  told,
} from "./fixtures.ts";
import { startWriter } from "./writer.ts";

test("a row says what the database says of a session, and when its newest message was written", async (t) => {
  const rows = turns(2);
  const { home } = homeWith(t, {
    ...rows,
    session: [
      session({ title: "Fix\nthe   build", directory: "/home/dev/tree", model: { id: "m1", providerID: "p" } }),
    ],
  });
  assert.deepEqual(await openStore(home).list("sweep"), [
    {
      agent: "opencode",
      id: SESSION,
      title: "Fix the build",
      cwd: "/home/dev/tree",
      startedAt: T0,
      updatedAt: T0 + 1_010,
      model: "m1",
      resume: { command: ["opencode", "-s", SESSION], cwd: "/home/dev/tree" },
    },
  ]);
});

test("a session that has no title yet is called by its first prompt", async (t) => {
  const title = "New session - 2026-09-01T10:00:00.000Z";
  const note = { ...text("Called the Read tool"), synthetic: true };
  const { home } = homeWith(t, {
    session: [session({ title }), session({ id: "ses_empty", title })],
    message: [message("msg_a", 0, { role: "user" })],
    part: [part("prt_a", "msg_a", 0, note), part("prt_b", "msg_a", 0, text("Why is it slow?"))],
  });
  const titles = (await openStore(home).list("sweep")).map((row) => [row.id, row.title]);
  assert.deepEqual(titles.sort(), [
    ["ses_empty", "New session"],
    [SESSION, "Why is it slow?"],
  ]);
});

test("children name their parent, save those whose parent is gone", async (t) => {
  const { home } = homeWith(t, {
    session: [
      session(),
      session({ id: "ses_kid", parent_id: SESSION }),
      session({ id: "ses_orphan", parent_id: "ses_gone" }),
    ],
  });
  const parents = (await openStore(home).list("sweep")).map(({ id, parent }) => [id, parent]);
  assert.deepEqual(parents.sort(), [
    ["ses_kid", SESSION],
    ["ses_orphan", undefined],
    [SESSION, undefined],
  ]);
});

test("an unchanged database is not read again, and of a changed one only changed rows are new objects", async (t) => {
  const rows = turns(2);
  const { home, path } = homeWith(t, { ...rows, session: [session(), session({ id: "ses_other" })] });
  const store = openStore(home);
  const byId = async () => new Map((await store.list("sweep")).map((row) => [String(row.id), row]));
  const before = await byId();
  const { lists } = store.work;
  await byId();
  assert.equal(store.work.lists, lists);
  const writer = startWriter(t, path);
  await writer.run(`UPDATE session SET title = 'Another' WHERE id = 'ses_other'`);
  const after = await byId();
  assert.equal(after.get("ses_other")?.title, "Another");
  assert.equal(after.get(SESSION), before.get(SESSION));
});

test("data lies where XDG_DATA_HOME, OPENCODE_DB and the configuration say, each database once", async (t) => {
  const home = temporaryFolder(t);
  const place = (name: string): string => {
    mkdirSync(join(home, name), { recursive: true });
    return join(home, name);
  };
  const make = (folder: string, file: string, id: string): void =>
    makeDatabase(join(folder, file), schemaOf("1.18.33"), { session: [session({ id })] });
  make(place("xdg/opencode"), "opencode.db", "ses_xdg");
  make(place("xdg/opencode"), "opencode-stable.db", "ses_stable");
  make(place("xdg/opencode"), "named.db", "ses_named");
  make(place("second/.local/share/opencode"), "opencode.db", "ses_second");
  make(place("third"), "opencode.db", "ses_third");
  make(place(".local/share/opencode"), "opencode.db", "ses_default");
  writeFileSync(join(home, "xdg/opencode/opencode-empty.db"), "");
  writeFileSync(join(home, "xdg/opencode/opencode.db.backup"), "SQLite format 3\0");
  const store = openStore(home, LATER, {
    variables: { XDG_DATA_HOME: join(home, "xdg"), OPENCODE_DB: "named.db" },
    extraRoots: ["~/second", join(home, "third/opencode.db"), join(home, "xdg/opencode"), join(home, "nowhere")],
  });
  const ids = (await store.list("sweep")).map(({ id }) => id).sort();
  assert.deepEqual(ids, ["ses_named", "ses_second", "ses_stable", "ses_third", "ses_xdg"]);
  const { roots } = await store.report();
  assert.deepEqual(roots, [
    { path: join(home, "xdg/opencode"), found: true, note: "from XDG_DATA_HOME" },
    { path: join(home, "xdg/opencode"), found: true, note: "from OPENCODE_DB" },
    { path: join(home, "second/.local/share/opencode"), found: true, note: "from config.json" },
    { path: join(home, "third"), found: true, note: "from config.json" },
    { path: join(home, "nowhere"), found: false, note: "from config.json" },
  ]);
});

test("a link out of the store and a file that is no database are told and left alone", async (t) => {
  const { home } = homeWith(t, { session: [session()] });
  const data = dataFolder(home);
  const outside = join(temporaryFolder(t), "opencode.db");
  makeDatabase(outside, schemaOf("1.18.33"), { session: [session({ id: "ses_outside" })] });
  symlinkSync(outside, join(data, "opencode-linked.db"));
  writeFileSync(join(data, "opencode-text.db"), "this is a text and no database at all");
  const store = openStore(home);
  assert.deepEqual(
    (await store.list("sweep")).map(({ id }) => id),
    [SESSION],
  );
  assert.deepEqual((await store.report()).skipped, [
    { reason: "not a SQLite database", count: 1, example: join(data, "opencode-text.db") },
    { reason: "a link that leads out of the store", count: 1, example: join(data, "opencode-linked.db") },
  ]);
});

test("the report tells the generations that were met", async (t) => {
  const home = temporaryFolder(t);
  makeHome(home);
  const { sessions, formats, skipped } = await openStore(home).report();
  assert.deepEqual([sessions, formats], [27, ["JSON files", "SQLite v1", "SQLite v2", "1.0.3", "1.18.33", "2.0.12"]]);
  assert.deepEqual(
    skipped.map(({ reason }) => reason),
    ["a session file that is no session"],
  );
});

test("a session in files is listed only when no database has it, and can't be resumed", async (t) => {
  const { home, path } = homeWith(t, { session: [session()] });
  makeFiles(join(dataFolder(home), "storage"));
  const old = "ses_6e0000000ffeOld00000000001";
  const listed = (await openStore(home).list("sweep")).find(({ id }) => id === old);
  assert.deepEqual([listed?.title, listed?.resume], ["An old session", undefined]);
  change(path, (database) => {
    database.exec(
      `INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
       VALUES ('${old}', 'global', 's', '/p', 'Taken over', '1.18.33', ${T0}, ${T0})`,
    );
  });
  const store = openStore(home);
  assert.equal((await store.list("sweep")).find(({ id }) => id === old)?.title, "Taken over");
  assert.deepEqual(told((await readOn(store, await refOf(store, old))).entries), []);
});

test("totals of old sessions count their children", async (t) => {
  const home = temporaryFolder(t);
  makeHome(home);
  const store = openStore(home);
  assert.deepEqual(await store.totals(await refOf(store, "ses_6e0000000ffeOld00000000001")), {
    tokens: { input: 157, output: 33, reasoning: 0, cacheRead: 0, cacheWrite: 0 },
    costUsd: 0.875,
  });
});

test("a database that goes while it is read is not found; one that can't be read keeps its list", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  assert.equal((await store.list("sweep")).length, 1);
  writeFileSync(path, "no database any more, but as long as a header of one would be");
  assert.equal((await store.list("quick")).length, 1);
  assert.equal((await store.report()).skipped[0]?.reason, "not a SQLite database");
  rmSync(path);
  await assert.rejects(readOn(store, ref), { kind: "not-found" });
  assert.deepEqual(await store.list("sweep"), []);
});

test("a session that is deleted is not found, by any way", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  change(path, (database) => database.exec("DELETE FROM part; DELETE FROM message; DELETE FROM session"));
  await assert.rejects(readOn(store, ref), { kind: "not-found" });
  await assert.rejects(store.before(ref, "tail", PAGE), { kind: "not-found" });
  await assert.rejects(store.children(ref), { kind: "not-found" });
  assert.equal(await store.find(requireSessionId(SESSION)), undefined);
});

test("every state of the files is another one, also when the log comes and goes", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const uses = async (): Promise<string> =>
    (await store.entries(ref, next, { bytes: 1_000, parts: 10 })).uses
      .map((stamp) => Object.values(stamp).join())
      .join(" ");
  const idle = await uses();
  assert.equal(await uses(), idle);
  const writer = startWriter(t, path);
  await writer.run("UPDATE session SET title = 'Another'");
  const live = await uses();
  assert.notEqual(live, idle);
  await writer.close();
  assert.notEqual(await uses(), live);
});

test("the process that has a database open is found, with the time it started", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const find = holdersBySystem(environmentFrom({ home, platform: "linux" }), systemClock);
  assert.deepEqual(await find(path), []);
  const before = Date.now();
  const writer = startWriter(t, path);
  await writer.run("SELECT 1");
  const [holder, ...others] = (await find(path)) ?? [];
  assert.deepEqual([holder?.pid, others], [writer.pid, []]);
  assert.ok(Math.abs((holder?.startedAt ?? 0) - before) < 5_000);
  await writer.close();
  assert.deepEqual(await find(path), []);
});
