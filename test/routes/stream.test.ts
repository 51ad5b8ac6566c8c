import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { Failure } from "../../src/platform/failure.ts";
import { chatEvents } from "../../src/routes/stream.ts";
import type { SseEvent } from "../../src/server/route.ts";
import { Pages } from "../../src/stores/pages.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import type { Page } from "../../src/transcript/item.ts";
import { SETTLE_MS } from "../../src/transcript/limits.ts";
import { FakeStore, sid } from "../support/fake-store.ts";
import { FakeTime } from "../support/fake-time.ts";
import { nextOf, turns, until } from "../support/turns.ts";

interface Streaming {
  readonly store: FakeStore;
  readonly time: FakeTime;
  readonly end: AbortController;
  /** A stream of the session `a`. */
  open(from?: Cursor | "tail"): Promise<AsyncGenerator<SseEvent, void>>;
}

function streaming(t: TestContext): Streaming {
  const store = new FakeStore();
  const time = new FakeTime();
  const pages = new Pages(time);
  const end = new AbortController();
  t.after(() => {
    end.abort();
    store.remove();
  });
  return {
    store,
    time,
    end,
    async open(from = START) {
      const ref = await store.find(sid("a"));
      assert.ok(ref);
      return chatEvents({ store, ref, locate: () => store.find(sid("a")) }, from, { pages, timer: time }, end.signal);
    },
  };
}

/** What an event shows, in short. */
function shown({ event, id, data }: SseEvent): unknown[] {
  const { items, reset } = data as Page;
  return [...(event === undefined ? [] : [event]), id, items.map(({ text }) => text), ...(reset ? ["reset"] : [])];
}

const shownNext = async (events: AsyncGenerator<SseEvent, void>): Promise<unknown[]> => shown(await nextOf(events));

test("a stream gives what is there, then what comes, each page with its next as the id", async (t) => {
  const { store, open } = streaming(t);
  store.say("a", "one", "two");
  const events = await open();
  assert.deepEqual(await shownNext(events), ["j:28:0", ["one", "two"]]);
  const waiting = shownNext(events);
  store.say("a", "three");
  assert.deepEqual(await waiting, ["j:44:0", ["three"]]);
  store.say("a", "four");
  store.say("a", "five");
  assert.deepEqual(await shownNext(events), ["j:74:0", ["four", "five"]]);
  const again = await open("j:28:0" as Cursor);
  assert.deepEqual(await shownNext(again), ["j:74:0", ["three", "four", "five"]]);
});

test("a record that is written in two halves comes once, when it is whole", async (t) => {
  const { store, open } = streaming(t);
  store.write("a", '{"say":"o');
  const events = await open();
  const waiting = shownNext(events);
  await until(() => store.reads === 1);
  store.write("a", '{"say":"one"}\n');
  assert.deepEqual(await waiting, ["j:14:0", ["one"]]);
});

test("a stream from the tail begins with the last page, which says what is before it", async (t) => {
  const { store, open } = streaming(t);
  const large = "x".repeat(300_000);
  store.say("a", large, "two", large, "four");
  const events = await open("tail");
  const { id, data } = await nextOf(events);
  const { prev, items } = data as Page & { prev: Cursor };
  assert.deepEqual([id, prev, items.length], ["j:600051:0", "j:300011:0", 3]);
  store.say("a", "five");
  assert.deepEqual(await shownNext(events), ["j:600066:0", ["five"]]);
});

test("a file that was cut short is announced and told from its start", async (t) => {
  const { store, open } = streaming(t);
  store.say("a", "one", "two");
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  store.write("a", '{"say":"new"}\n');
  assert.deepEqual(await waiting, ["reset", "0", [], "reset"]);
  assert.deepEqual(await shownNext(events), ["j:14:0", ["new"], "reset"]);
});

test("a file that was replaced by a longer one is announced and told from its start", async (t) => {
  const { store, open } = streaming(t);
  store.say("a", "one", "two");
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  await until(() => store.listeners === 1);
  writeFileSync(`${store.file("a")}.new`, '{"say":"abc"}\n{"say":"def"}\n{"say":"ghi"}\n');
  renameSync(`${store.file("a")}.new`, store.file("a"));
  store.tell();
  assert.deepEqual(await waiting, ["reset", "0", [], "reset"]);
  assert.deepEqual(await shownNext(events), ["j:42:0", ["abc", "def", "ghi"], "reset"]);
});

test("a file that was replaced under its own inode, its lines as long as those of the old, is told from its start", async (t) => {
  const { store, open } = streaming(t);
  store.say("a", "one", "two");
  let edition = 1;
  const { entries } = store;
  store.entries = async (...given) => ({ ...(await entries.apply(store, given)), edition });
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  await until(() => store.listeners === 1);
  edition = 2;
  store.write("a", '{"say":"abc"}\n{"say":"def"}\n{"say":"ghi"}\n');
  assert.deepEqual(await waiting, ["reset", "0", [], "reset"]);
  assert.deepEqual(await shownNext(events), ["j:42:0", ["abc", "def", "ghi"], "reset"]);
});

test("a page that is not settled is read again five seconds later without being told", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  store.settled = false;
  const { entries } = store;
  store.entries = async (ref, from, budget) => {
    const page = await entries.call(store, ref, from, budget);
    // The spawn call is held back as long as it may yet get its child.
    return store.settled ? page : { ...page, entries: [], next: from };
  };
  const events = await open();
  const waiting = shownNext(events);
  await until(() => time.pending > 0);
  time.pass(250);
  await until(() => store.reads === 2 && time.pending > 0);
  store.settled = true;
  time.pass(SETTLE_MS);
  assert.deepEqual(await waiting, ["j:14:0", ["one"]]);
});

test("a part that may still change is told once, and again when it has changed", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "x");
  store.settled = false;
  let text = "grow";
  const { entries } = store;
  store.entries = async (ref, from, budget) => {
    const page = await entries.call(store, ref, from, budget);
    return { ...page, entries: page.entries.map((entry) => ({ ...entry, text }) as never), next: from };
  };
  const events = await open();
  assert.deepEqual(await shownNext(events), ["0", ["grow"]]);
  const waiting = shownNext(events);
  await until(() => time.pending > 0);
  time.pass(250);
  await until(() => store.reads === 2 && time.pending > 0);
  text = "grown";
  time.pass(SETTLE_MS);
  assert.deepEqual(await waiting, ["0", ["grown"]]);
});

test("what watching misses is found all the same", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  await until(() => time.pending > 0);
  store.tell = () => {};
  store.say("a", "two");
  time.pass(250);
  assert.deepEqual(await waiting, ["j:28:0", ["two"]]);
});

test("a chat that can't be watched is asked four times a second", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  store.watch = () => {
    throw new Error("no watching here");
  };
  const events = await open();
  await nextOf(events);
  for (const [id, text] of [
    ["j:28:0", "two"],
    ["j:44:0", "three"],
  ] as const) {
    const waiting = shownNext(events);
    await until(() => time.pending > 0);
    store.say("a", text);
    time.pass(250);
    assert.deepEqual(await waiting, [id, [text]]);
  }
});

test("a chat that goes and comes back within five seconds goes on where it was", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  await until(() => store.listeners === 1);
  renameSync(store.file("a"), `${store.file("a")}.away`);
  store.tell();
  await until(() => store.listeners === 0);
  for (let i = 0; i < 10; i++) {
    await turns();
    time.pass(250);
  }
  renameSync(`${store.file("a")}.away`, store.file("a"));
  store.say("a", "two");
  await turns();
  time.pass(250);
  assert.deepEqual(await waiting, ["j:28:0", ["two"]]);
});

test("a chat that can't be read for a moment goes on when it can be", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  const events = await open();
  await nextOf(events);
  const waiting = shownNext(events);
  await until(() => store.listeners === 1);
  store.brokenChat = new Failure("unreadable", "the database is locked by another program: try again");
  store.tell();
  await until(() => store.listeners === 0);
  store.brokenChat = undefined;
  store.say("a", "two");
  await turns();
  time.pass(250);
  assert.deepEqual(await waiting, ["j:28:0", ["two"]]);
});

test("a chat that is gone for five seconds ends its stream", async (t) => {
  const { store, time, open } = streaming(t);
  store.say("a", "one");
  const events = await open();
  await nextOf(events);
  const waiting = events.next();
  await until(() => store.listeners === 1);
  rmSync(store.file("a"));
  store.tell();
  const passing = (async () => {
    for (let i = 0; i < 21; i++) {
      await turns();
      time.pass(250);
    }
  })();
  assert.deepEqual(await waiting, { value: undefined, done: true });
  await passing;
  assert.deepEqual([store.listeners, time.pending], [0, 0]);
});

test("the signal ends a stream, and nothing of it is left", async (t) => {
  const { store, time, end, open } = streaming(t);
  store.say("a", "one");
  const events = await open();
  await nextOf(events);
  const waiting = events.next();
  await until(() => store.listeners === 1 && time.pending === 1);
  end.abort();
  assert.deepEqual(await waiting, { value: undefined, done: true });
  await turns();
  assert.deepEqual([store.listeners, time.pending], [0, 0]);
});

test("other work gets its turn while a long history is streamed", async (t) => {
  const { store, open } = streaming(t);
  for (let i = 0; i < 8; i++) store.say("a", "x".repeat(400_000));
  const events = await open();
  let turnsOfOthers = 0;
  const counting = setInterval(() => turnsOfOthers++, 0);
  let immediate = setImmediate(function count() {
    turnsOfOthers++;
    immediate = setImmediate(count);
  });
  for (let i = 0; i < 8; i++) await nextOf(events);
  clearInterval(counting);
  clearImmediate(immediate);
  assert.ok(turnsOfOthers >= 7);
});

test("two hundred streams of one chat read what is appended a few times, not two hundred", async (t) => {
  const { store, open } = streaming(t);
  store.say("a", "one");
  const streams = await Promise.all(Array.from({ length: 200 }, () => open()));
  await Promise.all(streams.map(nextOf));
  const waiting = streams.map(shownNext);
  await until(() => store.listeners === 200);
  await turns();
  const before = store.reads;
  store.say("a", "two");
  const got = await Promise.all(waiting);
  assert.deepEqual(new Set(got.map(([id]) => id)), new Set(["j:28:0"]));
  for (const stream of streams) void stream.next();
  await until(() => store.reads - before >= 2);
  await turns();
  // The page, and the look behind it that finds nothing.
  assert.equal(store.reads - before, 2);
});
