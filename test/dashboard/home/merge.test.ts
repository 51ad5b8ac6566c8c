import assert from "node:assert/strict";
import { test } from "node:test";
import { appended, inPlace, mergeFirstPage } from "../../../src/dashboard/app/home/merge.ts";

const MINUTE = 60_000;

interface Row {
  readonly id: string;
  readonly updatedAt: number;
}

const row = (id: string, minutes: number): Row => ({ id, updatedAt: minutes * MINUTE });
const keyOf = ({ id }: Row): string => id;
const ids = (rows: readonly Row[] = []): string => rows.map(keyOf).join("");

const list = [row("a", 50), row("b", 40), row("c", 30), row("d", 20), row("e", 10)];

test("a session that was updated moves to the top, and stands nowhere else", () => {
  const merged = mergeFirstPage(list, [row("d", 60), row("a", 50)], false, keyOf);
  assert.equal(ids(merged?.rows), "dabce");
  assert.deepEqual(merged?.moved, ["d"]);
  assert.deepEqual(merged?.rows[0], row("d", 60));
});

test("new sessions stand where their time puts them", () => {
  const merged = mergeFirstPage(list, [row("x", 60), row("a", 50), row("y", 45), row("b", 40)], false, keyOf);
  assert.equal(ids(merged?.rows), "xaybcde");
  assert.deepEqual(merged?.moved.toSorted(), ["x", "y"]);
});

test("what has not changed does not move", () => {
  const merged = mergeFirstPage(list, list.slice(0, 3), false, keyOf);
  assert.equal(ids(merged?.rows), "abcde");
  assert.deepEqual(merged?.moved, []);
});

test("sessions that are busy at once do not take turns at the top", () => {
  const first = mergeFirstPage(list, [row("b", 50.5), row("a", 50)], false, keyOf);
  assert.equal(ids(first?.rows), "abcde");
  const then = mergeFirstPage(first?.rows ?? [], [row("b", 51.5), row("a", 50)], false, keyOf);
  assert.equal(ids(then?.rows), "bacde");
});

test("sessions that are gone are left out, as far as the page reaches", () => {
  assert.equal(ids(mergeFirstPage(list, [row("a", 50), row("c", 30)], false, keyOf)?.rows), "acde");
  assert.equal(ids(mergeFirstPage(list, [row("a", 50), row("c", 30)], true, keyOf)?.rows), "ac");
  assert.equal(ids(mergeFirstPage(list, [], true, keyOf)?.rows), "");
});

test("a page that does not reach what is known tells that rows between may be missing", () => {
  assert.equal(mergeFirstPage(list, [row("x", 70), row("y", 60)], false, keyOf), undefined);
  assert.equal(ids(mergeFirstPage(list, [row("x", 70), row("y", 60)], true, keyOf)?.rows), "xy");
});

test("an empty list takes the page as it is", () => {
  assert.equal(ids(mergeFirstPage<Row>([], list, true, keyOf)?.rows), "abcde");
});

test("whatever happens between two looks, the merged list has what the server has, once each and nearly in order", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  console.log(`seed ${seed}`);
  const random = mulberry(seed);
  for (let round = 0; round < 200; round++) {
    let server = Array.from({ length: 40 }, (_, at) => row(`s${at} `, 1000 - at * (1 + Math.floor(random() * 3))));
    server.sort((a, b) => b.updatedAt - a.updatedAt);
    let shown: readonly Row[] = server.slice(0, 30);
    let clock = 1001;
    for (let step = 0; step < 8; step++) {
      const changes = Math.floor(random() * 5);
      for (let change = 0; change < changes; change++) {
        const at = Math.floor(random() * server.length);
        const kind = random();
        clock += random();
        if (kind < 0.2) server = server.filter((_, place) => place !== at);
        else if (kind < 0.4) server = [row(`n${clock} `, clock), ...server];
        else server = [row(server[at]?.id ?? "", clock), ...server.filter((_, place) => place !== at)];
      }
      const page = server.slice(0, 12);
      const merged = mergeFirstPage(shown, page, false, keyOf);
      assert.ok(merged);
      shown = merged.rows;
      assert.equal(new Set(shown.map(keyOf)).size, shown.length);
      const keys = new Set(shown.map(keyOf));
      for (const each of page) assert.ok(keys.has(each.id));
      const last = page.at(-1)?.updatedAt ?? 0;
      assert.deepEqual(
        shown
          .filter(({ updatedAt }) => updatedAt > last)
          .map(keyOf)
          .toSorted(),
        page
          .filter(({ updatedAt }) => updatedAt > last)
          .map(keyOf)
          .toSorted(),
      );
      let least = Number.POSITIVE_INFINITY;
      for (const { updatedAt } of shown) {
        least = Math.min(least, updatedAt);
        assert.ok(least >= updatedAt - MINUTE);
      }
    }
  }
});

test("rows can be brought up to date where they stand", () => {
  const latest = [row("d", 60), row("a", 50), row("x", 45), row("c", 30)];
  assert.deepEqual(inPlace(list, latest, keyOf), [row("a", 50), row("c", 30), row("d", 60)]);
});

test("a page that repeats rows adds only the others", () => {
  assert.equal(ids(appended(list, [row("e", 10), row("f", 5)], keyOf)), "abcdef");
});

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
