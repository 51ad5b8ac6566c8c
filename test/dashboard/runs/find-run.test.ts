import assert from "node:assert/strict";
import { test } from "node:test";
import { findRun, type ReadRuns } from "../../../src/dashboard/app/runs/find-run.ts";
import { compareRuns } from "../../../src/dashboard/app/runs/run-list.ts";
import type { Run } from "../../../src/dashboard/app/wire.ts";
import { formatRunCursor, keyPage, parseRunCursor } from "../../../src/runs/page.ts";
import { run } from "./run.ts";

/** Reads these runs as the API does, and counts how often. */
function pages(runs: readonly Run[]): { readonly read: ReadRuns; readonly asked: string[] } {
  const sorted = [...runs].sort(compareRuns);
  const asked: string[] = [];
  const read: ReadRuns = async (before, limit) => {
    asked.push(`${before} ${limit}`);
    const { keys } = keyPage(sorted, before === undefined ? undefined : parseRunCursor(before), limit);
    const last = keys.at(-1);
    const next = last === undefined || last === sorted.at(-1) ? null : formatRunCursor(last);
    return { runs: keys as readonly Run[], next, total: sorted.length };
  };
  return { read, asked };
}

const AT = Date.parse("2026-03-02T10:20:30.000Z");
const named = (id: string) => `2026-03-02-10-20-30-claude-${id}`;

test("a run is found at once by the time in its name, also among others of that second", async () => {
  const { read, asked } = pages([
    ...["0000000a", "0000000b", "0000000c"].map((id) => run(named(id), AT)),
    run("x", AT + 1),
  ]);
  const found = await findRun(named("0000000b"), undefined, read);
  assert.equal(found?.name, named("0000000b"));
  assert.equal(asked.length, 1);
});

test("a run whose name tells no time is found at once where its time is known, else by going through the list", async () => {
  const many = Array.from({ length: 1_200 }, (_, i) => run(`job-${i}`, 10_000 - i));
  const known = pages(many);
  assert.equal((await findRun("job-1100", 8_900, known.read))?.name, "job-1100");
  assert.equal(known.asked.length, 1);
  const unknown = pages(many);
  assert.equal((await findRun("job-1100", undefined, unknown.read))?.name, "job-1100");
  assert.equal(unknown.asked.length, 3);
});

test("a run that there is not is not found", async () => {
  assert.equal(await findRun(named("0000000a"), undefined, pages([run("x", AT)]).read), undefined);
  assert.equal(await findRun("y", undefined, pages([]).read), undefined);
});
