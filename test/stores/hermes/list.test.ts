import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { sid } from "../../support/fake-store.ts";
import { Home, NEWEST, TEN } from "./home.ts";

test("a row says what the database tells, times in milliseconds, and how to go on", async (t) => {
  const home = new Home(t);
  home.session("s1", { title: "Files", cwd: "/w", git_branch: "main", model: "m-1", started_at: TEN + 0.25 });
  home.say("s1", [{ content: "one" }, { content: "two" }], 7.5);
  assert.deepEqual(await home.store.list("sweep"), [
    {
      agent: "hermes",
      id: "s1",
      title: "Files",
      cwd: "/w",
      branch: "main",
      startedAt: TEN * 1000 + 250,
      updatedAt: TEN * 1000 + 8500,
      model: "m-1",
      resume: { command: ["hermes", "--resume", "s1"], cwd: "/w" },
    },
  ]);
});

test("without a title the first prompt is one; a session without messages is counted, not listed", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ role: "system", content: "x" }, { content: '\0json:[{"type":"text","text":"Count\\nthem"}]' }]);
  home.session("empty");
  home.session("no id for a path/");
  home.say("no id for a path/", [{ content: "x" }]);
  const rows = await home.store.list("sweep");
  assert.deepEqual(
    rows.map(({ id, title }) => [id, title]),
    [["s1", "Count them"]],
  );
  const { skipped, formats } = await home.store.report();
  assert.deepEqual(formats, ["schema 30"]);
  assert.deepEqual(skipped, [
    { reason: "a session without messages", count: 1, example: "empty" },
    { reason: "an id that can't be asked for", count: 1, example: "no id for a path/" },
  ]);
});

test("profiles and extra roots are looked into; of one id in two the first counts", async (t) => {
  const other = new Home(t);
  other.session("x1", { cwd: "/x" });
  other.say("x1", [{ content: "elsewhere" }]);
  other.session("s1");
  other.say("s1", [{ content: "a copy" }]);
  const home = new Home(t, { extraRoots: [dirname(other.database)] });
  const profile = join(dirname(home.database), "profiles", "ops", "state.db");
  home.write((database) => database.exec(NEWEST), profile);
  home.session("p1", { cwd: "/p" }, profile);
  home.say("p1", [{ content: "in a profile" }], 0, profile);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  const rows = await home.store.list("sweep");
  assert.deepEqual(
    rows.map(({ id, title, resume }) => [id, title, resume?.command]),
    [
      ["s1", "one", ["hermes", "--resume", "s1"]],
      ["p1", "in a profile", ["hermes", "--profile", "ops", "--resume", "p1"]],
      ["x1", "elsewhere", undefined],
    ],
  );
  assert.deepEqual(await home.texts("p1"), ["in a profile"]);
  const { roots, skipped } = await home.store.report();
  assert.deepEqual(
    roots.map(({ path, found }) => [path, found]),
    [
      [home.database, true],
      [profile, true],
      [other.database, true],
    ],
  );
  assert.deepEqual(skipped, [{ reason: "an older copy of a session in another database", count: 1, example: "s1" }]);
});

test("a database that has not changed is not read again, and rows that say the same stay the same", async (t) => {
  const home = new Home(t);
  for (const id of ["s1", "s2"]) {
    home.session(id, { title: id });
    home.say(id, [{ content: "one" }]);
  }
  const first = await home.store.list("sweep");
  assert.equal(await home.store.list("quick"), first);
  assert.equal(await home.store.list("sweep"), first);
  assert.equal(home.work.reads, 1);
  home.say("s2", [{ content: "two" }], 60);
  const second = await home.store.list("quick");
  assert.equal(home.work.reads, 2);
  assert.deepEqual(
    second.map((row, index) => row === first[index]),
    [true, false],
  );
});

test("what is no database of Hermes, damaged, missing or a link out of the store is said, and nothing else fails", async (t) => {
  const home = new Home(t, { schema: "CREATE TABLE other (a)" });
  const report = async (): Promise<unknown> => {
    assert.deepEqual(await home.store.list("sweep"), []);
    const { roots, skipped } = await home.store.report();
    return [roots[0]?.found, roots[0]?.note, skipped.map(({ reason }) => reason)];
  };
  assert.deepEqual(await report(), [true, undefined, ["this database holds no sessions of Hermes"]]);
  writeFileSync(home.database, "no database");
  assert.deepEqual(await report(), [true, undefined, ["not a SQLite database"]]);
  rmSync(home.database);
  assert.deepEqual(await report(), [false, undefined, []]);
  const outside = join(home.path, "outside");
  mkdirSync(outside);
  home.write((database) => database.exec(NEWEST), join(outside, "state.db"));
  symlinkSync(join(outside, "state.db"), home.database);
  assert.deepEqual(await report(), [false, "a link that leads out of the store", []]);
});

test("shapes that no Hermes writes are read as far as they go", async (t) => {
  const home = new Home(t);
  home.session("s1", { model_config: "{torn", parent_session_id: "s1", title: "  " });
  home.session("ring1", { parent_session_id: "ring2", end_reason: "compression" });
  home.session("ring2", { parent_session_id: "ring1", end_reason: "compression" });
  home.say("s1", [
    { content: 42n, role: "user" },
    { content: Buffer.from([0x66, 0xff, 0x6f]), role: "user" },
    { role: "assistant", content: "a", tool_calls: "{torn" },
    {
      role: "assistant",
      content: null,
      tool_calls: '[1, {"function": {}}, {"function": {"name": "f", "arguments": "{torn"}}]',
    },
    { role: "tool", content: null, tool_call_id: "none" },
    { role: "user", content: "\0json:{torn" },
    { role: "critic", content: "x" },
  ]);
  home.say("ring1", [{ content: "in a ring" }]);
  home.say("ring2", [{ content: "in a ring" }]);
  assert.deepEqual(
    (await home.entries("s1")).map((entry) => [entry.kind, "text" in entry ? entry.text : undefined]),
    [
      ["user", "42"],
      ["user", "f\ufffdo"],
      ["assistant", "a"],
      ["tool-call", undefined],
      ["tool-result", ""],
    ],
  );
  const damaged = { reason: "a message of which a part can't be read", count: 2, example: `${home.database} row 3` };
  assert.deepEqual((await home.store.report()).skipped, [damaged]);
  assert.deepEqual((await home.store.list("sweep")).map(({ id }) => id).sort(), ["ring1", "ring2", "s1"]);
});

test("sessions that go on with each other in a ring are each a chat of their own", async (t) => {
  const home = new Home(t);
  for (const [id, parent] of [
    ["a", "b"],
    ["b", "a"],
  ] as const) {
    home.session(id, { parent_session_id: parent, end_reason: "compression" });
    home.say(id, [{ content: `said in ${id}` }]);
  }
  assert.deepEqual(await home.texts("a"), ["said in a"]);
  assert.deepEqual(await home.texts("b"), ["said in b"]);
});

test("a session is found by the newest id of its conversation, and not when there is none of that id", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  assert.equal((await home.ref("s1")).id, "s1");
  assert.equal(await home.store.find(sid("s2")), undefined);
  home.session("s2");
  assert.equal((await home.ref("s2")).id, "s2");
});

test("a write is told to who follows the store, and to who follows a chat", { timeout: 10_000 }, async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.say("s1", [{ content: "one" }]);
  const leaving = new AbortController();
  // A watcher keeps no process alive.
  const hold = setInterval(() => undefined, 1_000);
  t.after(() => {
    leaving.abort();
    clearInterval(hold);
  });
  const changes = home.store.changes(leaving.signal)[Symbol.asyncIterator]();
  const chat = home.store.watch(await home.ref("s1"), leaving.signal)[Symbol.asyncIterator]();
  // Each of the two files tells once at the beginning.
  for (const told of [changes, changes, chat, chat]) assert.equal((await told.next()).done, false);
  const next = [changes.next(), chat.next()];
  home.say("s1", [{ content: "two" }], 9);
  for (const told of await Promise.all(next)) assert.equal(told.done, false);
  assert.equal((await home.store.list("quick"))[0]?.updatedAt, (TEN + 9) * 1000);
  leaving.abort();
  await Promise.all([changes.return?.(undefined), chat.return?.(undefined)]);
});
