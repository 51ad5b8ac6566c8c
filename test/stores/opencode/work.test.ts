import assert from "node:assert/strict";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { Store } from "../../../src/stores/store.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { homeWith, insertPart, message, part, SESSION, session, T0, text, turns } from "./conversation.ts";
import { change, openStore, PAGE, type Rows, readOn, refOf, schemaOf } from "./fixtures.ts";

interface Query {
  readonly sql: string;
  /** Rows that were handed over. */
  rows: number;
}

type Parameters = [never, ...never[]];

/** What is asked of any database from now on. */
function spyOnQueries(t: TestContext): Query[] {
  const queries: Query[] = [];
  const { all, iterate } = StatementSync.prototype;
  t.mock.method(StatementSync.prototype, "all", function (this: StatementSync, ...parameters: Parameters) {
    const rows = all.apply(this, parameters);
    queries.push({ sql: this.sourceSQL, rows: rows.length });
    return rows;
  });
  t.mock.method(StatementSync.prototype, "iterate", function* (this: StatementSync, ...parameters: Parameters) {
    const query: Query = { sql: this.sourceSQL, rows: 0 };
    queries.push(query);
    for (const row of iterate.apply(this, parameters)) {
      query.rows++;
      yield row;
    }
  });
  return queries;
}

/** The queries and rows that `read` costs. */
async function costOf(queries: Query[], read: () => Promise<unknown>): Promise<[queries: number, rows: number]> {
  queries.length = 0;
  await read();
  return [queries.length, queries.reduce((sum, { rows }) => sum + rows, 0)];
}

/** A session of v2 with as many rows. */
function rowsOfSecond(count: number): Rows {
  const rows = Array.from({ length: count }, (_, n) => {
    const id = `msg_${String(n).padStart(5, "0")}`;
    const at = T0 + n;
    return {
      id,
      session_id: SESSION,
      type: "user",
      seq: n,
      time_created: at,
      time_updated: at,
      data: { text: `u${n}` },
    };
  });
  return {
    session_v2: [session({ title: "A title", project_id: "global", directory: "/home/dev", version: "2.0" })],
    session_message: rows,
  };
}

for (const { generation, rows, schema, page, back } of [
  // Whether there is a v2 session, its revert, where the page begins, then its rows (and of v2 whether its last answer was stopped).
  { generation: "v1", rows: turns, schema: "1.18.33", page: [5, 105], back: [5, 106] },
  { generation: "v2", rows: (turns: number) => rowsOfSecond(turns * 4), schema: "2.0", page: [5, 205], back: [5, 205] },
]) {
  test(`a page of ${generation} costs the same few queries and rows wherever it lies and however long the session is`, async (t) => {
    for (const count of [300, 1_500]) {
      const { home } = homeWith(t, rows(count), schemaOf(schema));
      const store = openStore(home);
      const ref = await refOf(store, SESSION);
      const queries = spyOnQueries(t);
      const second = (await store.entries(ref, START, PAGE)).next;
      assert.deepEqual(await costOf(queries, () => store.entries(ref, second, PAGE)), page);
      const { prev } = await store.before(ref, "tail", PAGE);
      assert.deepEqual(await costOf(queries, () => store.before(ref, prev as Cursor, PAGE)), back);
      t.mock.restoreAll();
    }
  });
}

test("the end of a chat at rest costs no look at all its rows, nor does a poll behind it", async (t) => {
  const { home } = homeWith(t, turns(2_000));
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const { next } = await store.before(ref, "tail", PAGE);
  const queries = spyOnQueries(t);
  assert.deepEqual(await costOf(queries, () => store.entries(ref, next, PAGE)), [6, 3]);
  assert.equal(store.work.scans, 0);
});

test("a message that holds more than a page is read no further than the page goes", async (t) => {
  const big = text("x".repeat(100_000));
  const parts = Array.from({ length: 400 }, (_, n) => part(`prt_${String(n).padStart(4, "0")}`, "msg_1", n, big));
  const { home } = homeWith(t, { session: [session()], message: [message("msg_1", 0, { role: "user" })], part: parts });
  const store = openStore(home);
  const ref = await refOf(store, SESSION);
  const queries = spyOnQueries(t);
  const contents = async (read: () => Promise<{ readonly entries: readonly unknown[] }>): Promise<number[]> => {
    queries.length = 0;
    const { entries } = await read();
    const withData = queries.filter(
      ({ sql }) => sql.includes("THEN p.data END") || sql.includes("THEN data END AS data"),
    );
    return [entries.length, withData.reduce((sum, { rows }) => sum + rows, 0)];
  };
  const first = await store.entries(ref, START, PAGE);
  assert.deepEqual(await contents(() => store.entries(ref, START, PAGE)), [5, 7]);
  // Its own five, after the seven that stand at the message's beginning.
  assert.deepEqual(await contents(() => store.entries(ref, first.next, PAGE)), [5, 11]);
  const { entries } = await readOn(store, ref);
  assert.deepEqual(
    entries.map(({ id }) => id),
    parts.map(({ id }) => id),
  );
});

test("every query finds its rows by an index, and none goes through a session's rows where ids name the few", async (t) => {
  const task = { type: "tool", tool: "task", state: { status: "completed", metadata: { sessionId: "ses_child" } } };
  const conversation = turns(300);
  const first: Rows = {
    ...conversation,
    session: [session(), session({ id: "ses_child", parent_id: SESSION, title: "" })],
    part: [...(conversation.part ?? []), part("prt_task", "msg_0299b", 400_000, task)],
  };
  for (const { rows, version, write, revert } of [
    {
      rows: first,
      version: "1.18.33",
      write: insertPart("prt_0299c", "msg_0299b", 500_000, text("more")),
      revert: `UPDATE session SET revert = '{"messageID":"msg_0250a"}'`,
    },
    {
      rows: rowsOfSecond(900),
      version: "2.0",
      write: `UPDATE session_message SET time_updated = ${T0 + 500_000} WHERE seq = 5`,
      revert: `UPDATE session_v2 SET revert = '{"messageID":"msg_00700"}'`,
    },
  ]) {
    const { home, path } = homeWith(t, rows, schemaOf(version));
    const queries = spyOnQueries(t);
    const store = openStore(home);
    const next = await readEverything(store);
    change(path, (database) => database.exec(write));
    await store.entries(await refOf(store, SESSION), next, PAGE);
    change(path, (database) => database.exec(revert));
    await readEverything(store);
    t.mock.restoreAll();
    assert.ok(store.work.scans > 0);
    assert.deepEqual(slowQueries(path, queries), []);
  }
});

/** Reads in every way there is; gives back where the chat ends. */
async function readEverything(store: Store): Promise<Cursor> {
  const ref = await refOf(store, SESSION);
  const { entries, next } = await readOn(store, ref);
  const { prev } = await store.before(ref, "tail", PAGE);
  await store.before(ref, prev as Cursor, PAGE);
  await store.record(ref, (entries[100]?.pos ?? START) as Cursor);
  await store.list("sweep");
  await store.children(ref);
  await store.totals(ref);
  return next;
}

/** The queries whose plan goes through a table, sorts its rows, or finds parts by their session where it has no bounds. */
function slowQueries(path: string, queries: readonly Query[]): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const slow = [...new Set(queries.map(({ sql }) => sql))].flatMap((sql) => {
    if (sql.includes("pragma_table_info") || sql.startsWith("PRAGMA")) return [];
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const details = plan.map(({ detail }) => String(detail));
    return details.filter((detail) => isSlow(detail, sql)).map((detail) => `${detail}: ${sql.replaceAll(/\s+/g, " ")}`);
  });
  database.close();
  return slow;
}

function isSlow(detail: string, sql: string): boolean {
  // The rows of a subquery with a limit, and values given as JSON, are few.
  if (/^SCAN (?:m|json_each|\(subquery-1\))(?: |$)/.test(detail)) return false;
  // So are the children of a session, and the parts of messages that are named.
  if (detail.includes("TEMP B-TREE")) return !/ s\.parent_id = \?| id IN \(| message_id =/.test(sql);
  return /^SCAN|part_session_idx \(session_id=\?\)$/.test(detail);
}
