import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import {
  agentEvent,
  allEntries,
  BUDGET,
  call,
  childMeta,
  complete,
  found,
  Home,
  line,
  linesOf,
  meta,
  NINE,
  output,
  started,
  told,
  toldChat,
  userEvent,
  uuid,
} from "./home.ts";

const PARENT = uuid(NINE);
const CHILD = uuid(NINE + 1000, 1);
const OTHER = uuid(NINE + 1000, 2);
const spawn = (ms: number, callId: string, message: string): object => call(ms, callId, "spawn_agent", { message });
const answer = (ms: number, callId: string, id: SessionId): object =>
  output(ms, callId, JSON.stringify({ agent_id: id, nickname: "Volta" }));

/** A child that was asked `task`, whose first record stands `ms` after nine. */
function child(id: SessionId, task: string, ms = 1000, more: readonly object[] = []): object[] {
  return [
    childMeta(id, PARENT, {}, ms),
    started(ms, uuid(NINE + ms, 7)),
    userEvent(ms + 1, task),
    agentEvent(ms + 2, "done"),
    ...more,
  ];
}

const shape = async (home: Home, id: SessionId): Promise<string[]> => toldChat(home.store(), id);

test("an agent shows once, at the call that spawned it", async (t) => {
  const home = new Home(t);
  const notice = line(5000, "response_item", {
    type: "message",
    role: "user",
    content: [
      {
        type: "input_text",
        text: `<subagent_notification>\n{"agent_path":"${CHILD}","status":{"completed":"ok"}}\n</subagent_notification>`,
      },
    ],
  });
  home.rollout(PARENT, [
    meta(PARENT),
    userEvent(1, "go"),
    spawn(900, "c", "look"),
    answer(1100, "c", CHILD),
    notice,
    agentEvent(6000, "fine"),
  ]);
  home.rollout(CHILD, child(CHILD, "look"));
  assert.deepEqual(await shape(home, PARENT), [
    'user: "go"',
    "spawn_agent: look",
    "subagent: Volta",
    `spawn_agent answers: ${JSON.stringify(JSON.stringify({ agent_id: CHILD, nickname: "Volta" }))}`,
    'assistant: "fine"',
  ]);
});

test("an agent that began more than 5 s after the call shows at the first record that names it", async (t) => {
  const home = new Home(t);
  const late = uuid(NINE + 9000, 1);
  home.rollout(PARENT, [
    meta(PARENT),
    userEvent(1, "go"),
    spawn(900, "c", "look"),
    answer(9100, "c", late),
    answer(9200, "d", late),
  ]);
  home.rollout(late, child(late, "look", 9000));
  const kinds = (await shape(home, PARENT)).map((text) => text.split(":")[0]);
  assert.deepEqual(kinds, ["user", "spawn_agent", "spawn_agent answers", "subagent", "result"]);
});

test("agents that were asked the same show one at each call, and others at their own", async (t) => {
  const home = new Home(t);
  const third = uuid(NINE + 1000, 3);
  home.rollout(PARENT, [
    meta(PARENT),
    userEvent(1, "go"),
    spawn(900, "a", "look"),
    spawn(901, "b", "look"),
    spawn(902, "c", "listen"),
  ]);
  home.rollout(CHILD, child(CHILD, "look"));
  home.rollout(OTHER, child(OTHER, "look", 1001));
  home.rollout(third, child(third, "listen", 999));
  const entries = await allEntries(home.store(), await found(home.store(), PARENT));
  const shown = entries.map((entry) =>
    entry.kind === "subagent" ? entry.subagent.id : entry.kind === "tool-call" ? entry.callId : entry.kind,
  );
  assert.deepEqual(shown, ["user", "a", CHILD, "b", OTHER, "c", third]);
});

test("a page stops before a young call whose agent is not there yet, then shows it, and waits no longer than 5 s", async (t) => {
  const home = new Home(t);
  home.rollout(PARENT, [meta(PARENT), userEvent(1, "go"), spawn(900, "c", "look"), answer(950, "c", CHILD)]);
  home.clock.at = NINE + 2000;
  const store = home.store();
  const ref = await found(store, PARENT);
  const early = await store.entries(ref, START, BUDGET);
  assert.deepEqual([toItems(early.entries).map(told), early.settled], [['user: "go"'], false]);
  assert.deepEqual((await store.entries(ref, early.next, BUDGET)).next, early.next);
  const tail = await store.before(ref, "tail", BUDGET);
  assert.deepEqual([tail.entries.length, tail.next, tail.settled], [1, early.next, false]);
  home.rollout(CHILD, child(CHILD, "look"));
  const later = await store.entries(ref, early.next, BUDGET);
  assert.deepEqual(
    [toItems(later.entries).map((item) => item.kind), later.settled],
    [["tool", "subagent", "tool"], true],
  );

  const lonely = uuid(NINE, 5);
  home.rollout(lonely, [meta(lonely), userEvent(1, "go"), spawn(900, "c", "look")]);
  home.clock.at = NINE + 5900;
  assert.equal((await toldChat(home.store(), lonely)).length, 2);
});

test("a V2 agent is told by its path, wherever its id is first named", async (t) => {
  const home = new Home(t);
  const activity = (ms: number, kind: string): object =>
    line(ms, "event_msg", {
      type: "item_completed",
      thread_id: PARENT,
      turn_id: "t",
      item: { type: "SubAgentActivity", id: "c", kind, agent_thread_id: CHILD, agent_path: "/root/worker_one" },
    });
  home.rollout(PARENT, [
    meta(PARENT, { history_mode: "paginated" }),
    call(900, "c", "spawn_agent", { task_name: "worker_one", message: "gAAAA" }),
    activity(1100, "started"),
    output(1200, "c", '{"task_name":"/root/worker_one"}'),
    activity(2000, "completed"),
  ]);
  home.rollout(CHILD, [
    childMeta(CHILD, PARENT, { agent_path: "/root/worker_one", agent_nickname: "Noether" }, 1000),
    started(1001, uuid(NINE + 1001)),
  ]);
  const store = home.store();
  assert.deepEqual(await toldChat(store, PARENT), [
    "spawn_agent: worker_one",
    "subagent: worker_one (Noether)",
    'spawn_agent answers: "{\\"task_name\\":\\"/root/worker_one\\"}"',
  ]);
});

test("an agent that inherits context shows its own history alone", async (t) => {
  const home = new Home(t);
  const [before, own] = [uuid(NINE + 10), uuid(NINE + 1001)];
  home.rollout(CHILD, [
    childMeta(CHILD, PARENT, { forked_from_id: PARENT }, 1000),
    meta(PARENT),
    started(1000, before),
    userEvent(1000, "the parent's words"),
    agentEvent(1000, "the parent's answer"),
    started(1002, own),
    userEvent(1003, "look"),
    agentEvent(1004, "done"),
  ]);
  assert.deepEqual(await shape(home, CHILD), ['user: "look"', 'assistant: "done"']);
});

test("a child that grows byte by byte shows its own records once, and never what it inherits", async (t) => {
  const home = new Home(t);
  const copied = [
    childMeta(CHILD, PARENT, { forked_from_id: PARENT }, 1000),
    meta(PARENT),
    started(1000, uuid(NINE + 10)),
    userEvent(1000, "the parent's words"),
    agentEvent(1000, "the parent's answer"),
  ];
  const own = [started(1002, uuid(NINE + 1001)), userEvent(1003, "look"), agentEvent(1004, "done")];
  const path = home.rollout(CHILD, [...copied, ...own]);
  const whole = await allEntries(home.store(), await found(home.store(), CHILD));
  assert.equal(whole.length, 2);
  const bytes = readFileSync(path);
  writeFileSync(path, "");
  const store = home.store();
  const ref = { agent: "codex" as const, id: PARENT, child: CHILD, place: { thread: CHILD } };
  const collected = [];
  let from: Cursor = START;
  for (const byte of bytes) {
    appendFileSync(path, Buffer.of(byte));
    const page = await store.entries(ref, from, BUDGET);
    assert.equal(page.reset, undefined);
    collected.push(...page.entries);
    from = page.next;
  }
  assert.deepEqual(collected, whole);
});

test("a child's own history begins at the ordinal that its header names", async (t) => {
  const home = new Home(t);
  const item = (ordinal: number, text: string): object =>
    line(
      ordinal,
      "event_msg",
      {
        type: "item_completed",
        thread_id: CHILD,
        turn_id: "t",
        item: { type: "AgentMessage", content: [{ type: "Text", text }] },
      },
      { ordinal },
    );
  const aborted = line(1, "event_msg", { type: "turn_aborted", reason: "interrupted", turn_id: "t" }, { ordinal: 2 });
  home.rollout(CHILD, [
    childMeta(CHILD, PARENT, { history_mode: "paginated", subagent_history_start_ordinal: 3 }, 1000),
    item(1, "copied"),
    aborted,
    item(3, "own"),
    item(4, "too"),
  ]);
  assert.deepEqual(await shape(home, CHILD), ['assistant: "own"', 'assistant: "too"']);
});

test("the children of a session are those it spawned itself, newest first; helpers and others' children are none", async (t) => {
  const home = new Home(t);
  const grandchild = uuid(NINE + 3000);
  const review = uuid(NINE + 2000);
  home.rollout(PARENT, [meta(PARENT), userEvent(1, "go"), agentEvent(2, "ok")]);
  home.rollout(CHILD, child(CHILD, "look"));
  home.rollout(OTHER, child(OTHER, "listen", 1500));
  home.rollout(grandchild, [childMeta(grandchild, CHILD, {}, 3000)]);
  home.rollout(review, [meta(review, { source: { subagent: "review" }, parent_thread_id: PARENT }, 2000)]);
  const fork = uuid(NINE + 4000);
  home.rollout(fork, [meta(fork, { forked_from_id: PARENT, thread_source: "user" }, 4000)]);
  const store = home.store();
  const ref = await found(store, PARENT);
  const { children } = await store.children(ref);
  assert.deepEqual(
    children.map(({ id, title }) => [id, title]),
    [
      [OTHER, "Volta"],
      [CHILD, "Volta"],
    ],
  );
  assert.equal(await store.child(ref, grandchild), undefined);
  assert.equal(await store.child(ref, review), undefined);
  assert.equal(await store.child(ref, fork), undefined);
  const chosen = await store.child(ref, CHILD);
  assert.equal(chosen?.child, CHILD);
  assert.equal((await allEntries(store, chosen ?? ref)).length, 2);
  const rows = await store.list("sweep");
  assert.deepEqual(
    new Map(rows.map(({ id, parent }) => [id, parent])),
    new Map<string, string | undefined>([
      [PARENT, undefined],
      [fork, undefined],
      [CHILD, PARENT],
      [OTHER, PARENT],
      [grandchild, CHILD],
    ]),
  );
});

const LAST: readonly [string, readonly object[], string][] = [
  ["a turn that ended", [complete(2000, "t")], "done"],
  ["a turn that failed", [complete(2000, "t", { error: { message: "no" } })], "failed"],
  [
    "a turn that was stopped",
    [line(2000, "event_msg", { type: "turn_aborted", reason: "interrupted" })],
    "interrupted",
  ],
  [
    "an item that comes late",
    [complete(2000, "t"), line(2001, "event_msg", { type: "item_completed", item: { type: "CommandExecution" } })],
    "done",
  ],
  ["a turn that is open, no process known", [], "unknown"],
];

for (const [what, records, status] of LAST) {
  test(`a child's own last records tell how it stands: ${what}`, async (t) => {
    const home = new Home(t);
    home.rollout(PARENT, [meta(PARENT)]);
    home.rollout(CHILD, child(CHILD, "look", 1000, records));
    const store = home.store();
    const [entry] = (await store.children(await found(store, PARENT))).children;
    assert.equal(entry?.status, status);
  });
}

test("an open turn is running while a process holds the thread, and interrupted when none does", async (t) => {
  const home = new Home(t);
  home.rollout(PARENT, [meta(PARENT)]);
  home.rollout(CHILD, [
    childMeta(CHILD, PARENT, { cli_version: "0.171.0", history_mode: "paginated" }, 1000),
    started(1001, "t"),
  ]);
  const folder = join(home.path, "thread-writer-locks");
  mkdirSync(folder);
  const lock = join(folder, `${CHILD}.lock`);
  writeFileSync(lock, "");
  const { ino } = statSync(lock);
  const store = home.store();
  const ref = await found(store, PARENT);
  const status = async (table: string): Promise<string | undefined> => {
    home.locks = table;
    home.clock.at += 10_000;
    const list = await store.children(ref);
    assert.equal(list.settled, false);
    return list.children[0]?.status;
  };
  assert.equal(await status(`1: FLOCK  ADVISORY  WRITE 4711 08:01:${ino} 0 EOF\n`), "running");
  assert.equal(await status(`1: POSIX  ADVISORY  READ 4711 08:01:${ino} 0 EOF\n`), "interrupted");
  assert.equal(await status(""), "interrupted");
});

test("an open turn is of unknown end where Codex never made its folder of locks", async (t) => {
  const home = new Home(t);
  home.rollout(PARENT, [meta(PARENT)]);
  home.rollout(CHILD, [childMeta(CHILD, PARENT, { cli_version: "0.171.0" }, 1000), started(1001, "t")]);
  home.locks = "";
  const store = home.store();
  assert.equal((await store.children(await found(store, PARENT))).children[0]?.status, "unknown");
});

test("a thread that names itself as its parent is a session of its own, and no child", async (t) => {
  const home = new Home(t);
  home.rollout(CHILD, [childMeta(CHILD, CHILD), started(1001, "t")]);
  const store = home.store();
  assert.deepEqual(
    (await store.list("sweep")).map(({ id, parent }) => [id, parent]),
    [[CHILD, undefined]],
  );
  assert.deepEqual((await store.children(await found(store, CHILD))).children, []);
});

test("no more than 200 children are listed, unless all are asked for, and a known one is not read again", async (t) => {
  const home = new Home(t);
  home.rollout(PARENT, [meta(PARENT)]);
  for (let n = 0; n < 210; n++) {
    const id = uuid(NINE + 1000 + n, n);
    home.rollout(id, child(id, `task ${n}`, 1000 + n, [complete(2000 + n, "t")]));
  }
  const store = home.store();
  const ref = await found(store, PARENT);
  const { children } = await store.children(ref);
  assert.deepEqual(
    [children.length, children[0]?.startedAt, children[199]?.startedAt],
    [200, NINE + 1209, NINE + 1010],
  );
  assert.equal((await store.children(ref, Number.POSITIVE_INFINITY)).children.length, 210);
  home.work.take();
  await store.children(ref);
  assert.deepEqual(home.work.take(), {});
  appendFileSync(home.rolloutPath(uuid(NINE + 1209, 209)), linesOf([started(9000, "u")]));
  assert.equal((await store.children(ref)).children[0]?.status, "unknown");
  assert.deepEqual(home.work.take(), { open: 2, head: 1 });
});
