import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Failure } from "../../src/platform/failure.ts";
import { compareRuns, keyPage, parseRunCursor, type RunKey } from "../../src/runs/page.ts";

test("a cursor is a time, or a time and a name", () => {
  assert.deepEqual(parseRunCursor("1790000000000"), { startedAt: 1790000000000 });
  assert.deepEqual(parseRunCursor("0:codex-job-1"), { startedAt: 0, name: "codex-job-1" });
  assert.deepEqual(parseRunCursor("5:a:b c"), { startedAt: 5, name: "a:b c" });
  for (const text of ["", "x", "1.5", "1e3", "01", "1:", ":x", "9007199254740993", "1:a/b", "1:a\u0000", "1 ", "-0"]) {
    assert.throws(
      () => parseRunCursor(text),
      (error) => error instanceof Failure && error.kind === "bad-request",
      text,
    );
  }
});

test("a time alone means strictly older", () => {
  const keys = [3, 2, 2, 1].map((startedAt, i) => ({ startedAt, name: `r${i}` })).sort(compareRuns);
  const times = (text: string): number[] => keyPage(keys, parseRunCursor(text), 50).keys.map((key) => key.startedAt);
  assert.deepEqual([times("3"), times("2"), times("1"), times("4")], [[2, 2, 1], [1], [], [3, 2, 2, 1]]);
});

const arbitraryKeys = fc.uniqueArray(
  fc.record({ startedAt: fc.integer({ min: 0, max: 6 }), name: fc.stringMatching(/^[a-c.-]{1,4}$/) }),
  { selector: ({ name }) => name, maxLength: 60 },
);

function walk(pages: (before: string | undefined) => readonly RunKey[], limit: number): string[] {
  const seen: string[] = [];
  for (let before: string | undefined, end = false; !end; ) {
    const page = keyPage(pages(before), before === undefined ? undefined : parseRunCursor(before), limit);
    seen.push(...page.keys.map(({ name }) => name));
    assert.ok(page.keys.length <= limit);
    end = page.next === null;
    before = page.next ?? undefined;
  }
  return seen;
}

test("over any ties, pages of any size give every run once and in order", () => {
  fc.assert(
    fc.property(arbitraryKeys, fc.integer({ min: 1, max: 9 }), (keys, limit) => {
      const sorted = [...keys].sort(compareRuns);
      assert.deepEqual(
        walk(() => sorted, limit),
        sorted.map(({ name }) => name),
      );
    }),
  );
});

test("while others arrive and go, a walk gives every run that is there all the time exactly once", () => {
  fc.assert(
    fc.property(arbitraryKeys, fc.infiniteStream(fc.nat()), fc.integer({ min: 1, max: 5 }), (keys, dice, limit) => {
      const staying = keys.filter((_, i) => i % 2 === 0);
      const seen = walk(
        () => [...staying, ...keys.filter((_, i) => i % 2 === 1 && (dice.next().value ?? 0) % 2)].sort(compareRuns),
        limit,
      );
      const names = new Set(staying.map(({ name }) => name));
      assert.deepEqual(
        seen.filter((name) => names.has(name)),
        [...staying].sort(compareRuns).map(({ name }) => name),
      );
      assert.equal(new Set(seen).size, seen.length);
    }),
  );
});

test("125 runs of one second, by 17", () => {
  const keys = Array.from({ length: 125 }, (_, i) => ({ startedAt: 7, name: `r${i}` })).sort(compareRuns);
  assert.deepEqual(
    walk(() => keys, 17),
    keys.map(({ name }) => name),
  );
});
