import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { entriesFrom } from "../../../src/stores/opencode/chat.ts";
import type { ChatRows, Unit } from "../../../src/stores/opencode/chat-rows.ts";
import { positionOf } from "../../../src/stores/opencode/cursor.ts";
import type { ChatFile } from "../../../src/stores/opencode/place.ts";
import { type Cursor, START } from "../../../src/transcript/cursor.ts";
import type { Entry } from "../../../src/transcript/entry.ts";
import { requireSessionId } from "../../../src/transcript/names.ts";
import { handClock, homeWith, insertPart, SESSION, T0, text, turns } from "./conversation.ts";
import { openStore, PAGE, readOn, refOf, told } from "./fixtures.ts";
import { startWriter } from "./writer.ts";

const DAY = 24 * 3_600_000;

test("what is written at once is told at once, also more than a page holds, and once more when it is settled", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const ids = Array.from({ length: 450 }, (_, n) => `prt_1${String(n).padStart(3, "0")}`);
  await writer.run(ids.map((id, n) => insertPart(id, "msg_0000b", DAY + n, text(id))).join(""));
  const all = ids.map((id) => `assistant: ${id}`);

  clock.time = T0 + DAY + 500;
  const young = await readOn(store, ref, next);
  assert.deepEqual(told(young.entries), all);
  assert.deepEqual(await readOn(store, ref, young.next), { entries: [], next: young.next });

  clock.time = T0 + DAY + 6_000;
  const old = await readOn(store, ref, young.next);
  assert.deepEqual([told(old.entries), old.next], [all, `o:${T0 + DAY + 449}:prt_1449`]);
});

test("a row that is committed late into what was told ahead is told when that is settled", async (t) => {
  const { home, path } = homeWith(t, turns(1));
  const clock = handClock(T0 + DAY);
  const store = openStore(home, clock);
  const ref = await refOf(store, SESSION);
  const { next } = await readOn(store, ref);
  const writer = startWriter(t, path);
  const burst = ["prt_1000", "prt_1001", "prt_1002"];
  await writer.run(burst.map((id, n) => insertPart(id, "msg_0000b", DAY + 100 + n, text(id))).join(""));
  clock.time = T0 + DAY + 500;
  const young = await readOn(store, ref, next, { ...PAGE, parts: 2 });
  await writer.run(insertPart("prt_0999", "msg_0000b", DAY + 50, text("late")));
  clock.time = T0 + DAY + 5_200;
  const old = await readOn(store, ref, young.next, { ...PAGE, parts: 2 });
  assert.deepEqual(told(old.entries), ["assistant: late", ...burst.map((id) => `assistant: ${id}`)]);
});

/** Steps of those who write, each row up to five seconds after the time it states, of time itself, and of a reader. */
const STEPS = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant("write" as const),
        row: fc.nat(12),
        lag: fc.oneof(fc.constant(0), fc.nat(4_999)),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("wait" as const), ms: fc.oneof(fc.nat(3), fc.nat(4_000)) }) },
    { weight: 4, arbitrary: fc.record({ does: fc.constant("read" as const) }) },
  ),
  { maxLength: 60 },
);

test("whoever reads on sees the last state of every row, whatever is written when", async () => {
  await fc.assert(
    fc.asyncProperty(STEPS, fc.integer({ min: 1, max: 4 }), async (steps, parts) => {
      const clock = handClock(T0);
      const chat = new MemoryChat(T0);
      const budget = { bytes: 1_000_000, parts };
      const shown = new Map<string | undefined, string>();
      const read = async (from: Cursor): Promise<Cursor> => {
        const page = await entriesFrom(chat, from, budget, clock);
        assert.equal(page.reset, undefined);
        for (const entry of page.entries) if (entry.kind === "assistant") shown.set(entry.id, entry.text);
        return page.next;
      };
      const readAll = async (from: Cursor): Promise<Cursor> => {
        for (let cursor = from, pages = 0; ; pages++) {
          assert.ok(pages < 500, "reading comes to an end");
          const next = await read(cursor);
          if (next === cursor) return next;
          cursor = next;
        }
      };
      chat.write(0, T0, clock.time);
      clock.time += 20_000;
      let cursor = await readAll(START);
      for (const step of steps) {
        if (step.does === "write") chat.write(step.row, clock.time - step.lag, clock.time);
        else if (step.does === "wait") clock.time += step.ms;
        else cursor = await read(cursor);
      }
      cursor = await readAll(cursor);
      clock.time += 5_001;
      cursor = await readAll(cursor);
      assert.deepEqual(new Map([...shown].sort()), chat.texts());
      assert.equal(cursor.split(":").length, 3);
    }),
    { numRuns: 500 },
  );
});

/** A chat of rows in memory. */
class MemoryChat implements ChatFile {
  readonly session = requireSessionId(SESSION);
  readonly #rows = new Map<string, { updated: number; text: string }>();
  #modified: number;
  #writes = 0;

  constructor(modified: number) {
    this.#modified = modified;
  }

  write(row: number, updated: number, now: number): void {
    this.#rows.set(`r${String(row).padStart(2, "0")}`, { updated, text: `text ${this.#writes++}` });
    this.#modified = now;
  }

  texts(): Map<string, string> {
    return new Map([...this.#rows].map(([id, row]) => [id, row.text] as const).sort());
  }

  async read<T>(use: (rows: ChatRows) => T) {
    return { value: use(this.#view()), uses: [], modified: this.#modified };
  }

  async updates(since: number) {
    const units = this.#units().filter((unit) => unit.updated >= since);
    return { units: units.sort((a, b) => a.updated - b.updated || (a.id < b.id ? -1 : 1)), uses: [] };
  }

  #units(): Unit[] {
    return [...this.#rows].map(([id, { updated }]) => ({ id, kind: "row" as const, updated, bytes: 10 }));
  }

  #view(): ChatRows {
    const units = this.#units().sort((a, b) => (a.id < b.id ? -1 : 1));
    const entry = ({ id }: Unit): Entry => {
      const row = this.#rows.get(id);
      return { kind: "assistant", at: handClock(T0).now(), pos: positionOf(id), id, text: row?.text ?? "" };
    };
    return {
      revert: undefined,
      forward: (from) => {
        const index = from === undefined ? 0 : units.findIndex(({ id }) => id === from);
        return index < 0 ? undefined : units.slice(index);
      },
      backward: () => units,
      named: (ids) => ids.flatMap((wanted) => units.find(({ id }) => id === wanted) ?? []),
      has: (wanted) => this.#rows.has(wanted),
      entries: (list) => list.map(entry),
    };
  }
}
