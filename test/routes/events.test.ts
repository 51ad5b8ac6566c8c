import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import type { SseEvent } from "../../src/server/route.ts";
import { askEvents, refusal } from "../support/ask.ts";
import { served } from "../support/routes.ts";
import { nextOf, turns, until } from "../support/turns.ts";

/** The next `count` events, by name and data, in the order of their names and chats. */
async function some(events: AsyncIterator<SseEvent>, count: number): Promise<unknown[]> {
  const got: unknown[] = [];
  for (let i = 0; i < count; i++) {
    const { event, data } = await nextOf(events);
    got.push([event, data]);
  }
  return got.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const item = (text: string, ref: string): unknown => ({ kind: "user", at: 1, text, ref });

test("one connection says hello, then tells of the list and of every chat named", async (t) => {
  const { routes, store, inventory, end } = served(t);
  store.say("a", "one");
  store.say("b", "one");
  store.say("b.c", "child");
  await inventory.settled();
  const target = "/api/events?chat=claude/a@0&chat=claude/b@j:14:0&chat=claude/b/c";
  const events = await askEvents(routes, target, { signal: end.signal });
  assert.deepEqual(await nextOf(events), { event: "hello", data: { generation: 1 } });
  assert.deepEqual(await some(events, 2), [
    ["chat", { agent: "claude", id: "a", items: [item("one", "j:0:0")], next: "j:14:0" }],
    ["chat", { agent: "claude", id: "b", child: "c", items: [item("child", "j:0:0")], next: "j:16:0" }],
  ]);
  const waiting = some(events, 2);
  await until(() => store.listeners === 3);
  store.say("b", "two");
  await inventory.settled();
  assert.deepEqual(await waiting, [
    ["chat", { agent: "claude", id: "b", items: [item("two", "j:14:0")], next: "j:28:0" }],
    ["transcripts", { generation: 2, ids: ["b"] }],
  ]);
});

test("every page of a chat says where the next begins, also those from the tail, and a subagent's likewise", async (t) => {
  const { routes, store, inventory, end } = served(t);
  const large = "x".repeat(400_000);
  store.say("a", "one", large, "two", large, "three");
  store.say("a.c", "child");
  await inventory.settled();
  const target = "/api/events?chat=claude/a@tail&chat=claude/a/c@tail";
  const events = await askEvents(routes, target, { signal: end.signal });
  await nextOf(events);
  type Told = { child?: string; items: { text: string }[]; next: string; prev?: string | null };
  const chats = async (): Promise<unknown[]> =>
    ((await some(events, 2)) as [string, Told][]).map(([, { child, items, next, prev }]) => [
      child,
      items.map(({ text }) => text.slice(0, 5)),
      next,
      prev,
    ]);
  assert.deepEqual(await chats(), [
    ["c", ["child"], "j:16:0", null],
    [undefined, ["two", "xxxxx", "three"], "j:800066:0", "j:400025:0"],
  ]);
  const waiting = chats();
  await until(() => store.listeners === 2);
  store.say("a", "four");
  store.say("a.c", "more");
  assert.deepEqual(await waiting, [
    ["c", ["more"], "j:31:0", undefined],
    [undefined, ["four"], "j:800081:0", undefined],
  ]);
});

test("what changed between the hello and the first reading is not lost", async (t) => {
  const { routes, store, inventory, end } = served(t);
  const events = await askEvents(routes, "/api/events", { signal: end.signal });
  assert.deepEqual(await nextOf(events), { event: "hello", data: { generation: 0 } });
  store.say("a", "one");
  await inventory.settled();
  assert.deepEqual(await nextOf(events), { event: "transcripts", data: { generation: 1, ids: ["a"] } });
});

test("a chat that is wrong gets an event of its own, and the others go on", async (t) => {
  const { routes, store, end, faults } = served(t);
  store.say("a", "one");
  store.say("b", "one");
  const wrong = ["claude/none@0", "codex/a@0", "claude/..@0", "claude/b@o:1:p", "claude/a/none@0"];
  const target = `/api/events?${wrong.map((chat) => `chat=${chat}&`).join("")}chat=claude/a@0`;
  const events = await askEvents(routes, target, { signal: end.signal });
  await nextOf(events);
  const badCursor = "this cursor is not one of this chat; leave it out to start at the beginning";
  assert.deepEqual(await some(events, 6), [
    ["chat", { agent: "claude", id: "a", items: [item("one", "j:0:0")], next: "j:14:0" }],
    ["chat-error", { agent: "claude", id: "..", error: "no such transcript" }],
    ["chat-error", { agent: "claude", id: "a", child: "none", error: "this session has no such subagent" }],
    ["chat-error", { agent: "claude", id: "b", error: badCursor }],
    ["chat-error", { agent: "claude", id: "none", error: "no such transcript" }],
    ["chat-error", { agent: "codex", id: "a", error: "no such transcript" }],
  ]);
  const waiting = nextOf(events);
  store.brokenChat = new Error("secret detail");
  store.say("a", "two");
  assert.deepEqual((await waiting).data, {
    agent: "claude",
    id: "a",
    error: "this transcript could not be read",
  });
  assert.deepEqual(faults, [store.brokenChat]);
});

test("a chat that vanishes is told after five seconds, and the others go on", async (t) => {
  const { routes, store, time, end } = served(t);
  store.say("a", "one");
  store.say("b", "one");
  const target = "/api/events?chat=claude/a@j:14:0&chat=claude/b@j:14:0";
  const events = await askEvents(routes, target, { signal: end.signal });
  await nextOf(events);
  const waiting = nextOf(events);
  await until(() => store.listeners === 2);
  rmSync(store.file("a"));
  for (let i = 0; i < 22; i++) {
    store.tell();
    await turns();
    time.pass(250);
  }
  assert.deepEqual(await waiting, {
    event: "chat-error",
    data: { agent: "claude", id: "a", error: "this transcript is gone" },
  });
  const more = nextOf(events);
  store.say("b", "two");
  assert.equal(((await more).data as { next: string }).next, "j:28:0");
});

test("a name of a chat that is no name is refused", async (t) => {
  const { routes } = served(t);
  const names = ["", "a", "claude/", "nobody/a@0", "claude/a@", "claude/a/b/c@0", "/a@0", "claude/a@b%20c"];
  for (const name of names) assert.equal(await refusal(routes, `/api/events?chat=${name}`), "bad-request", name);
  const many = (count: number): string => Array.from({ length: count }, (_, i) => `chat=claude/a${i}`).join("&");
  assert.equal(await refusal(routes, `/api/events?${many(101)}`), "bad-request");
});

test("a chat that is named twice is refused: its pages would come twice, with nothing to tell them apart", async (t) => {
  const { routes } = served(t);
  for (const twice of ["claude/a@0&chat=claude/a@tail", "claude/a/b&chat=claude/b&chat=claude/a/b@0"])
    assert.equal(await refusal(routes, `/api/events?chat=${twice}`), "bad-request");
});

test("the end of the connection ends everything that it followed", async (t) => {
  const { routes, store, time, end } = served(t);
  store.say("a", "one");
  const events = await askEvents(routes, "/api/events?chat=claude/a@j:14:0", { signal: end.signal });
  await nextOf(events);
  const waiting = events.next();
  await until(() => store.listeners === 1);
  end.abort();
  assert.deepEqual(await waiting, { value: undefined, done: true });
  await turns();
  assert.deepEqual([store.listeners, time.pending], [0, 0]);
});

test("a slow client costs one page of each chat, not all of them", async (t) => {
  const { routes, store, end } = served(t);
  for (let i = 0; i < 10; i++) store.say("a", "x".repeat(400_000));
  const events = await askEvents(routes, "/api/events?chat=claude/a@0", { signal: end.signal });
  await nextOf(events);
  await nextOf(events);
  await turns(100);
  assert.ok(store.reads <= 3);
});
