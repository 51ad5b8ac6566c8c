import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import type { Cursor } from "../../src/transcript/cursor.ts";
import type { Entry, FileDiff, ToolCallEntry } from "../../src/transcript/entry.ts";
import { toItem, UNCUT_LIMITS, wholeLimits } from "../../src/transcript/item.ts";

const MIB = 1024 * 1024;
const at = 1 as EpochMs;
const pos = "h:1" as Cursor;
const call = (more: Partial<ToolCallEntry>): ToolCallEntry => ({
  kind: "tool-call",
  at,
  pos,
  tool: "edit",
  input: undefined,
  ...more,
});
const plain = wholeLimits({ ansi: false });
const coloured = wholeLimits({ ansi: true });
const DIFF: FileDiff = { path: "/a", oldText: null, newText: "x" };

test("a call that is told whole has its input and its diffs, beside what it printed", () => {
  const entry = call({ input: { path: "/a" }, output: "done", diffs: [DIFF] });
  const told = { kind: "tool", at, tool: "edit", summary: "/a", text: "done", ref: pos };
  assert.deepEqual(toItem(entry, plain), { ...told, input: { path: "/a" }, diffs: [DIFF] });
  assert.deepEqual(toItem(call({ input: "*** Begin Patch" }), plain)?.input, "*** Begin Patch");
});

test("no page of a chat and no other uncut text has a call's input", () => {
  const entry = call({ input: { path: "/a" }, diffs: [DIFF] });
  for (const item of [toItem(entry), toItem(entry, UNCUT_LIMITS)]) {
    assert.deepEqual(Object.keys(item ?? {}), ["kind", "at", "tool", "summary", "ref"]);
  }
});

test("input of more than 1 MiB of JSON is left out, and the item says that it is cut", () => {
  const most = "x".repeat(MIB - 2);
  const fits = toItem(call({ input: most, summary: "s" }), plain);
  assert.deepEqual([fits?.input, fits?.cut], [most, undefined]);
  const over = toItem(call({ input: `${most}x`, summary: "s", diffs: [DIFF] }), plain);
  assert.deepEqual(over, { kind: "tool", at, tool: "edit", summary: "s", ref: pos, cut: true, diffs: [DIFF] });
  // Bytes of UTF-8, not characters.
  assert.equal(toItem(call({ input: "é".repeat(MIB / 2), summary: "s" }), plain)?.cut, true);
  const wide = toItem(call({ input: {}, diffs: [{ ...DIFF, newText: `${most}x` }] }), plain);
  assert.deepEqual([wide?.input, wide?.diffs, wide?.cut], [{}, undefined, true]);
});

test("input that is nested too deeply to be written again is left out", () => {
  let deep: unknown = 0;
  for (let level = 0; level < 20_000; level++) deep = [deep];
  const item = toItem(call({ input: deep, summary: "s" }), plain);
  assert.deepEqual([item?.input, item?.cut], [undefined, true]);
});

test("what a tool or a command printed keeps its colours where they are asked for", () => {
  const printed = "\u001b[1;31mred\u001b[0m\u001b[2K\u001b]0;title\u0007 \u001b[38:2::1:2:3mrgb\u001b[m";
  const entries: readonly Entry[] = [
    call({ output: printed }),
    { kind: "tool-result", at, pos, text: printed },
    { kind: "marker", at, pos, marker: "command", text: printed },
  ];
  for (const entry of entries) {
    assert.equal(toItem(entry)?.text, "red rgb");
    assert.equal(toItem(entry, plain)?.text, "red rgb");
    assert.equal(toItem(entry, coloured)?.text, "\u001b[1;31mred\u001b[0m \u001b[38:2::1:2:3mrgb\u001b[m");
  }
  const said: Entry = { kind: "assistant", at, pos, text: printed };
  assert.equal(toItem(said, coloured)?.text, printed);
});

test("a text with colours is not cut within one", () => {
  const colour = "\u001b[38;5;208m";
  for (let room = 1; room <= colour.length; room++) {
    const head = "x".repeat(MIB - 3 - room);
    const item = toItem({ kind: "tool-result", at, pos, text: `${head}${colour}orange` }, coloured);
    assert.equal(item?.text, `${head}${room < colour.length ? "" : colour}…`, String(room));
    assert.equal(item?.cut, true);
  }
});
