import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { exportDocument } from "../../src/export/document.ts";
import { openStore } from "../stores/recorded/fixtures.ts";
import { sid } from "../support/fake-store.ts";
import { readExport } from "./read-export.ts";

type Record = { readonly kind: string; readonly [field: string]: unknown };

const prompt: Record = { kind: "user-prompt", text: "go" };
const end: Record = { kind: "turn-end", reason: "completed" };
const call = (v: string): Record => ({ kind: "tool-call", toolCallId: "a", toolName: "Write", arguments: { v } });
const update = (v: string): Record => ({
  kind: "tool-call",
  toolCallId: "a",
  toolName: "",
  arguments: { v },
  isUpdate: true,
});
const result = (text: string): Record => ({ kind: "tool-result", toolCallId: "a", result: text, isError: false });
const far = Array.from({ length: 100 }, (): Record => ({ kind: "text-delta", text: `${"x".repeat(100_000)}\n` }));
const LONG = 600_000;

/** Each with the characters of the last input. */
const CASES: readonly (readonly [string, readonly Record[], number])[] = [
  ["an update longer than a page", [call("1"), update("2".repeat(LONG)), result("done")], LONG],
  ["an update longer than is looked back", [call("1"), update("2".repeat(9_000_000)), result("done")], 9_000_000],
  ["an update longer than a page, far behind", [call("1"), ...far, update("2".repeat(LONG)), result("done")], LONG],
  ["a call longer than a page, and an update", [call("1".repeat(LONG)), update("small"), result("done")], 5],
  ["a call longer than a page, and a far result", [call("1".repeat(LONG)), ...far, result("done")], LONG],
  ["a far result longer than a page", [call("1"), ...far, result("done".repeat(LONG))], 1],
];

/** A recording of these, the envelope as writers put it, or in another order. */
function recording(t: TestContext, records: readonly Record[], order: "kind first" | "session first"): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "recorded-calls-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, "sessions", "sess_1");
  mkdirSync(folder, { recursive: true });
  const lines = [prompt, ...records, end].map(({ kind, ...fields }, index) => {
    const head = { seq: index + 1, ts: "2026-02-03T10:00:01.000Z" };
    const named = order === "kind first" ? { kind, sessionId: "sess_1" } : { sessionId: "sess_1", kind };
    return `${JSON.stringify({ ...head, ...named, ...fields })}\n`;
  });
  writeFileSync(join(folder, "events.jsonl"), lines.join(""));
  return home;
}

for (const [what, records, length] of CASES) {
  for (const order of ["kind first", "session first"] as const) {
    test(`a call is exported once, with its last input and its result: ${what} (${order})`, async (t) => {
      const home = recording(t, records, order);
      const store = openStore(home);
      const ref = await store.find(sid("sess_1"));
      assert.ok(ref);
      const options = { format: "json", subagents: false, reasoning: false } as const;
      const document = await exportDocument({ store, ref, source: "daemon" }, options, { folder: join(home, "cache") });
      const { meta, messages } = await readExport(document);
      const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
      const results = messages.filter(({ role }) => role === "tool");
      assert.equal(meta.toolCallCount, 1);
      assert.deepEqual(
        calls.map(({ id, name, input }) => [id, name, (input as { v: string }).v.length]),
        [["a", "Write", length]],
      );
      assert.deepEqual(
        results.map(({ toolName, toolCallId, text = "" }) => [toolName, toolCallId, text.slice(0, 4)]),
        [["Write", "a", "done"]],
      );
    });
  }
}
