import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldEntries } from "../../src/export/held-entries.ts";
import type { Entry } from "../../src/transcript/entry.ts";

function said(text: string, id?: string): Entry {
  const entry = { kind: "assistant", text, at: 0, pos: "0", ...(id !== undefined && { id }) };
  return entry as unknown as Entry;
}

function texts(entries: readonly Entry[]): string[] {
  return entries.map((entry) => (entry.kind === "assistant" ? entry.text : entry.kind));
}

test("an entry that is told again, grown, takes the place of the earlier one", () => {
  const held = new HeldEntries();
  held.add([said("a", "1"), said("b"), said("c", "2")]);
  held.add([said("aa", "1"), said("d")]);
  assert.deepEqual(texts(held.take("more")), []);
  assert.deepEqual(texts(held.take("end")), ["aa", "b", "c", "d"]);
});

test("entries that nothing can replace go on at once", () => {
  const held = new HeldEntries();
  held.add([said("a"), said("b")]);
  assert.deepEqual(texts(held.take("more")), ["a", "b"]);
  held.add([said("c")]);
  assert.deepEqual(texts(held.take("end")), ["c"]);
});

test("what is far behind is let go, the oldest first, and is not told twice", () => {
  const held = new HeldEntries(10_000);
  for (let i = 0; i < 50; i++) held.add([said(String(i), `id ${i}`)]);
  const first = texts(held.take("more"));
  assert.ok(first.length > 0 && first.length < 50);
  held.add([said("late", "id 0"), said("grown", "id 49")]);
  const rest = texts(held.take("end"));
  assert.deepEqual(
    [...first, ...rest],
    Array.from({ length: 50 }, (_, i) => (i === 49 ? "grown" : String(i))),
  );
});

test("a subagent does not replace the call of the same record", () => {
  const held = new HeldEntries();
  const subagent = { kind: "subagent", subagent: { id: "s" }, at: 0, pos: "0", id: "1" } as unknown as Entry;
  held.add([said("call", "1"), subagent]);
  assert.deepEqual(texts(held.take("end")), ["call", "subagent"]);
});
