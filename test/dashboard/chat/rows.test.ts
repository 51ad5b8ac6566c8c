import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChatRow, type RowOptions, rowOf, rowsOf } from "../../../src/dashboard/app/chat/rows.ts";
import { keyed } from "../../../src/dashboard/app/chat/window.ts";
import type { Item } from "../../../src/dashboard/app/wire.ts";

const options = (...open: string[]): RowOptions => ({
  atStart: true,
  isOpen: (key) => open.includes(key),
  startOfDay: () => 0,
});
const said = (ref: string): Item => ({ kind: "assistant", at: 1, ref, text: ref });
const call = (ref: string, tool = "Bash"): Item => ({ kind: "tool", at: 1, ref, tool, summary: `do ${ref}` });
const output = (ref: string, of: string, tool = "Bash"): Item => ({
  kind: "tool",
  at: 2,
  ref,
  of,
  tool,
  text: `out ${ref}`,
});
const calls = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, index) => call(`c${from + index}`));

const rows = (items: readonly Item[], before: readonly ChatRow[] = [], ...open: string[]): ChatRow[] =>
  rowsOf(keyed(items), before, options(...open));
const shape = (made: readonly ChatRow[]): string[] =>
  made
    .filter(({ kind }) => kind !== "day")
    .map((row) => (row.kind === "group" ? `${row.calls[0]?.key}×${row.calls.length}` : `${row.kind} ${row.key}`));

test("an output stands with its call, wherever it comes", () => {
  const made = rows([call("a"), said("b"), output("c", "a"), output("d", "gone")]);
  assert.deepEqual(shape(made), ["call a#0", "message b#0", "call d#0"]);
  const [, first, , orphan] = made;
  assert.ok(first?.kind === "call" && orphan?.kind === "call");
  assert.deepEqual([first.outputs.map(({ key }) => key), orphan.call], [["c#0"], undefined]);
});

test("outputs of calls that stand in one record go to the call of their name that still waits", () => {
  const made = rows([call("a", "Read"), call("a", "Bash"), output("b", "a", "Bash"), output("c", "a", "Read")]);
  const outputs = made.flatMap((row) => (row.kind === "call" ? [row.outputs.map(({ key }) => key)] : []));
  assert.deepEqual(outputs, [["c#0"], ["b#0"]]);
});

test("three calls one after the other are a group, which unfolds in place", () => {
  assert.deepEqual(shape(rows(calls(0, 2))), ["call c0#0", "call c1#0"]);
  assert.deepEqual(shape(rows([...calls(0, 3), said("x"), ...calls(3, 5)])), [
    "c0#0×3",
    "message x#0",
    "call c3#0",
    "call c4#0",
  ]);
  assert.deepEqual(shape(rows(calls(0, 3), [], "group-c0#0")), ["c0#0×3", "call c0#0", "call c1#0", "call c2#0"]);
});

test("ten thousand calls are groups of a hundred", () => {
  const made = shape(rows(calls(0, 10_000)));
  assert.equal(made.length, 100);
  assert.deepEqual([made[0], made[99]], ["c0#0×100", "c9900#0×100"]);
});

test("groups stay the same while calls come behind and in front", () => {
  const first = rows(calls(1_000, 1_250));
  assert.deepEqual(shape(first), ["c1000#0×100", "c1100#0×100", "c1200#0×50"]);
  const grown = rows(calls(1_000, 1_330), first);
  assert.deepEqual(shape(grown), ["c1000#0×100", "c1100#0×100", "c1200#0×100", "c1300#0×30"]);
  const above = rows(calls(850, 1_330), grown);
  assert.deepEqual(shape(above), [
    "c850#0×50",
    "c900#0×100",
    "c1000#0×100",
    "c1100#0×100",
    "c1200#0×100",
    "c1300#0×30",
  ]);
  assert.deepEqual(shape(rows(calls(920, 1_330), above)).slice(0, 2), ["c920#0×80", "c1000#0×100"]);
});

test("a small group takes in what comes in front of it", () => {
  const first = rows(calls(10, 15));
  assert.deepEqual(shape(rows(calls(5, 15), first)), ["c5#0×10"]);
});

test("marks, prompts and subagents end a group", () => {
  const marker: Item = { kind: "tool", at: 1, ref: "m", tool: "interrupted" };
  const sub: Item = {
    kind: "subagent",
    at: 1,
    ref: "s",
    id: "sub-1",
    subagent: { id: "1", title: "t", agent: "claude" },
  };
  assert.deepEqual(shape(rows([...calls(0, 3), marker, ...calls(3, 6), sub])), [
    "c0#0×3",
    "marker m#0",
    "c3#0×3",
    "subagent sub-1",
  ]);
});

test("a day has a line, also within a run of calls", () => {
  const day = (at: number): number => Math.floor(at / 100) * 100;
  const at = (item: Item, time: number): Item => ({ ...item, at: time });
  const items = [at(call("a"), 10), at(call("b"), 20), at(call("c"), 110), at(call("d"), 105), at(said("e"), 90)];
  const made = rowsOf(keyed(items), [], { atStart: true, isOpen: () => false, startOfDay: day });
  assert.deepEqual(
    made.map(({ key }) => key),
    ["day-0", "a#0", "b#0", "day-100", "c#0", "d#0", "e#0"],
  );
});

test("the first day has a line only where the chat begins", () => {
  const made = rowsOf(keyed([said("a")]), [], { ...options(), atStart: false });
  assert.deepEqual(
    made.map(({ key }) => key),
    ["a#0"],
  );
});

test("an item is found in the row that shows it, also within a folded group", () => {
  const made = rows([...calls(0, 3), output("o", "c1"), said("x")]);
  assert.deepEqual(rowOf(made, "o#0"), { row: "c1#0", group: "group-c0#0" });
  assert.deepEqual(rowOf(made, "x#0"), { row: "x#0" });
  assert.equal(rowOf(made, "nowhere"), undefined);
});
