import assert from "node:assert/strict";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { START } from "../../../src/transcript/cursor.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import {
  agentEvent,
  BUDGET,
  complete,
  found,
  Home,
  line,
  linesOf,
  meta,
  NINE,
  started,
  userEvent,
  uuid,
} from "./home.ts";

const ID = uuid(NINE);

test("a session is listed with all that its file tells", async (t) => {
  const home = new Home(t);
  const lines = [
    meta(ID, { git: { branch: "main" } }),
    userEvent(1, "  make\n it  so "),
    line(2, "turn_context", { model: "gpt-a" }),
    agentEvent(3, "done"),
    line(4, "turn_context", { model: "gpt-b" }),
    agentEvent(5000, "done again"),
  ];
  home.rollout(ID, lines);
  assert.deepEqual(await home.store().list("sweep"), [
    {
      agent: "codex",
      id: ID,
      title: "make it so",
      cwd: "/home/dev/demo",
      branch: "main",
      startedAt: NINE,
      updatedAt: NINE + 5000,
      bytes: Buffer.byteLength(linesOf(lines)),
      model: "gpt-b",
      resume: { command: ["codex", "resume", ID], cwd: "/home/dev/demo" },
    },
  ]);
});

test("a given name is the title, the last one given; a name for no thread is none", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID), userEvent(1, "hi"), agentEvent(2, "ok")]);
  const store = home.store();
  assert.equal((await store.list("sweep"))[0]?.title, "hi");
  const index = join(home.path, "session_index.jsonl");
  const named = (id: string, thread_name: string): object => ({ id, thread_name, updated_at: "2026-11-30T09:00:00Z" });
  writeFileSync(index, linesOf([named(ID, "first"), "broken", named(uuid(1), "gone"), named(ID, "second")]));
  assert.equal((await store.list("sweep"))[0]?.title, "second");
});

test("a title is of the records that the chat shows", async (t) => {
  const home = new Home(t);
  const item = { type: "UserMessage", content: [{ type: "text", text: "asked" }] };
  home.rollout(ID, [
    meta(ID, { history_mode: "paginated" }),
    userEvent(1, "not shown"),
    line(2, "event_msg", { type: "item_completed", thread_id: ID, turn_id: "t", item }),
  ]);
  assert.equal((await home.store().list("sweep"))[0]?.title, "asked");
});

test("a title is cut to 160 characters", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID), userEvent(1, "x".repeat(500)), agentEvent(2, "ok")]);
  const [row] = await home.store().list("sweep");
  assert.deepEqual([row?.title.length, row?.title.at(-1)], [160, "…"]);
});

test("a second list of unchanged files opens none, and a growing one is read at its end alone", async (t) => {
  const home = new Home(t);
  for (let n = 0; n < 50; n++) {
    const id = uuid(NINE + n, n);
    home.rollout(id, [meta(id), userEvent(1, `task ${n}`), agentEvent(2, "ok")]);
  }
  const store = home.store();
  await store.list("sweep");
  assert.deepEqual(home.work.take(), { folder: 4, open: 50, head: 50 });
  await store.list("sweep");
  await store.list("quick");
  assert.deepEqual(home.work.take(), {});
  const long = uuid(NINE, 0);
  appendFileSync(home.rolloutPath(long), linesOf([agentEvent(60_000, "x".repeat(200_000)), agentEvent(61_000, "end")]));
  const rows = await store.list("quick");
  assert.deepEqual(home.work.take(), { open: 1, tail: 1 });
  assert.equal(rows.find(({ id }) => id === long)?.updatedAt, NINE + 61_000);
});

test("a quick list looks at the newest three days and at what was told; a sweep at all", async (t) => {
  const home = new Home(t);
  const days = ["2026/11/26", "2026/11/27", "2026/11/28", "2026/11/29", "2026/11/30"];
  const ids = days.map((day, n) => {
    const id = uuid(NINE + n, n);
    home.rollout(id, [meta(id), userEvent(1, `on ${day}`), agentEvent(2, "ok")], { day });
    return id;
  });
  const store = home.store();
  await store.list("sweep");
  for (const [n, id] of ids.entries())
    appendFileSync(home.rolloutPath(id, { day: days[n] }), linesOf([agentEvent(60_000, "more")]));
  const updated = async (effort: "quick" | "sweep"): Promise<boolean[]> => {
    const rows = await store.list(effort);
    return ids.map((id) => rows.find((row) => row.id === id)?.updatedAt === NINE + 60_000);
  };
  assert.deepEqual(await updated("quick"), [false, false, true, true, true]);
  assert.deepEqual(await updated("sweep"), [true, true, true, true, true]);
});

test("new, moved and removed sessions come and go with the next list, in day folders that are new too", async (t) => {
  const home = new Home(t);
  const other = uuid(NINE + 1, 1);
  home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  const store = home.store();
  assert.equal((await store.list("sweep")).length, 1);
  home.rollout(other, [meta(other), userEvent(1, "hi")], { day: "2026/12/01" });
  assert.deepEqual((await store.list("quick")).map(({ id }) => id).sort(), [ID, other]);
  assert.equal((await store.find(other))?.id, other);
});

test("a session is found by its id wherever it lies, and an id that is another file's is not", async (t) => {
  const home = new Home(t);
  const archived = uuid(NINE - 86_400_000 * 400);
  home.rollout(archived, [meta(archived), userEvent(1, "hi")], { archived: true });
  const liar = uuid(NINE, 7);
  home.rollout(liar, [meta(ID), userEvent(1, "hi")]);
  const store = home.store();
  assert.equal((await store.find(archived))?.id, archived);
  assert.equal(await store.find(liar), undefined);
  assert.equal(await store.find("nothing" as SessionId), undefined);
  assert.deepEqual(
    (await store.list("sweep")).map(({ id }) => id),
    [archived],
  );
});

test("a process that holds a session's writer lock makes it live", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID), userEvent(1, "hi"), started(2, "t")]);
  const folder = join(home.path, "thread-writer-locks");
  mkdirSync(folder);
  const lock = join(folder, `${ID}.lock`);
  writeFileSync(lock, "");
  const store = home.store();
  assert.deepEqual([await store.live(), (await store.list("sweep"))[0]?.live], [[], undefined]);
  home.locks = `12: FLOCK  ADVISORY  WRITE 4711 08:01:${statSync(lock).ino} 0 EOF\n`;
  home.clock.at += 1000;
  const [proof] = await store.live();
  assert.deepEqual([proof?.id, proof?.pid, proof?.cwd, proof?.activity], [ID, 4711, "/home/dev/demo", "running"]);
  assert.deepEqual((await store.list("quick"))[0]?.live, { pid: 4711 });
  appendFileSync(home.rolloutPath(ID), linesOf([complete(3, "t")]));
  assert.equal((await store.live())[0]?.activity, "idle");
});

test("the report says where it looked, which generations it met and what it left out", async (t) => {
  const home = new Home(t);
  const other = new Home(t);
  const helper = uuid(NINE, 2);
  home.rollout(ID, [meta(ID), userEvent(1, "hi")]);
  home.rollout(uuid(NINE, 1), [meta(uuid(NINE, 1), { history_mode: "paginated" })]);
  const review = home.rollout(helper, [meta(helper, { source: { subagent: "review" } })]);
  const foreign = join(home.path, "sessions/2026/11/30/rollout-test.jsonl");
  writeFileSync(foreign, "");
  const [folder, link] = [home.rolloutPath(uuid(NINE, 3)), home.rolloutPath(uuid(NINE, 4))];
  mkdirSync(folder);
  symlinkSync(review, link);
  const store = home.store({ extraRoots: [other.path] });
  await store.list("sweep");
  await store.list("sweep");
  const report = await store.report();
  assert.deepEqual(report, {
    agent: "codex",
    roots: [
      { path: home.path, found: true, note: "from CODEX_HOME" },
      { path: other.path, found: false, note: "from config.json" },
    ],
    sessions: 2,
    formats: ["events (0.32 and newer)", "items (0.149 and newer)"],
    skipped: [
      { reason: "named like a rollout and no regular file", count: 1, example: folder },
      { reason: "a link, which Codex does not follow either", count: 1, example: link },
      { reason: "not named or placed like a rollout", count: 1, example: foreign },
      { reason: "review or internal helper", count: 1, example: review },
    ],
  });
});

test("no read changes a byte, a time stamp or the list of files of the store", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID), userEvent(1, "hi"), agentEvent(2, "ok")]);
  writeFileSync(join(home.path, "session_index.jsonl"), "");
  const state = (): unknown =>
    readdirSync(home.path, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => {
        const path = join(home.path, name);
        const { mtimeMs, ctimeMs, size, ino } = statSync(path);
        return [name, mtimeMs, ctimeMs, size, ino, statSync(path).isFile() ? readFileSync(path, "utf8") : ""];
      });
  const before = state();
  const store = home.store();
  await store.list("sweep");
  const ref = await found(store, ID);
  await store.entries(ref, START, BUDGET);
  await store.before(ref, "tail", BUDGET);
  await store.children(ref);
  await store.totals(ref);
  await store.live();
  await store.report();
  assert.deepEqual(state(), before);
});

test("a list that is left stops", async (t) => {
  const home = new Home(t);
  home.rollout(ID, [meta(ID)]);
  await assert.rejects(home.store().list("sweep", AbortSignal.abort()), { name: "AbortError" });
});

test("the newest sessions of a person that begin so are those of the list", async (t) => {
  const home = new Home(t);
  const ids = [0, 1, 2, 3].map((n) => uuid(NINE + n * 1_000));
  for (const [n, id] of ids.entries()) {
    const path = home.rollout(id, [meta(id), userEvent(1, `ask ${n}`)]);
    utimesSync(path, NINE / 1000, NINE / 1000 + (n === 1 ? 9 : n));
  }
  const store = home.store();
  const newest = await store.newest("", 3);
  assert.deepEqual(
    newest.map(({ id }) => id),
    [ids[1], ids[3], ids[2]],
  );
  const listed = await store.list("sweep");
  for (const row of newest)
    assert.deepEqual(
      row,
      listed.find(({ id }) => id === row.id),
    );
  assert.deepEqual(
    await store.newest(ids[0] ?? "", 3),
    listed.filter(({ id }) => id === ids[0]),
  );
  assert.deepEqual(await store.newest("nothing", 3), []);
});
