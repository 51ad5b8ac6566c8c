import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import {
  agentEvent,
  agentItem,
  allEntries,
  BUDGET,
  chat,
  found,
  Home,
  line,
  linesOf,
  meta,
  NINE,
  output,
  told,
  toldChat,
  userEvent,
  userItem,
  uuid,
} from "./home.ts";

const ID = uuid(NINE);
const TALK = [meta(ID), userEvent(1, "hi"), agentEvent(2, "hello"), userEvent(3, "more"), agentEvent(4, "done")];
const TOLD = ['user: "hi"', 'assistant: "hello"', 'user: "more"', 'assistant: "done"'];

function write(home: Home, bytes: string | Buffer): string {
  const path = home.rolloutPath(ID);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

test("broken lines, empty lines, NUL bytes, CRLF and a byte-order mark lose nothing but themselves", async (t) => {
  const [header, ...rest] = TALK.map((record) => JSON.stringify(record));
  const damage = [
    '{"timestamp":"2026-11-30T09:00:00.000Z","type":"event_msg","payl',
    "",
    "\0\0\0\0",
    "null",
    "[]",
    '"x"',
    "\u2028",
  ];
  const lines = [header, ...rest.flatMap((text, index) => [damage[index] ?? "", damage[index + 3] ?? "", `${text}\r`])];
  const home = new Home(t);
  write(home, `\ufeff${lines.join("\n")}\n`);
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
});

test("a torn header is passed over for the first whole one", async (t) => {
  const home = new Home(t);
  write(home, `{"timestamp":"2026-11-30T09:00:00.000Z","type":"session_me\n${linesOf(TALK)}`);
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
});

test("a file that lost its header is its name's thread, and one in which nothing can be read is told by the report", async (t) => {
  const home = new Home(t);
  const path = write(home, linesOf(TALK.slice(1)));
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
  const [row] = await home.store().list("sweep");
  assert.deepEqual([row?.id, row?.title, row?.startedAt], [ID, "hi", NINE]);
  write(home, "no record at all\n");
  const store = home.store();
  assert.deepEqual(await store.list("sweep"), []);
  assert.equal(await store.find(ID), undefined);
  assert.deepEqual((await store.report()).skipped, [{ reason: "no readable header", count: 1, example: path }]);
});

test("numeric times are seconds or milliseconds, and a record without one has the last before it", async (t) => {
  const home = new Home(t);
  const bare = (record: object, timestamp: unknown): object => ({ ...record, timestamp });
  write(
    home,
    linesOf([
      meta(ID),
      bare(userEvent(1, "s"), (NINE + 5000) / 1000),
      bare(agentEvent(2, "ms"), NINE + 6000),
      bare(agentEvent(3, "none"), undefined),
    ]),
  );
  assert.deepEqual(
    (await chat(home.store(), ID)).map(({ at }) => at - NINE),
    [5000, 6000, 6000],
  );
});

test("a record over the page limit is one item with its size, and what follows it shows", async (t) => {
  const home = new Home(t);
  const giant = output(2, "c", "x".repeat(1_500_000));
  const compaction = line(3, "compacted", { message: "x".repeat(700_000), replacement_history: [] });
  write(home, linesOf([meta(ID), userEvent(1, "hi"), giant, compaction, agentEvent(4, "done")]));
  const store = home.store();
  const size = Buffer.byteLength(linesOf([giant]));
  const compactionSize = Buffer.byteLength(linesOf([compaction]));
  const expected = [
    'user: "hi"',
    `oversized: a record of ${size} bytes`,
    "compact: context compacted",
    `oversized: a record of ${compactionSize} bytes`,
    'assistant: "done"',
  ];
  assert.deepEqual(await toldChat(store, ID), expected);
  const items = await chat(store, ID);
  assert.deepEqual(
    items.map(({ at }) => at - NINE),
    [1, 2, 3, 3, 4],
  );
  const ref = await found(store, ID);
  const backward: string[] = [];
  for (let at: Cursor | "tail" | null = "tail"; at !== null; ) {
    const page = await store.before(ref, at, BUDGET);
    backward.unshift(...toItems(page.entries).map(told));
    at = page.prev;
  }
  assert.deepEqual(backward, expected);
  const [whole] = await store.record(ref, items[1]?.ref ?? START);
  assert.equal(whole?.kind === "tool-result" && whole.text.length, 1_500_000);
});

test("a file cut at any byte shows whole records alone, and goes on from there when the rest is written", async (t) => {
  const home = new Home(t);
  const bytes = Buffer.from(linesOf([meta(ID), userEvent(1, "grüß dich"), agentEvent(2, "hello ✓")]));
  const path = write(home, bytes);
  const store = home.store();
  const ref = await found(store, ID);
  const whole = await allEntries(store, ref);
  const header = Buffer.byteLength(linesOf([meta(ID)]));
  for (let cut = header; cut <= bytes.length; cut++) {
    truncateSync(path, header);
    appendFileSync(path, bytes.subarray(header, cut));
    const first = await store.entries(ref, START, BUDGET);
    appendFileSync(path, bytes.subarray(cut));
    const second = await store.entries(ref, first.next, BUDGET);
    assert.deepEqual([...first.entries, ...second.entries], whole, `cut at ${cut}`);
  }
});

test("a record is not found in the middle of a line, behind the end, or half written", async (t) => {
  const home = new Home(t);
  const path = write(home, linesOf(TALK));
  appendFileSync(path, '{"timestamp"');
  const store = home.store();
  const ref = await found(store, ID);
  const size = Buffer.byteLength(linesOf(TALK));
  for (const pos of ["j:3:0", "j:3:1", `j:${size}:0`, "j:99999999:0"]) {
    await assert.rejects(store.record(ref, pos as Cursor), { kind: "not-found" }, pos);
  }
});

test("links out of the store are neither listed nor followed", async (t) => {
  const home = new Home(t);
  const outside = new Home(t);
  const target = outside.rollout(ID, TALK);
  const path = home.rolloutPath(ID);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
  symlinkSync(join(outside.path, "sessions/2026/11/30"), join(home.path, "sessions/2026/11/29"));
  const store = home.store();
  assert.deepEqual(await store.list("sweep"), []);
  assert.equal(await store.find(ID), undefined);
});

test("a home whose sessions folder is itself a link works", async (t) => {
  const home = new Home(t);
  const outside = new Home(t);
  outside.rollout(ID, TALK);
  symlinkSync(join(outside.path, "sessions"), join(home.path, "sessions"));
  assert.deepEqual(await toldChat(home.store(), ID), TOLD);
});

test("a flat file's records have the session's time", async (t) => {
  const home = new Home(t);
  const id = "a4dc0800-70aa-40e3-9f0a-90c75cf0fb42" as typeof ID;
  const message = (role: string, type: string, text: string): object => ({
    type: "message",
    role,
    content: [{ type, text }],
  });
  home.rollout(id, [
    { id, timestamp: new Date(NINE).toISOString(), instructions: null },
    { record_type: "state" },
    message("user", "input_text", "<environment_context>\n  <cwd>/old/place</cwd>\n</environment_context>"),
    message("user", "input_text", "hi"),
    message("assistant", "output_text", "hello"),
  ]);
  const store = home.store();
  assert.deepEqual(
    (await chat(store, id)).map(({ at, text }) => [at, text]),
    [
      [NINE, "hi"],
      [NINE, "hello"],
    ],
  );
  const [row] = await store.list("sweep");
  assert.deepEqual([row?.title, row?.cwd, row?.resume], ["hi", "/old/place", undefined]);
});

test("unknown records of any kind show nothing and cost no parse", async (t) => {
  const home = new Home(t);
  const noise = ["world_state", "dynamic_tools_updated", "security_risk_score", "realtime_item", "id_allocation"];
  const records = noise.map((type, index) => line(index + 3, type, { text: '"type":"event_msg"' }));
  write(
    home,
    linesOf([
      meta(ID),
      userItem(1, "hi"),
      userEvent(1, "hi"),
      ...records,
      line(9, "event_msg", { type: "thread_goal_updated" }),
      agentItem(10, "hello"),
      agentEvent(10, "hello"),
    ]),
  );
  const store = home.store();
  const ref = await found(store, ID);
  home.work.take();
  const page = await store.entries(ref, START, BUDGET);
  assert.deepEqual([page.entries.length, home.work.take()], [2, { open: 1, parse: 2 }]);
});
