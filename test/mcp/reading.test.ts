import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { placeOf, placeText } from "../../src/mcp/place.ts";
import { type Part, readBack, readOn, readRecord } from "../../src/mcp/reading.ts";
import type { EpochMs } from "../../src/platform/clock.ts";
import { Pages } from "../../src/stores/pages.ts";
import type { Store } from "../../src/stores/store.ts";
import { type Cursor, START } from "../../src/transcript/cursor.ts";
import type { Entry } from "../../src/transcript/entry.ts";
import type { SessionId } from "../../src/transcript/names.ts";
import { fakeStore, NOW } from "../commands/fake.ts";

const ID = "s" as SessionId;

/** What reading takes, over a chat of records, each with the texts of its items. */
function readingOf(records: readonly (readonly string[])[], limit: number, more: Partial<Store> = {}) {
  const entries: Entry[] = records.flatMap((texts, index) =>
    texts.map((text): Entry => ({ kind: "assistant", at: NOW, pos: `j:${index}:0` as Cursor, text })),
  );
  const cursorAt = (index: number): Cursor => (index === 0 ? START : (`j:${index}:0` as Cursor));
  const indexOf = (at: Cursor): number => (at === START ? 0 : Number(at.split(":")[1]));
  const within = (from: number, to: number): Entry[] =>
    entries.filter(({ pos }) => indexOf(pos) >= from && indexOf(pos) < to);
  const facts = { uses: [], settled: true };
  // A page holds three records.
  const store = fakeStore(
    [],
    {},
    {
      async entries(_ref, from) {
        const end = Math.min(records.length, indexOf(from) + 3);
        return { entries: within(indexOf(from), end), next: end === indexOf(from) ? from : cursorAt(end), ...facts };
      },
      async before(_ref, before) {
        const end = before === "tail" ? records.length : indexOf(before);
        const start = Math.max(0, end - 3);
        return {
          entries: within(start, end),
          next: cursorAt(end),
          prev: start === 0 ? null : cursorAt(start),
          ...facts,
        };
      },
      async record(_ref, at) {
        return within(indexOf(at), indexOf(at) + 1);
      },
      ...more,
    },
  );
  const clock = { now: () => NOW as EpochMs };
  const chat = { store, ref: { agent: "claude" as const, id: ID, place: undefined } };
  return { chat, pages: new Pages(clock), limit, signal: new AbortController().signal };
}

const textsOf = ({ items }: Part): string[] => items.map(({ text = "" }) => text);

/** Reads with cursors as a model passes them back. */
async function wholeOn(reading: ReturnType<typeof readingOf>): Promise<string[]> {
  const all: string[] = [];
  for (let cursor = placeText({ way: "on", at: START }); ; ) {
    const place = placeOf(cursor);
    assert.ok(place.way === "on");
    const part = await readOn(reading, place);
    all.push(...textsOf(part));
    if (part.complete || part.next === undefined) return all;
    assert.notEqual(placeText(part.next), cursor);
    cursor = placeText(part.next);
  }
}

async function wholeBack(reading: ReturnType<typeof readingOf>): Promise<string[]> {
  const all: string[] = [];
  for (let cursor = placeText({ way: "back", at: "tail" }); ; ) {
    const place = placeOf(cursor);
    assert.ok(place.way === "back");
    const part = await readBack(reading, place);
    all.unshift(...textsOf(part));
    if (!part.prev) return all;
    assert.notEqual(placeText(part.prev), cursor);
    cursor = placeText(part.prev);
  }
}

test("whatever the limit, the parts of a chat are the chat, on and back", async () => {
  const texts = fc.array(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 5 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1_000, max: 5_000 }), async (sizes, limit) => {
      let count = 0;
      const records = sizes.map((record) => record.map((size) => `${count++} ${"x".repeat(size)}`));
      const reading = readingOf(records, limit);
      assert.deepEqual(await wholeOn(reading), records.flat());
      assert.deepEqual(await wholeBack(reading), records.flat());
    }),
  );
});

test("an answer stays within its limit; one item that is longer is cut, and says so", async () => {
  const reading = readingOf([["a"], ["b".repeat(5_000)], ["c"]], 1_000);
  const first = await readOn(reading, { way: "on", at: START });
  assert.deepEqual([textsOf(first), first.complete], [["a"], false]);
  assert.ok(first.next?.way === "on");
  const second = await readOn(reading, first.next);
  assert.equal(second.items.length, 1);
  assert.equal(second.items[0]?.cut, true);
  assert.ok((second.items[0]?.text?.length ?? 0) <= 1_000);
});

test("the last items, and what is written after them", async () => {
  const records = Array.from({ length: 10 }, (_, n) => [String(n)]);
  const reading = readingOf(records, 20_000);
  const part = await readBack(reading, { way: "back", at: "tail" }, 4);
  assert.deepEqual(textsOf(part), ["6", "7", "8", "9"]);
  assert.deepEqual(part.next, { way: "on", at: "j:10:0" });
  assert.ok(part.prev);
  assert.deepEqual(textsOf(await readBack(reading, part.prev as Parameters<typeof readBack>[1])), [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
  ]);
  records.push(["10"]);
  assert.deepEqual(textsOf(await readOn(reading, part.next as Parameters<typeof readOn>[1])), []);
});

test("a record is given whole, in pieces whose texts are its texts, no character cut in two", async () => {
  const length = fc.integer({ min: 0, max: 2_500 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(length, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 10, max: 1_500 }),
      async (sizes, limit) => {
        const texts = sizes.map((size, n) => `${n}${"🦓".repeat(size / 2)}`);
        const reading = readingOf([texts], limit);
        let whole = "";
        for (let offset = 0; ; ) {
          const part = await readRecord(reading, "j:0:0" as Cursor, offset);
          whole += textsOf(part).join("");
          for (const text of textsOf(part)) assert.doesNotMatch(text, /\p{Surrogate}/u);
          if (part.next?.way !== "record") break;
          assert.ok(part.next.offset > offset);
          offset = part.next.offset;
        }
        assert.equal(whole, texts.join(""));
      },
    ),
  );
});

test("a transcript that was replaced is read from its start, and that is said", async () => {
  const entries: Entry[] = [{ kind: "user", at: NOW, pos: "j:0:0" as Cursor, text: "new" }];
  const reading = readingOf([], 20_000, {
    entries: async (_ref, from) => ({
      ...{ entries: from === "j:5:0" ? [] : entries, next: "j:5:0" as Cursor, uses: [], settled: true },
      ...(from === "j:9:0" && { reset: true as const }),
    }),
  });
  const mark = { ref: "j:8:0" as Cursor, nth: 0 };
  const part = await readOn(reading, { way: "on", at: "j:9:0" as Cursor, mark });
  assert.deepEqual([textsOf(part), part.reset], [["new"], true]);
});

test("what stands before the last items stays the same, however much is written after them meanwhile", async () => {
  const records = Array.from({ length: 8 }, (_, n) => [`${n} ${"x".repeat(900)}`]);
  const limit = 1_100;
  const last = await readBack(readingOf(records, limit), { way: "back", at: "tail" }, 1);
  assert.deepEqual(textsOf(last), records[7]);
  const more = [...records, ...Array.from({ length: 20 }, () => ["later"])];
  const place = placeOf(placeText(last.prev ?? assert.fail()));
  assert.ok(place.way === "back");
  const before = await readBack(readingOf(more, limit), place);
  assert.deepEqual([textsOf(before), before.reset], [records[6], undefined]);
});

test("going back from a place that is not there any more is said", async () => {
  const records = [["a", "b", "c"]];
  const last = await readBack(readingOf(records, 1_000), { way: "back", at: "tail" }, 1);
  assert.deepEqual(textsOf(last), ["c"]);
  const place = placeOf(placeText(last.prev ?? assert.fail()));
  assert.ok(place.way === "back");
  const part = await readBack(readingOf([["new"]], 1_000), place);
  assert.deepEqual([textsOf(part), part.reset], [["new"], true]);
});

test("a cursor that was never given out is refused", () => {
  for (const text of ["", "0", "x0", "f", "b~1", "fj:0:0~x~y", `f${"1".repeat(300)}`, "r0~9999999999999999"]) {
    assert.throws(() => placeOf(text), { kind: "bad-request" }, text);
  }
});

test("going back from an item that began far before the page it goes on in leaves nothing out", async () => {
  const records = [["began"], ["1"], ["2"], ["3"], ["4"], ["5"], ["ended"]];
  const plain = readingOf(records, 110);
  // The first record grows until the last one: each page that holds some of that tells it, at its old place.
  const before: Store["before"] = async (ref, at, budget) => {
    const page = await plain.chat.store.before(ref, at, budget);
    const grown = page.entries.findLast((entry) => entry.kind === "assistant" && entry.text === "ended");
    if (grown === undefined) return page;
    const entries = [
      { ...grown, id: "e1", pos: "j:0:0" as Cursor },
      ...page.entries.filter((entry) => entry !== grown),
    ];
    return { ...page, entries };
  };
  const all = await wholeBack(readingOf(records, 110, { before }));
  assert.deepEqual(all.toSorted(), ["1", "2", "3", "4", "5", "began", "ended"]);
});
