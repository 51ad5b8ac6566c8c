import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChatRow, rowsOf } from "../../../src/dashboard/app/chat/rows.ts";
import { IS_WANTED, wantedBeyond } from "../../../src/dashboard/app/chat/wanted.ts";
import { keyed } from "../../../src/dashboard/app/chat/window.ts";
import type { Item } from "../../../src/dashboard/app/wire.ts";

const DAY = 86_400_000;
const asked = (ref: string, at = 1): Item => ({ kind: "user", at, ref, text: ref });
const called = (ref: string, error?: true): Item => ({
  kind: "tool",
  at: 1,
  ref,
  tool: "Bash",
  summary: ref,
  ...(error && { error }),
});

const drawn = (items: readonly Item[], ...open: string[]): ChatRow[] =>
  rowsOf(keyed(items), [], {
    atStart: true,
    isOpen: (key) => open.includes(key),
    startOfDay: (at) => Math.floor(at / DAY) * DAY,
  });

test("the next prompt is the nearest below, the one before the nearest above", () => {
  const rows = drawn([asked("a"), called("c"), asked("b"), asked("d")]);
  const [, a, , b] = rows.map(({ key }) => key);
  assert.equal(wantedBeyond(rows, a, "down", IS_WANTED.prompt), b);
  assert.equal(wantedBeyond(rows, b, "up", IS_WANTED.prompt), a);
  assert.equal(wantedBeyond(rows, a, "up", IS_WANTED.prompt), undefined);
});

test("the search begins at the line of a day, where that is at the top of the view", () => {
  const rows = drawn([asked("a"), asked("b", DAY), asked("c", DAY)]);
  const [, a, day, b] = rows.map(({ key }) => key);
  assert.equal(wantedBeyond(rows, day, "down", IS_WANTED.prompt), b);
  assert.equal(wantedBeyond(rows, day, "up", IS_WANTED.prompt), a);
});

test("a failed call is found within a folded group, and as its own row in an unfolded one", () => {
  const items = [asked("a"), called("c1"), called("c2", true), called("c3")];
  const folded = drawn(items);
  const open = drawn(items, folded.at(-1)?.key ?? "");
  const first = folded[1]?.key;
  const failed = open.find((row) => row.kind === "call" && row.call?.item.error)?.key;
  assert.equal(open.length, folded.length + 3);
  assert.equal(wantedBeyond(folded, first, "down", IS_WANTED.error), failed);
  assert.equal(wantedBeyond(open, first, "down", IS_WANTED.error), failed);
});
