import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { MARK } from "../../src/agents/child-variables.ts";
import { ProcessTable } from "../../src/agents/process-table.ts";

/** The variables that a test's programs get. */
export const VARIABLES = { PATH: process.env.PATH ?? "/usr/bin:/bin" };

/** The table that all programs of a test share. */
export const TABLE = new ProcessTable();

/** A mark of this test alone; when the test ends, nothing that has it may be left: what is, is killed, and the test fails. */
export function freshMark(t: TestContext): string {
  const mark = `sess_${randomBytes(4).toString("hex")}`;
  t.after(async () => {
    const left = await marked(mark);
    for (const pid of left) process.kill(pid, "SIGKILL");
    assert.deepEqual(left, [], "nothing is left behind");
  });
  return mark;
}

/** The processes that have the mark. */
export async function marked(mark: string): Promise<number[]> {
  const table = await TABLE.now();
  return table.rows.map(({ pid }) => pid).filter((pid) => table.variableOf(pid, MARK) === mark);
}

/** Comes back when `holds` does; fails after twenty seconds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  for (const start = performance.now(); !holds(); await sleep(10)) {
    assert.ok(performance.now() - start < 20_000, what);
  }
}

/** All that `stream` gives, as text. */
export async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString();
}
