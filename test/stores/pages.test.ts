import assert from "node:assert/strict";
import { utimesSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { Clock } from "../../src/platform/clock.ts";
import { Pages } from "../../src/stores/pages.ts";
import type { SessionRef } from "../../src/stores/store.ts";
import { START } from "../../src/transcript/cursor.ts";
import type { Page } from "../../src/transcript/item.ts";
import { at, FakeStore, sid } from "../support/fake-store.ts";
import { until } from "../support/turns.ts";

interface Reading {
  readonly store: FakeStore;
  readonly ref: SessionRef;
  readonly pages: Pages;
  /** Lets time pass: ms. */
  pass(ms: number): void;
}

/** A session that has said "one", long ago unless `ageMs` says when. */
async function reading(t: TestContext, ageMs = 60_000): Promise<Reading> {
  const store = new FakeStore();
  t.after(() => store.remove());
  let now = Date.now();
  const clock: Clock = { now: () => at(now) };
  store.say("a", "one");
  const written = (now - ageMs) / 1000;
  utimesSync(store.file("a"), written, written);
  const ref = await store.find(sid("a"));
  assert.ok(ref);
  return {
    store,
    ref,
    pages: new Pages(clock),
    pass: (ms) => {
      now += ms;
    },
  };
}

const texts = ({ items }: Page): (string | undefined)[] => items.map(({ text }) => text);

test("two hundred readers of one page cause one read and share what it gave", async (t) => {
  const { store, ref, pages } = await reading(t);
  const read = await Promise.all(Array.from({ length: 200 }, () => pages.from(store, ref, START)));
  const later = await pages.from(store, ref, START);
  assert.deepEqual([store.reads, new Set([...read, later]).size], [1, 1]);
  assert.deepEqual(texts(later.page), ["one"]);
});

test("what was appended is read, by one of those who ask", async (t) => {
  const { store, ref, pages } = await reading(t);
  const { page } = await pages.from(store, ref, START);
  store.say("a", "two");
  const read = await Promise.all(Array.from({ length: 200 }, () => pages.from(store, ref, page.next)));
  assert.deepEqual([texts(read[0]?.page as Page), store.reads, new Set(read).size], [["two"], 2, 1]);
});

test("who asks after a change never gets a read that began before it", async (t) => {
  const { store, ref, pages } = await reading(t);
  const { entries } = store;
  const inHand: (() => void)[] = [];
  store.entries = async (...given) => {
    const page = await entries.apply(store, given);
    await new Promise<void>((finish) => inHand.push(finish));
    return page;
  };
  const early = pages.from(store, ref, START);
  await until(() => inHand.length === 1);
  store.say("a", "two");
  const late = pages.from(store, ref, START);
  inHand[0]?.();
  assert.deepEqual(texts((await early).page), ["one"]);
  await until(() => inHand.length === 2);
  inHand[1]?.();
  assert.deepEqual(texts((await late).page), ["one", "two"]);
});

test("a page of a file that was written a moment ago is kept for a moment only", async (t) => {
  const { store, ref, pages, pass } = await reading(t, 10);
  await pages.from(store, ref, START);
  pass(50);
  await pages.from(store, ref, START);
  assert.equal(store.reads, 1);
  pass(1);
  await pages.from(store, ref, START);
  assert.equal(store.reads, 2);
  pass(1_000);
  await pages.from(store, ref, START);
  assert.equal(store.reads, 2);
});

test("a page that may yet change is kept for a moment only", async (t) => {
  const { store, ref, pages, pass } = await reading(t);
  store.settled = false;
  await pages.from(store, ref, START);
  pass(51);
  await pages.from(store, ref, START);
  assert.equal(store.reads, 2);
});

test("a failure is not kept", async (t) => {
  const { store, ref, pages } = await reading(t);
  store.brokenChat = new Error("disk");
  const failed = await Promise.allSettled([pages.from(store, ref, START), pages.from(store, ref, START)]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  store.brokenChat = undefined;
  assert.deepEqual(texts((await pages.from(store, ref, START)).page), ["one"]);
});

test("what is kept is bounded: the page that was used least recently goes first", async (t) => {
  const { store, ref } = await reading(t);
  const large = "x".repeat(16_000);
  for (let i = 0; i < 270; i++) store.say(`s${i}`, large);
  const pages = new Pages({ now: () => at(Date.now() + 60_000) });
  const read = async (id: string): Promise<void> => {
    const other = await store.find(sid(id));
    assert.ok(other);
    await pages.from(store, other, START);
  };
  await pages.from(store, ref, START);
  for (let i = 0; i < 269; i++) {
    await read(`s${i}`);
    await pages.from(store, ref, START);
  }
  const before = store.reads;
  await pages.from(store, ref, START);
  await read("s268");
  assert.equal(store.reads, before);
  await read("s0");
  assert.equal(store.reads, before + 1);
});
