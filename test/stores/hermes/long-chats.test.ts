import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openRows, type SqliteDatabase } from "../../../src/sqlite/database.ts";
import { Messages } from "../../../src/stores/hermes/messages.ts";
import { Home, insert, NEWEST, TEN } from "./home.ts";

test("a page of a long conversation walks a stretch of the table, not all that its session has in the index", (t) => {
  const database = new DatabaseSync(":memory:");
  t.after(() => database.close());
  database.exec(NEWEST);
  insert(database, "sessions", { id: "s1", source: "cli", started_at: TEN });
  database.exec(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
     INSERT INTO messages (session_id, role, content, timestamp) SELECT 's1', 'user', 'row ' || i, ${TEN} + i FROM n`,
  );
  const rows = openRows(database);
  const plans: string[] = [];
  const told: SqliteDatabase = {
    ...rows,
    all(sql, ...parameters) {
      plans.push(...rows.all(`EXPLAIN QUERY PLAN ${sql}`, ...parameters).map(({ detail }) => String(detail)));
      return rows.all(sql, ...parameters);
    },
  };
  const messages = new Messages(told, ["s1"]);
  assert.deepEqual(
    messages.from(9_000, 2).map(({ id }) => id),
    [9_000, 9_001],
  );
  assert.deepEqual(
    messages.before(9_000, 2).map(({ id }) => id),
    [8_999, 8_998],
  );
  assert.equal(messages.isLast("s1", 5_000), false);
  assert.deepEqual(
    new Set(plans.filter((plan) => plan.includes("messages"))),
    new Set(["SEARCH messages USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]),
  );
});

test("a conversation is whole though thousands of rows of others stand between its own", async (t) => {
  const home = new Home(t);
  home.session("s1");
  home.session("s2");
  home.write((database) => {
    for (const [session, count] of [
      ["s1", 3],
      ["s2", 4_500],
      ["s1", 3],
      ["s2", 2_500],
      ["s1", 1],
    ] as const) {
      database.exec(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
         INSERT INTO messages (session_id, role, content, timestamp)
         SELECT '${session}', 'user', 'row ' || (i + (SELECT count(*) FROM messages WHERE session_id = '${session}')), ${TEN} FROM n`,
      );
    }
  });
  const expected = Array.from({ length: 7 }, (_, index) => `row ${index + 1}`);
  const { entries } = await home.read("s1", 2);
  assert.deepEqual(
    entries.map((entry) => "text" in entry && entry.text),
    expected,
  );
  const ref = await home.ref("s1");
  const texts: unknown[] = [];
  for (let before: Parameters<typeof home.store.before>[1] | null = "tail"; before !== null; ) {
    const page = await home.store.before(ref, before, { bytes: 512 * 1024, parts: 2 });
    texts.unshift(...page.entries.map((entry) => "text" in entry && entry.text));
    before = page.prev;
  }
  assert.deepEqual(texts, expected);
});
