import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BytePool } from "../../../src/jsonl/buffers.ts";
import { byteOffsetOf } from "../../../src/jsonl/cursor.ts";
import { bytesSource } from "../../../src/jsonl/source.ts";
import { Before } from "../../../src/stores/codex/look.ts";
import { LOOK_BACK_BYTES } from "../../../src/transcript/limits.ts";
import { agentEvent, call, line, linesOf, output } from "./home.ts";

/** Records as a file has them, and where each starts. */
class Records {
  readonly bytes: Buffer;
  readonly starts: readonly number[];

  constructor(records: readonly unknown[]) {
    const lines = records.map((record) => Buffer.from(linesOf([record])));
    this.bytes = Buffer.concat(lines);
    const starts = [0];
    for (const { length } of lines) starts.push((starts.at(-1) ?? 0) + length);
    this.starts = starts.slice(0, -1);
  }

  before(): Before {
    return new Before(bytesSource(this.bytes), new BytePool());
  }
}

/** Bytes that searches go through, at most: all that stand before where each begins. */
function countSearched(t: TestContext): () => number {
  let searched = 0;
  const { lastIndexOf } = Buffer.prototype;
  t.mock.method(Buffer.prototype, "lastIndexOf", function (this: Buffer, needle: Buffer, from?: number) {
    const found = lastIndexOf.call(this, needle, from);
    searched += (from ?? this.length) - Math.max(0, found);
    return found;
  });
  return () => searched;
}

const REASONING = line(1, "response_item", { type: "reasoning", summary: [], encrypted_content: "e".repeat(50_000) });
const filler = (bytes: number): object[] => Array(Math.ceil(bytes / 50_000)).fill(REASONING);

test("records without a time look through what stands before them once for all", (t) => {
  const records = new Records([agentEvent(7, "timed"), ...Array(20_000).fill({ a: 1 })]);
  const before = records.before();
  const searched = countSearched(t);
  const times = records.starts.slice(1).map((start) => before.time(byteOffsetOf(start)));
  assert.deepEqual([...new Set(times)], [Date.UTC(2026, 10, 30, 9) + 7]);
  assert.ok(searched() < 4 * records.bytes.length, `${searched()} bytes searched`);
});

test("the time of a record is the same whether others were asked before it, also at the window's edge", () => {
  const untimed = { pad: "x".repeat(100_000) };
  const records = new Records([
    agentEvent(1, "far"),
    ...Array(Math.ceil(LOOK_BACK_BYTES / 100_000) + 5).fill(untimed),
    { timestamp: "no time" },
    agentEvent(2, "near"),
    ...Array(30).fill({ type: "x", payload: { timestamp: "2026-11-30T10:00:00Z" } }),
    untimed,
  ]);
  const before = records.before();
  for (const start of records.starts) {
    const at = byteOffsetOf(start);
    assert.equal(before.time(at), records.before().time(at), `at ${start}`);
  }
  const last = byteOffsetOf(records.starts.at(-1) ?? 0);
  assert.equal(before.time(last), Date.UTC(2026, 10, 30, 9) + 2);
});

test("outputs without their calls go through the window a few times, however many they are", (t) => {
  const records = new Records([
    ...Array.from({ length: 500 }, (_, n) => call(n, `other-${n}`, "shell", { command: `ls ${n}` })),
    ...filler(LOOK_BACK_BYTES),
    ...Array.from({ length: 3000 }, (_, n) => output(n, `none-${n}`, "out")),
  ]);
  const before = records.before();
  const searched = countSearched(t);
  const outputs = records.starts.slice(-3000);
  assert.deepEqual(
    outputs.flatMap((start, n) => before.call(`none-${n}`, byteOffsetOf(start)) ?? []),
    [],
  );
  assert.ok(searched() < 8 * LOOK_BACK_BYTES, `${searched()} bytes searched`);
});

test("a call far back is found by each of many outputs as by one alone", () => {
  const count = 200;
  const records = new Records([
    ...Array.from({ length: count }, (_, n) => call(n, `c${n % 150}`, `tool${n}`, {})),
    ...filler(500_000),
    ...Array.from({ length: count }, (_, n) => output(n, `c${n}`, "out")),
  ]);
  const before = records.before();
  for (const [n, start] of records.starts.slice(-count).entries()) {
    const at = byteOffsetOf(start);
    const expected = n < 50 ? `tool${n + 150}` : n < 150 ? `tool${n}` : undefined;
    assert.equal(before.call(`c${n}`, at)?.tool, expected);
    assert.equal(records.before().call(`c${n}`, at)?.tool, expected);
  }
});

test("a call is found behind any number of records that name its id, and not beyond the window", () => {
  const named = Array.from({ length: 40 }, (_, n) => output(n, "c", "out"));
  const near = new Records([call(0, "c", "shell", {}), ...named]);
  assert.equal(near.before().call("c", byteOffsetOf(near.starts.at(-1) ?? 0))?.tool, "shell");
  const far = new Records([call(0, "c", "shell", {}), ...filler(LOOK_BACK_BYTES), ...named]);
  assert.equal(far.before().call("c", byteOffsetOf(far.starts.at(-1) ?? 0)), undefined);
});

test("a line too long to be a record is passed over in one step, whatever it holds", (t) => {
  const long = line(1, "compacted", {
    replacement_history: Array(20_000).fill({ type: "function_call", call_id: "c" }),
  });
  const records = new Records([call(0, "c", "shell", {}), long, ...filler(200_000), output(2, "c", "out")]);
  const searched = countSearched(t);
  const before = records.before();
  assert.equal(before.call("c", byteOffsetOf(records.starts.at(-1) ?? 0))?.tool, "shell");
  assert.ok(searched() < 4 * records.bytes.length, `${searched()} bytes searched`);
});
