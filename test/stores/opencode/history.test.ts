import assert from "node:assert/strict";
import { test } from "node:test";
import { inIdOrder } from "../../../src/stores/opencode/id-order.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { homeWith, message, part, SESSION, session, T0, text, turns } from "./conversation.ts";
import { change, openStore, PAGE, readOn, refOf, schemaOf, told } from "./fixtures.ts";

test("messages stand by their time, parts by their id, whatever order they were written in", async (t) => {
  const { home } = homeWith(t, {
    session: [session()],
    message: [message("msg_a", 2_000, { role: "assistant" }), message("msg_b", 1_000, { role: "user" })],
    part: [
      part("prt_000000000003x", "msg_a", 2_000, text("three")),
      part("prt_000000000002x", "msg_a", 9_000, text("two")),
      part("prt_000000000001x", "msg_b", 9_500, text("one")),
    ],
  });
  const store = openStore(home);
  const { entries } = await readOn(store, await refOf(store, SESSION));
  assert.deepEqual(told(entries), ["user: one", "assistant: two", "assistant: three"]);
});

test("parts of a message that was written while the ids began anew stand in the order of writing", () => {
  const wrap = Date.parse("2026-08-14T11:19:55.136Z");
  const ids = ["prt_000000002001Bbbb", "prt_ffffffffe001Aaaa", "prt_000000001001Cccc"];
  const inOrder = inIdOrder(
    ids.map((id) => ({ id })),
    wrap - 1_000,
  );
  assert.deepEqual(
    inOrder.map(({ id }) => id),
    ["prt_ffffffffe001Aaaa", "prt_000000001001Cccc", "prt_000000002001Bbbb"],
  );
});

test("a session that spans the new beginning of ids is whole and in order, paged in any way", async (t) => {
  const wrap = Date.parse("2026-08-14T11:19:55.136Z") - T0;
  const { home } = homeWith(t, {
    session: [session({ time_created: T0 + wrap - 5_000 })],
    message: [
      message("msg_ffffff000001Aaaa", wrap - 2_000, { role: "user" }),
      message("msg_ffffffffe001Aaaa", wrap - 1, { role: "assistant" }),
      message("msg_000000800001Aaaa", wrap + 1_000, { role: "user" }),
    ],
    part: [
      part("prt_ffffff001001Aaaa", "msg_ffffff000001Aaaa", wrap - 2_000, text("one")),
      part("prt_fffffffff001Aaaa", "msg_ffffffffe001Aaaa", wrap - 1, text("two")),
      part("prt_000000001001Aaaa", "msg_ffffffffe001Aaaa", wrap + 1, text("three")),
      part("prt_000000801001Aaaa", "msg_000000800001Aaaa", wrap + 1_000, text("four")),
    ],
  });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const whole = ["user: one", "assistant: two", "assistant: three", "user: four"];
  assert.deepEqual(told((await readOn(store, ref)).entries), whole);
  assert.deepEqual(told((await readOn(store, ref, START, { ...PAGE, parts: 1 })).entries), whole);
  const backward: string[] = [];
  for (let before: Cursor | "tail" | null = "tail"; before !== null; ) {
    const page = await store.before(ref, before, { ...PAGE, parts: 1 });
    backward.unshift(...told(page.entries));
    before = page.prev;
  }
  assert.deepEqual(backward, whole);
});

test("a page takes at most 200 rows, and at most 512 KiB", async (t) => {
  const { home, path } = homeWith(t, turns(150));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const first = await store.entries(ref, START, PAGE);
  assert.ok(first.entries.length <= 200 && first.entries.length >= 100);
  const large = JSON.stringify(text("x".repeat(200 * 1024)));
  change(path, (database) => database.prepare("UPDATE part SET data = ?").run(large));
  assert.equal((await store.entries(ref, START, PAGE)).entries.length, 2);
});

test("a part over 512 KiB is told with its size and stepped over, and can be asked for by itself", async (t) => {
  const long = text("y".repeat(600 * 1024));
  const { home } = homeWith(t, {
    session: [session()],
    message: [message("msg_a", 0, { role: "user" }), message("msg_b", 1, { role: "assistant" })],
    part: [
      part("prt_a", "msg_a", 0, text("before")),
      part("prt_b", "msg_b", 1, long),
      part("prt_c", "msg_b", 2, text("behind")),
    ],
  });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { entries } = await readOn(store, ref);
  const bytes = JSON.stringify(long).length;
  const oversized = `oversized: a record of ${bytes} bytes is not read`;
  assert.deepEqual(told(entries), ["user: before", oversized, "assistant: behind"]);
  assert.equal(entries[1]?.id, "prt_b");
  const [alone] = await store.record(ref, "o:0:prt_b:1" as Cursor);
  assert.equal(alone?.kind === "assistant" && alone.text.length, 600 * 1024);
});

test("a message that is too large to be read still shows its parts, each by the side that wrote it", async (t) => {
  const diffs = "z".repeat(600 * 1024);
  const { home } = homeWith(t, {
    session: [session()],
    message: [
      message("msg_a", 0, { role: "user", summary: { diffs } }),
      message("msg_b", 1, { role: "assistant", diffs }),
    ],
    part: [
      part("prt_a", "msg_a", 0, text("asked")),
      part("prt_b", "msg_b", 1, { ...text("answered"), time: { start: T0, end: T0 } }),
    ],
  });
  const store = openStore(home);
  const { entries } = await readOn(store, await refOf(store, SESSION));
  assert.deepEqual(told(entries), ["user: asked", "assistant: answered"]);
  assert.deepEqual((await store.report()).skipped, [
    { reason: "a message that is too large or no JSON", count: 2, example: "message msg_a" },
  ]);
});

test("what is no known shape is counted and never in the way", async (t) => {
  const huge = 9_007_199_254_740_993n;
  const { home } = homeWith(t, {
    session: [session({ title: "", model: "no json", revert: "{torn", parent_id: "not an id" })],
    message: [
      message("msg_a", 0, { role: "user" }),
      message("msg_b", 1, {}, { data: "{torn" }),
      message("msg_c", 2, { role: "assistant", error: "text", tokens: 7, cost: "x" }),
      message("msg_d", 3, { role: "assistant" }, { time_updated: huge }),
    ],
    part: [
      part("prt_a", "msg_a", 0, text("asked")),
      part("prt_b", "msg_b", 1, "{torn"),
      part("prt_c", "msg_b", 1, "[1]"),
      part("prt_d", "msg_c", 1, { text: "no type" }),
      part("prt_e", "msg_c", 1, { type: "hologram" }),
      part("prt_f", "msg_c", 1, { type: "tool", tool: 5, state: "none" }),
      part("prt_g", "msg_c", 1, { type: "text", text: { deep: true } }),
      part("prt:odd id", "msg_c", 1, text("odd")),
      part("prt_h", "msg_d", 3, text("answered"), { time_created: huge, time_updated: huge }),
      part("prt_i", "msg_gone", 1, text("of no message")),
    ],
  });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  assert.deepEqual(told((await readOn(store, ref)).entries), ["user: asked", "tool: ", "assistant: answered"]);
  const [row] = await store.list("sweep");
  assert.deepEqual([row?.title, row?.parent], ["asked", undefined]);
  assert.deepEqual((await store.children(ref)).children, []);
  assert.deepEqual(await store.totals(ref), { tokens: {} });
  assert.deepEqual((await store.report()).skipped.map(({ reason, count }) => `${count} × ${reason}`).sort(), [
    "1 × a message that is too large or no JSON",
    "1 × a message whose tokens could not be counted",
    "1 × a row with an id of another form",
    "2 × a part that is no JSON object",
  ]);
});

test("an older database without the newer columns is read as far as it goes", async (t) => {
  const schema = `
    CREATE TABLE project (id TEXT PRIMARY KEY, worktree TEXT);
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);`;
  const rows = turns(1);
  const { home } = homeWith(
    t,
    {
      ...rows,
      project: [{ id: "p1", worktree: "/home/dev/tree" }],
      session: [{ id: SESSION, project_id: "p1", title: null, time_created: T0, time_updated: T0 }],
    },
    schema,
  );
  const store = openStore(home);
  const [row] = await store.list("sweep");
  assert.deepEqual([row?.title, row?.cwd, row?.updatedAt], ["u0", "/home/dev/tree", T0 + 10]);
  assert.deepEqual(told((await readOn(store, await refOf(store, SESSION))).entries), ["user: u0", "assistant: a0"]);
});

test("secrets and the event log are never touched", async (t) => {
  const { home, path } = homeWith(t, turns(2));
  change(path, (database) => {
    for (const table of ["event", "event_sequence", "credential"]) database.exec(`DROP TABLE ${table}`);
    // Reading any of these fails.
    for (const table of ["event", "event_sequence", "credential", "account", "control_account", "session_share"]) {
      database.exec(`CREATE VIEW ${table} AS SELECT json_extract('{', '$') AS value, 1 AS data, 1 AS id`);
    }
  });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  assert.equal((await store.list("sweep")).length, 1);
  assert.equal((await readOn(store, ref)).entries.length, 4);
  await store.children(ref);
  await store.totals(ref);
  assert.deepEqual((await store.report()).skipped, []);
});

test("a session of both generations is read from the newer one alone", async (t) => {
  const rows = turns(1);
  const own = { id: "msg_v2", session_id: SESSION, type: "user", seq: 1, time_created: T0, time_updated: T0 };
  const { home, path } = homeWith(t, { ...rows, session_message: [{ ...own, data: { text: "as v2" } }] });
  change(path, (database) => {
    const [, create = ""] = /(CREATE TABLE `session_v2`.*?\);)/s.exec(schemaOf("2.0")) ?? [];
    database.exec(create);
    database.exec(
      `INSERT INTO session_v2 (id, project_id, directory, title, version, time_created, time_updated)
       VALUES ('${SESSION}', 'global', '/two', 'Newer', '2.0.12', ${T0}, ${T0})`,
    );
    database.exec(
      `INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
       VALUES ('ses_only1', 'global', 's', '/one', 'Older', '1.18.33', ${T0}, ${T0})`,
    );
  });
  const store = openStore(home);
  const list = await store.list("sweep");
  assert.deepEqual(list.map(({ id, title, cwd }) => [id, title, cwd]).sort(), [
    ["ses_only1", "Older", "/one"],
    [SESSION, "Newer", "/two"],
  ]);
  assert.deepEqual(told((await readOn(store, await refOf(store, SESSION))).entries), ["user: as v2"]);
});

test("what a message of a system says is not shown as the user's", async (t) => {
  const roles = ["system", "developer", "tool", "user"];
  const { home } = homeWith(t, {
    session: [session()],
    message: roles.map((role, ms) => message(`msg_${ms}`, ms, { role })),
    part: roles.map((role, ms) => part(`prt_${ms}`, `msg_${ms}`, ms, text(role))),
  });
  const store = openStore(home);
  assert.deepEqual(told((await readOn(store, await refOf(store, SESSION))).entries), ["user: user"]);
});

const FORMS: readonly (readonly [name: string, change: string])[] = [
  ["a column that is missing", "ALTER TABLE part RENAME COLUMN time_updated TO changed"],
  [
    "no row ids",
    `CREATE TABLE other (id text PRIMARY KEY, message_id text, session_id text, time_created, time_updated, data) WITHOUT ROWID;
     INSERT INTO other SELECT * FROM part; DROP TABLE part; ALTER TABLE other RENAME TO part`,
  ],
  ["a view", "ALTER TABLE part RENAME TO other; CREATE VIEW part AS SELECT * FROM other"],
];

for (const [name, sql] of FORMS) {
  test(`a table of parts of a form that is not known is not read, and said: ${name}`, async (t) => {
    const { home, path } = homeWith(t, turns(2));
    change(path, (database) => database.exec(sql));
    const store = openStore(home);
    assert.equal((await store.list("sweep")).length, 1);
    assert.deepEqual(told((await readOn(store, await refOf(store, SESSION))).entries), []);
    const [skipped] = (await store.report()).skipped;
    assert.equal(skipped?.reason, 'a table "part" of a form that is not known');
  });
}

test("a database without any table of sessions lists nothing and says so", async (t) => {
  const { home } = homeWith(t, {}, "CREATE TABLE migration (id TEXT)");
  const store = openStore(home);
  assert.deepEqual(await store.list("sweep"), []);
  const [skipped] = (await store.report()).skipped;
  assert.equal(skipped?.reason, "a database without a table of sessions");
});
