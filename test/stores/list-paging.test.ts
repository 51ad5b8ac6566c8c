import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../src/platform/failure.ts";
import { type ListPage, parseRowCursor, Selections } from "../../src/stores/list-query.ts";
import { EMPTY_SHELF, restocked } from "../../src/stores/shelf.ts";
import type { Listed } from "../../src/stores/store.ts";
import { AGENT_NAMES } from "../../src/transcript/names.ts";
import { at, row, sid } from "../support/fake-store.ts";

/** Lists with many ties: few times, few agents, and ids of which some begin alike. */
const rows = fc
  .uniqueArray(fc.record({ n: fc.nat(400), updatedAt: fc.integer({ min: -1, max: 3 }), agent: fc.nat(1) }), {
    selector: ({ n }) => n,
    maxLength: 120,
  })
  .map((list) =>
    list.map(({ n, updatedAt, agent }) =>
      row({ id: sid(`s${n}`), updatedAt: at(updatedAt), agent: AGENT_NAMES[agent] ?? "claude" }),
    ),
  );

async function selections(list: readonly Listed[]): Promise<Selections> {
  const { shelf } = await restocked(EMPTY_SHELF, list);
  return new Selections(shelf.sorted, new WeakMap());
}

test("walking pages gives every session once and in order, whatever the ties", async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 1, max: 40 }), async (list, limit) => {
      const selection = await selections(list);
      const walked: Listed[] = [];
      let next: string | null = null;
      do {
        const page: ListPage = await selection.page({}, next === null ? undefined : parseRowCursor(next), limit);
        assert.equal(page.total, list.length);
        assert.ok(page.transcripts.length === limit || page.next === null);
        walked.push(...page.transcripts);
        next = page.next;
      } while (next !== null);
      assert.deepEqual(walked, (await selection.page({}, undefined, 1_000)).transcripts);
      assert.deepEqual(new Set(walked.map(({ id }) => id)), new Set(list.map(({ id }) => id)));
    }),
  );
});

test("a page of ten is the beginning of a page of twenty, from any place", async () => {
  await fc.assert(
    fc.asyncProperty(rows, fc.nat(), async (list, place) => {
      const selection = await selections(list);
      const before = list[place % Math.max(1, list.length)];
      const cursor = before && parseRowCursor(`${before.updatedAt}:${before.agent}:${before.id}`);
      const ten = (await selection.page({}, cursor, 10)).transcripts;
      assert.deepEqual(ten, (await selection.page({}, cursor, 20)).transcripts.slice(0, 10));
    }),
  );
});

test("a list that changes step by step is the same as one that is made at once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { maxLength: 5 }), async (lists) => {
      let shelf = EMPTY_SHELF;
      for (const list of lists) ({ shelf } = await restocked(shelf, list));
      const { shelf: fresh } = await restocked(EMPTY_SHELF, lists.at(-1) ?? []);
      assert.deepEqual(shelf.sorted, fresh.sorted);
    }),
  );
});

test("tens of thousands of sessions are put in order as well", async () => {
  const list = Array.from({ length: 30_000 }, (_, i) => row({ id: sid(`s${i}`), updatedAt: at((i * 7919) % 9_973) }));
  const { shelf, changed } = await restocked(EMPTY_SHELF, list);
  const expected = [...list].sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  assert.deepEqual(
    shelf.sorted.map(({ id }) => id),
    expected.map(({ id }) => id),
  );
  assert.equal(changed.length, 30_000);
});

test("what did not change is the same object in the next list, so nothing compares it", async () => {
  const list = [row({ id: sid("a") }), row({ id: sid("b") })];
  const first = await restocked(EMPTY_SHELF, list);
  const second = await restocked(first.shelf, [list[0] as Listed, row({ id: sid("b") })]);
  assert.equal(second.shelf.sorted, first.shelf.sorted);
  assert.deepEqual(second.changed, []);
});

test("a time alone as the cursor means strictly older", async () => {
  const selection = await selections([1, 2, 2, 3].map((ms, i) => row({ id: sid(`s${i}`), updatedAt: at(ms) })));
  const { transcripts, total } = await selection.page({}, parseRowCursor("2"), 10);
  assert.deepEqual([transcripts.map(({ id }) => id), total], [["s0"], 4]);
});

test("a cursor whose session is gone still goes on at its place", async () => {
  const selection = await selections(["a", "c"].map((id) => row({ id: sid(id), updatedAt: at(5) })));
  const { transcripts } = await selection.page({}, parseRowCursor("5:claude:b"), 10);
  assert.deepEqual(
    transcripts.map(({ id }) => id),
    ["c"],
  );
});

test("a malformed cursor is refused", () => {
  const malformed = [
    "",
    "x",
    "1.5",
    "1:",
    "1:claude",
    "1:claude:",
    "1:nobody:a",
    "1:claude:../a",
    "1:claude:a:b",
    " 1",
  ];
  for (const text of [...malformed, "9".repeat(17), "9007199254740993000:claude:a", "8640000000000001"]) {
    assert.throws(
      () => parseRowCursor(text),
      (error) => error instanceof Failure && error.kind === "bad-request",
      text,
    );
  }
});
