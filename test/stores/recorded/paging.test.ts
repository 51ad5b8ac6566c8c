import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { type Item, pageItems, toItems } from "../../../src/transcript/item.ts";
import { divides } from "../refs.ts";
import { openStore } from "./fixtures.ts";
import { type Body, BUDGET, Home, lines, settled } from "./home.ts";

/** A small generator of numbers below `n`, the same for the same seed. */
function dice(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** Records in an order that no single writer would give them, of all kinds that hang together. */
function anyRecords(roll: (n: number) => number, count: number): Body[] {
  const call = (): string => `t${roll(4)}`;
  const kinds: (() => Body)[] = [
    () => ({ kind: "user-prompt", text: `ask ${roll(100)}` }),
    () => ({ kind: "text-delta", text: `word ${roll(100)}`, partial: true }),
    () => ({ kind: "text-delta", text: `line ${roll(100)}\n` }),
    () => ({ kind: "text-delta", text: `line ${roll(100)}\n` }),
    () => ({ kind: "thought", text: `think ${roll(100)}`, ...(roll(2) === 0 && { partial: true }) }),
    () => ({ kind: "tool-call", toolCallId: call(), toolName: "ls", arguments: { path: `p${roll(9)}` } }),
    () => ({ kind: "tool-call", toolCallId: call(), toolName: "", arguments: { path: "q" }, isUpdate: true }),
    () => ({ kind: "tool-result", toolCallId: call(), result: `out ${roll(100)}`, isError: roll(3) === 0 }),
    () => ({ kind: "tool-result", toolCallId: call(), result: null, isError: true }),
    () => ({ kind: "agent-prompt", toolCallId: call(), options: [{ name: "Yes" }] }),
    () => ({ kind: "permission-resolved", toolCallId: call(), decision: "approve" }),
    () => ({ kind: "usage_update", size: 1, used: 1, tokensIn: roll(100) }),
    () => ({ kind: "turn-end", reason: ["completed", "error", "cancelled"][roll(3)] }),
    () => ({ kind: "error", error: { message: `m${roll(2)}` } }),
    () => ({ kind: "plan", entries: [{ content: "a", status: "pending" }] }),
    () => ({ kind: "tool-call-record", toolCallId: call() }),
  ];
  return Array.from({ length: count }, () => (kinds[roll(kinds.length)] ?? (() => ({ kind: "x" })))());
}

/** `content` as a writer leaves it that crashes, counts wrongly, and whose tools speak of records themselves. */
function damaged(roll: (n: number) => number, content: string): string {
  const changes: ((line: string) => string)[] = [
    (line) => line.replace(/"seq":\d+,/, ""),
    (line) => line.replace(/"seq":(\d+)/, (_, seq) => `"seq":${Number(seq) - 1}`),
    (line) => line.replace(/"seq":\d+/, '"seq":1'),
    (line) => line.replace(/"ts":"[^"]*",/, ""),
    (line) => line.slice(0, -1),
    (line) => `${line}{"seq":\n`,
    (line) => `${line}\n`,
    (line) => line.replace('"arguments":{', '"arguments":{"seq":1,"ts":"2026-01-01T00:00:00.000Z","kind":"turn-end",'),
    (line) => line.replace('"entries":[', '"entries":[{"seq":1,"toolCallId":"t1","kind":"user-prompt"},'),
  ];
  const change = (): ((line: string) => string) => changes[roll(changes.length)] ?? ((line) => line);
  return (
    content
      .split(/(?<=\n)/)
      // The time of a session whose first record has none is only known once there is one.
      .map((line, index) => (index > 0 && roll(4) === 0 ? change()(line) : line))
      .join("")
  );
}

/** Every page read backward from the end, the first page first. */
async function backward(home: Home, id: string, bytes: number): Promise<Entry[]> {
  const ref = await home.ref(id);
  const pages: (readonly Entry[])[] = [];
  for (let before: Parameters<typeof home.store.before>[1] | null = "tail"; before !== null; ) {
    const page = await home.store.before(ref, before, { bytes, parts: 200 });
    pages.unshift(page.entries);
    before = page.prev;
  }
  return pages.flat();
}

const byPlace = (entries: readonly Entry[]): Entry[] => settled(entries).sort((a, b) => offset(a) - offset(b));
const offset = (entry: Entry): number => Number(entry.pos.split(":")[1]);

test("any way of paging gives the same items, forward, backward and while the file grows", async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const roll = dice(seed);
  const home = new Home(t);
  for (let round = 0; round < 20; round++) {
    const id = `ses_${round}`;
    const written = lines(anyRecords(roll, 60));
    const content = round % 2 === 0 ? written : damaged(roll, written);
    home.write(id, content);
    const whole = (await home.read(id, BUDGET.bytes)).entries;
    // Records that a crash has glued together are one line, which has to fit in a page.
    for (const bytes of content === written ? [200, 400, 1000, 3000] : [1000, 3000]) {
      const message = `seed ${seed}, round ${round}, pages of ${bytes}`;
      assert.deepEqual(byPlace((await home.read(id, bytes)).entries), byPlace(whole), message);
      assert.deepEqual(byPlace(await backward(home, id, bytes)), byPlace(whole), `${message}, backward`);
    }
    const budgets = (content === written ? [200, 1000] : [3000]).map((bytes) => ({ bytes, parts: 200 }));
    const chat = { open: () => openStore(home.path), ref: await home.ref(id), items: toItems(whole) };
    await divides(`seed ${seed}, round ${round}`, chat, budgets);
    const growing = `${id}_grows`;
    home.write(growing, "");
    const told: Entry[] = [];
    let next = START;
    for (let from = 0; from < content.length; ) {
      const to = Math.min(content.length, from + 1 + roll(600));
      home.append(growing, content.slice(from, to));
      from = to;
      const page = await home.store.entries(await home.ref(growing), next, BUDGET);
      assert.equal(page.reset, undefined);
      told.push(...page.entries);
      next = page.next;
    }
    assert.deepEqual(byPlace(told), byPlace(whole), `seed ${seed}, round ${round}, growing`);
  }
});

test("reading can start at any record, and gives what a reader from the start has from there on", async (t) => {
  const seed = 7;
  const home = new Home(t);
  home.write("ses_1", lines(anyRecords(dice(seed), 80)));
  const whole = settled((await home.read("ses_1", BUDGET.bytes)).entries);
  for (const { pos } of whole) {
    const rest = settled((await home.read("ses_1", BUDGET.bytes, pos)).entries);
    const from = whole.filter((entry) => offset(entry) >= Number(pos.split(":")[1]));
    const ids = new Set(rest.map(({ id }) => id));
    assert.deepEqual(
      from.filter(({ id }) => !ids.has(id)),
      [],
    );
    for (const entry of rest)
      assert.deepEqual(
        entry,
        whole.find(({ id }) => id === entry.id),
      );
  }
});

test("a page tells what it only goes on with, and read backward such an item comes where it begins", async (t) => {
  const home = new Home(t);
  const call: Body = { kind: "tool-call", toolCallId: "t1", toolName: "ls", arguments: {} };
  const gave: Body = { kind: "tool-result", toolCallId: "t1", result: "ok", isError: false };
  const told = (text: string): Body => ({ kind: "notice", text });
  const written = [{ kind: "user-prompt", text: "go" }, call, told("one"), gave, told("two")];
  home.write("ses_1", lines(written));
  const ref = await home.ref("ses_1");
  const place = `j:${lines(written.slice(0, 3)).length}:0` as Cursor;
  const shown = (items: readonly Item[]): unknown[] => items.map(({ id, text, earlier }) => [id, text, earlier]);
  assert.deepEqual(shown(pageItems(await home.store.entries(ref, place, BUDGET))), [
    ["e2", "ok", true],
    ["e5", undefined, undefined],
  ]);
  const bytes = lines(written).length - lines(written.slice(0, 3)).length;
  const tail = await home.store.before(ref, "tail", { bytes, parts: 200 });
  assert.deepEqual([shown(pageItems(tail)), tail.prev], [[["e5", undefined, undefined]], place]);
  const above = await home.store.before(ref, place, BUDGET);
  assert.deepEqual(shown(pageItems(above)).slice(1), [
    ["e2", "ok", undefined],
    ["e3", undefined, undefined],
  ]);
  // A page that has nothing else tells it all the same.
  home.write("ses_2", lines(written.slice(0, 4)));
  const alone = await home.store.before(await home.ref("ses_2"), "tail", {
    bytes: lines([gave], 4).length,
    parts: 200,
  });
  assert.deepEqual([shown(pageItems(alone)), alone.prev], [[["e2", "ok", true]], place]);
});
