import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { SessionId } from "../../../src/transcript/names.ts";
import { agentEvent, childMeta, complete, found, Home, linesOf, meta, NINE, userEvent, uuid } from "./home.ts";

const ID = uuid(NINE);

/** An index as 0.171 has it, as far as it is read. */
function index(
  path: string,
  threads: readonly [string, string, number][],
  edges: readonly [string, string][] = [],
): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, updated_at_ms INTEGER)");
  database.exec(
    "CREATE TABLE thread_spawn_edges (parent_thread_id TEXT, child_thread_id TEXT PRIMARY KEY, status TEXT)",
  );
  for (const row of threads) database.prepare("INSERT INTO threads VALUES (?, ?, ?)").run(...row);
  for (const row of edges) database.prepare("INSERT INTO thread_spawn_edges VALUES (?, ?, 'open')").run(...row);
  database.close();
}

async function titleIn(home: Home): Promise<string | undefined> {
  return (await home.store().list("sweep")).find(({ id }) => id === ID)?.title;
}

function talk(home: Home): void {
  home.rollout(ID, [meta(ID), userEvent(1, "first words"), agentEvent(2, "ok")]);
}

test("the name in the CLI's index wins over its list of names, and is no session by itself", async (t) => {
  const home = new Home(t);
  talk(home);
  writeFileSync(join(home.path, "session_index.jsonl"), linesOf([{ id: ID, thread_name: "listed" }]));
  assert.equal(await titleIn(home), "listed");
  index(join(home.path, "state_5.sqlite"), [
    [ID, "indexed", 1],
    [uuid(1), "gone", 2],
  ]);
  assert.equal(await titleIn(home), "indexed");
  assert.equal((await home.store().list("sweep")).length, 1);
});

test("of several indexes the one with the highest number counts, and of two places the one that knows the newest thread", async (t) => {
  const home = new Home(t);
  talk(home);
  index(join(home.path, "state_4.sqlite"), [[ID, "old number", 99]]);
  index(join(home.path, "state_5.sqlite"), [[ID, "stale", 1]]);
  assert.equal(await titleIn(home), "stale");
  mkdirSync(join(home.path, "sqlite"));
  index(join(home.path, "sqlite/state_5.sqlite"), [[ID, "in use", 2]]);
  assert.equal(await titleIn(home), "in use");
});

test("an index that is no database, or of an unknown shape, is noted, and the files are read all the same", async (t) => {
  const home = new Home(t);
  talk(home);
  writeFileSync(join(home.path, "state_5.sqlite"), "no database");
  const store = home.store();
  assert.equal((await store.list("sweep"))[0]?.title, "first words");
  assert.match((await store.report()).roots[0]?.note ?? "", /state_5\.sqlite: not a SQLite database/);
  const other = new Home(t);
  talk(other);
  new DatabaseSync(join(other.path, "state_5.sqlite")).exec("CREATE TABLE threads (other TEXT)");
  assert.equal(await titleIn(other), "first words");
});

test("reading the index leaves no trace, and an unchanged one is not read again", async (t) => {
  const home = new Home(t);
  talk(home);
  const path = join(home.path, "state_5.sqlite");
  index(path, [[ID, "indexed", 1]]);
  const state = (): unknown[] => [readdirSync(home.path).sort(), statSync(path).mtimeMs, readFileSync(path)];
  const before = state();
  const store = home.store();
  const rows = await store.list("sweep");
  assert.deepEqual(await store.list("quick"), rows);
  assert.deepEqual(state(), before);
});

test("children are looked for among the newest rollouts, and beyond them where the index names them and they agree", async (t) => {
  const home = new Home(t);
  talk(home);
  const child = (n: number, parent: SessionId): SessionId => {
    const id = uuid(NINE + n * 1000, n);
    home.rollout(id, [
      childMeta(id, parent, {}, n * 1000),
      userEvent(n * 1000 + 1, "look"),
      complete(n * 1000 + 2, "t"),
    ]);
    return id;
  };
  const [old, foreign, newer] = [child(1, ID), child(2, uuid(1)), child(3, ID)];
  child(4, uuid(1));
  const childrenOf = async (): Promise<SessionId[]> => {
    const store = home.store({ childRollouts: 2 });
    return (await store.children(await found(store, ID))).children.map(({ id }) => id);
  };
  assert.deepEqual(await childrenOf(), [newer]);
  index(
    join(home.path, "state_5.sqlite"),
    [],
    [
      [ID, old],
      [ID, foreign],
      [ID, uuid(2)],
    ],
  );
  assert.deepEqual(await childrenOf(), [newer, old]);
});
