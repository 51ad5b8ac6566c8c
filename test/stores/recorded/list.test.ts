import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { sid } from "../../support/fake-store.ts";
import { Home, lines, TEN } from "./home.ts";

const prompt = { kind: "user-prompt", text: "Count the\n files" };

test("a row says what the recording tells: its first prompt, first and last time, model and folder", async (t) => {
  const home = new Home(t);
  const content = lines([
    { kind: "system-prompt", text: "x", cwd: "/w" },
    prompt,
    { kind: "turn-end", reason: "completed" },
    { kind: "usage_snapshot", model: "m-1", source: "adapter" },
  ]);
  home.write("ses_1", content);
  assert.deepEqual(await home.store.list("sweep"), [
    {
      agent: "daemon",
      id: "ses_1",
      title: "Count the files",
      cwd: "/w",
      startedAt: TEN + 1000,
      updatedAt: TEN + 4000,
      bytes: content.length,
      model: "m-1",
    },
  ]);
});

test("a prompt behind a system prompt of any length is the title; without a prompt the id is", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([{ kind: "system-prompt", text: "x".repeat(100_000) }, prompt]));
  home.write("ses_2", lines([{ kind: "text-delta", text: "x" }]));
  const rows = await home.store.list("sweep");
  assert.deepEqual(rows.map(({ title }) => title).sort(), ["Count the files", "ses_2"]);
});

test("what has not changed is not read again, and keeps its row", async (t) => {
  const home = new Home(t);
  for (let n = 0; n < 20; n++) home.write(`ses_${n}`, lines([prompt]));
  const first = await home.store.list("sweep");
  assert.equal(home.work.reads, 20);
  assert.equal(await home.store.list("sweep"), first);
  assert.equal(await home.store.list("quick"), first);
  assert.equal(home.work.reads, 20);
  home.append("ses_3", lines([{ kind: "turn-end", reason: "completed" }], 2));
  const second = await home.store.list("sweep");
  assert.equal(home.work.reads, 21);
  assert.equal(second.filter((row, index) => row !== first[index]).length, 1);
});

test("only agents' sessions in folders of their own are listed; the rest is counted", async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt]));
  home.write("ses_cmd", '{"command":"ls","exitCode":0}\n');
  home.write("ses_bad", "no record\n");
  home.write("ses_new", "");
  home.write("bad id", lines([prompt]));
  mkdirSync(home.file("ses_dir"), { recursive: true });
  const sessions = dirname(dirname(home.file("x")));
  const outside = join(home.path, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "events.jsonl"), lines([prompt]));
  symlinkSync(outside, join(sessions, "ses_link"));
  mkdirSync(join(sessions, "ses_filelink"));
  symlinkSync(join(outside, "events.jsonl"), home.file("ses_filelink"));
  const rows = await home.store.list("sweep");
  assert.deepEqual(
    rows.map(({ id }) => id),
    ["ses_1"],
  );
  for (const id of ["ses_cmd", "ses_link", "ses_filelink", "ses_dir"]) {
    assert.equal(await home.store.find(sid(id)), undefined, id);
  }
  const { skipped, sessions: count, roots } = await home.store.report();
  assert.equal(count, 1);
  assert.deepEqual(roots, [{ path: sessions, found: true }]);
  assert.deepEqual(skipped.map(({ reason, count: of }) => `${of} ${reason}`).sort(), [
    "1 a link, which is not followed",
    "1 a name that can be no session's id",
    "1 no record can be read in it",
    "1 nothing is recorded yet",
    "1 the recording of a plain command",
    "2 no regular file in the store",
  ]);
});

test("a command's record before a conversation hides none of it", async (t) => {
  const home = new Home(t);
  home.write("ses_1", `{"seq":1,"command":"claude","exitCode":0}\n${lines([prompt], 2)}`);
  const [row] = await home.store.list("sweep");
  assert.equal(row?.id, "ses_1");
  assert.deepEqual(
    (await home.read("ses_1", 512)).entries.map(({ id }) => id),
    ["e2"],
  );
});

test("a store that is not there is an empty one", async (t) => {
  const home = new Home(t);
  rmSync(join(home.path, ".agentproto"), { recursive: true });
  assert.deepEqual(await home.store.list("sweep"), []);
  assert.equal(await home.store.find(sid("ses_1")), undefined);
  const { roots } = await home.store.report();
  assert.equal(roots[0]?.found, false);
});

test("lines that are no records are counted once, however often they are read", async (t) => {
  const home = new Home(t);
  home.write("ses_1", `${lines([prompt])}torn {\n[]\n${lines([prompt], 2)}`);
  await home.read("ses_1", 500);
  await home.read("ses_1", 200);
  const { skipped } = await home.store.report();
  assert.deepEqual(skipped, [{ reason: "a line that is no record", count: 2, example: home.file("ses_1") }]);
});

test("a change in a session is told by its id, also in one that is new", { timeout: 10_000 }, async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt]));
  const leaving = new AbortController();
  // A watcher keeps no process alive.
  const hold = setInterval(() => undefined, 1_000);
  t.after(() => {
    leaving.abort();
    clearInterval(hold);
  });
  const told = home.store.changes(leaving.signal)[Symbol.asyncIterator]();
  await told.next();
  const until = async (id: string): Promise<void> => {
    for (let next = await told.next(); !next.done && next.value.id !== id; ) next = await told.next();
    const rows = await home.store.list("quick");
    assert.ok(rows.some((row) => row.id === id && row.updatedAt > TEN + 1000));
  };
  home.append("ses_1", lines([prompt], 2));
  await until("ses_1");
  home.write("ses_2", lines([prompt], 2));
  await until("ses_2");
});

test("a chat's watch tells at once, and then of every change", { timeout: 10_000 }, async (t) => {
  const home = new Home(t);
  home.write("ses_1", lines([prompt]));
  const leaving = new AbortController();
  // A watcher keeps no process alive.
  const hold = setInterval(() => undefined, 1_000);
  t.after(() => {
    leaving.abort();
    clearInterval(hold);
  });
  const told = home.store.watch(await home.ref("ses_1"), leaving.signal)[Symbol.asyncIterator]();
  assert.equal((await told.next()).done, false);
  const next = told.next();
  home.append("ses_1", lines([prompt], 2));
  assert.equal((await next).done, false);
  leaving.abort();
  assert.equal((await told.next()).done, true);
});
