import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import { toItems } from "../../../src/transcript/item.ts";
import type { SessionId } from "../../../src/transcript/names.ts";
import { allEntries, BUDGET, found, Home, line, linesOf, meta, NINE, told, toldChat, uuid } from "./home.ts";

const BASE = uuid(NINE);
const FORK = uuid(NINE + 60_000);

/** A turn of a paginated file: two records, from `ordinal` on. */
function turn(thread: SessionId, ordinal: number, text: string): object[] {
  const item = (value: object): object => ({ type: "item_completed", thread_id: thread, turn_id: "t", item: value });
  return [
    line(ordinal, "event_msg", item({ type: "UserMessage", content: [{ type: "text", text }] }), { ordinal }),
    line(ordinal, "event_msg", item({ type: "AgentMessage", content: [{ type: "Text", text: `${text}!` }] }), {
      ordinal: ordinal + 1,
    }),
  ];
}

const paginated = (id: SessionId, more: object = {}, ordinal = 0): object =>
  meta(id, { history_mode: "paginated", ...more }, 0, { ordinal });
const base = [paginated(BASE), ...turn(BASE, 1, "one"), ...turn(BASE, 3, "two")];
/** Bytes of the base up to its third ordinal. */
const endOfOne = Buffer.byteLength(linesOf(base.slice(0, 3)));
const pointer = (more: object = {}): object => ({
  history_base: { thread_id: BASE, end_ordinal_exclusive: 3, end_byte_offset: endOfOne, ...more },
});
const fork = (more: object = {}): object[] => [
  paginated(FORK, { forked_from_id: BASE, ...pointer(more) }, 3),
  ...turn(FORK, 4, "else"),
];
const FORKED = ['user: "one"', 'assistant: "one!"', 'user: "else"', 'assistant: "else!"'];

test("a fork by pointer reads on from its base as one chat, under a cursor that names the chain", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base);
  home.rollout(FORK, fork());
  const store = home.store();
  assert.deepEqual(await toldChat(store, FORK), FORKED);
  assert.deepEqual(await toldChat(store, BASE), [
    'user: "one"',
    'assistant: "one!"',
    'user: "two"',
    'assistant: "two!"',
  ]);
  const page = await store.entries(await found(store, FORK), START, BUDGET);
  const size = endOfOne + Buffer.byteLength(linesOf(fork()));
  assert.match(page.next, new RegExp(`^j:${size}:0:[0-9a-f]{8}$`));
  assert.equal((await store.entries(await found(store, FORK), page.next, BUDGET)).reset, undefined);
});

test("a chat pages the same over the joint of its files, at every line", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base);
  home.rollout(FORK, fork());
  const store = home.store();
  const ref = await found(store, FORK);
  const whole = await allEntries(store, ref);
  const longest = 700;
  assert.deepEqual(await allEntries(store, ref, START, longest), whole);
  const backward = [];
  for (let at: Cursor | null = (await store.before(ref, "tail", { ...BUDGET, bytes: longest })).next; at !== null; ) {
    const page = await store.before(ref, at, { ...BUDGET, bytes: longest });
    backward.unshift(...page.entries);
    at = page.prev;
  }
  assert.deepEqual(backward, whole);
});

test("a base is found in the archive and where its thread was reverted, and a wrong byte offset is put right by ordinals", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base, { archived: true });
  home.rollout(FORK, fork({ end_byte_offset: endOfOne - 7 }));
  assert.deepEqual(await toldChat(home.store(), FORK), FORKED);
});

test("a missing base is said at the start, the rest shows, and a base that comes back starts the chat anew", async (t) => {
  const home = new Home(t);
  home.rollout(FORK, fork());
  const store = home.store();
  const ref = await found(store, FORK);
  const alone = await store.entries(ref, START, BUDGET);
  assert.deepEqual(toItems(alone.entries).map(told), [
    'error failed: history incomplete | "The history before this is missing: the session goes on from one whose file is not there."',
    'user: "else"',
    'assistant: "else!"',
  ]);
  home.rollout(BASE, base);
  const again = await store.entries(ref, alone.next, BUDGET);
  assert.deepEqual([again.reset, toItems(again.entries).map(told)], [true, FORKED]);
});

test("a base that is too short is read as far as it goes, and said to be incomplete", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base.slice(0, 2));
  home.rollout(FORK, fork());
  const [first, ...rest] = await toldChat(home.store(), FORK);
  assert.match(first ?? "", /^error failed: history incomplete/);
  assert.deepEqual(rest, ['user: "one"', 'user: "else"', 'assistant: "else!"']);
});

test("a base without an ordinal or an offset is read by the other, and one that can't be followed is said to be missing", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base);
  const store = home.store();
  const toldWith = async (history_base: unknown): Promise<string[]> => {
    const path = home.rollout(FORK, [
      paginated(FORK, { forked_from_id: BASE, history_base }, 3),
      ...turn(FORK, 4, "else"),
    ]);
    const all = await toldChat(home.store(), FORK);
    rmSync(path);
    return all;
  };
  assert.deepEqual(await toldWith({ thread_id: BASE, end_ordinal_exclusive: 3 }), FORKED);
  assert.deepEqual(await toldWith({ thread_id: BASE, end_byte_offset: endOfOne }), FORKED);
  assert.deepEqual(await toldWith(null), FORKED.slice(2));
  for (const broken of [{ thread_id: BASE }, { thread_id: "../x" }, { thread_id: 7 }, [], "x", {}]) {
    const [first = "", ...rest] = await toldWith(broken);
    assert.match(first, /history incomplete/, JSON.stringify(broken));
    assert.deepEqual(rest, FORKED.slice(2));
  }
  const [note = "", ...inherited] = await toldWith({ thread_id: BASE, end_byte_offset: endOfOne - 5 });
  assert.match(note, /history incomplete/);
  assert.deepEqual(inherited, [FORKED[0], ...FORKED.slice(2)]);
  assert.equal((await toldChat(store, BASE)).length, 4);
});

test("bases that go round in a circle end somewhere", async (t) => {
  const home = new Home(t);
  const loop = { history_base: { thread_id: FORK, end_ordinal_exclusive: 3, end_byte_offset: 10 } };
  home.rollout(BASE, [paginated(BASE, loop), ...turn(BASE, 1, "one")]);
  home.rollout(FORK, fork());
  const told = await toldChat(home.store(), FORK);
  assert.match(told[0] ?? "", /history incomplete/);
  assert.deepEqual(told.slice(-2), ['user: "else"', 'assistant: "else!"']);
});

test("a reverted thread is one session whose dead segments never show", async (t) => {
  const home = new Home(t);
  const [first, second] = [uuid(NINE + 1000, 1), uuid(NINE + 2000, 2)];
  home.rollout(BASE, base);
  const store = home.store();
  const before = await store.entries(await found(store, BASE), START, BUDGET);
  home.rollout(BASE, [paginated(BASE, pointer(), 3), ...turn(BASE, 4, "dead")], { segment: first, time: "09-00-01" });
  home.rollout(BASE, [paginated(BASE, pointer(), 3), ...turn(BASE, 4, "alive")], { segment: second, time: "09-00-02" });
  const chat = ['user: "one"', 'assistant: "one!"', 'user: "alive"', 'assistant: "alive!"'];
  assert.deepEqual(await toldChat(store, BASE), chat);
  assert.deepEqual(
    (await store.list("sweep")).map(({ id }) => id),
    [BASE],
  );
  // The page that was read before the revert does not fit any more.
  const after = await store.entries(await found(store, BASE), before.next, BUDGET);
  assert.deepEqual([after.reset, toItems(after.entries).map(told)], [true, chat]);
});

test("a revert to the start is another chain too, though it is one file", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base);
  const store = home.store();
  const before = await store.entries(await found(store, BASE), START, BUDGET);
  const segment = uuid(NINE + 1000, 1);
  home.rollout(
    BASE,
    [paginated(BASE), ...turn(BASE, 1, "anew"), ...turn(BASE, 3, "and on"), ...turn(BASE, 5, "more")],
    { segment, time: "09-00-01" },
  );
  const after = await store.entries(await found(store, BASE), before.next, BUDGET);
  assert.equal(after.reset, true);
  assert.equal(toItems(after.entries)[0]?.text, "anew");
});

test("an archived session is found at its new place in the middle of being read", async (t) => {
  const home = new Home(t);
  const path = home.rollout(BASE, base);
  const store = home.store();
  const ref = await found(store, BASE);
  const page = await store.entries(ref, START, { ...BUDGET, bytes: 700 });
  const moved = home.rolloutPath(BASE, { archived: true });
  mkdirSync(dirname(moved), { recursive: true });
  renameSync(path, moved);
  assert.deepEqual(
    toItems(await allEntries(store, ref, page.next)).map(told),
    ['user: "one"', 'assistant: "one!"', 'user: "two"', 'assistant: "two!"'].slice(toItems(page.entries).length),
  );
});

test("a copy in the archive or in another home is no second session, and the longest is read", async (t) => {
  const home = new Home(t);
  const other = new Home(t);
  home.rollout(BASE, base.slice(0, 3));
  const archived = home.rollout(BASE, base, { archived: true });
  const elsewhere = other.rollout(BASE, base.slice(0, 1));
  other.rollout(FORK, [paginated(FORK), ...turn(FORK, 1, "elsewhere")]);
  const store = home.store({ extraRoots: [other.path] });
  assert.deepEqual((await store.list("sweep")).map(({ id }) => id).sort(), [BASE, FORK]);
  assert.equal((await toldChat(store, BASE)).length, 4);
  rmSync(archived);
  assert.equal((await toldChat(store, BASE)).length, 2);
  writeFileSync(elsewhere, linesOf([...base, ...turn(BASE, 5, "three")]));
  assert.equal((await toldChat(store, BASE)).length, 6);
  assert.equal((await store.list("sweep")).find(({ id }) => id === BASE)?.bytes, statSync(elsewhere).size);
});

test("a truncated file starts again, and a file that is gone is not found", async (t) => {
  const home = new Home(t);
  const path = home.rollout(BASE, base);
  const store = home.store();
  const ref = await found(store, BASE);
  const page = await store.entries(ref, START, BUDGET);
  writeFileSync(path, linesOf(base.slice(0, 3)));
  const again = await store.entries(ref, page.next, BUDGET);
  assert.deepEqual([again.reset, again.entries.length], [true, 2]);
  assert.equal(Number(statSync(path).size), endOfOne);
  rmSync(path);
  await assert.rejects(store.entries(ref, START, BUDGET), { kind: "not-found" });
});

test("cursors of other stores are refused", async (t) => {
  const home = new Home(t);
  home.rollout(BASE, base);
  const store = home.store();
  const ref = await found(store, BASE);
  for (const cursor of ["o:1:prt_1", "h:3", "j:-1:0", "j:1:2", "j:1", "x"]) {
    await assert.rejects(store.entries(ref, cursor as Cursor, BUDGET), { kind: "bad-request" });
    await assert.rejects(store.before(ref, cursor as Cursor, BUDGET), { kind: "bad-request" });
  }
});
