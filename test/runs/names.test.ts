import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../src/platform/clock.ts";
import { namedRun, runFileOf, runName } from "../../src/runs/names.ts";

const UUID = "6f1c2b3a-4d5e-4f60-8a7b-9c0d1e2f3a4b";

test("a file's run is told by its name, in the archive also under a suffix", () => {
  const cases: readonly (readonly [file: string, archived: boolean, expected: unknown])[] = [
    ["x.log", false, { name: "x", kind: "log" }],
    ["x.json", false, { name: "x", kind: "metadata" }],
    ["a.b-c_1.log", false, { name: "a.b-c_1", kind: "log" }],
    [`x.log-1790000200000-${UUID}`, false, undefined],
    [`x.log-1790000200000-${UUID}`, true, { name: "x", kind: "log", number: 1790000200000 }],
    [`x.json-1790000200417-${UUID}`, true, { name: "x", kind: "metadata", number: 1790000200417 }],
    ["x.log-1790000200000-7", true, { name: "x", kind: "log", number: 1790000200000 }],
    ["x.log-old", true, { name: "x", kind: "log" }],
    ["x.log", true, { name: "x", kind: "log" }],
    ["x.log-1-a.log-2-b", true, { name: "x.log-1-a", kind: "log", number: 2 }],
    [".x.json.0123456789ab.tmp", false, undefined],
    [".x.log", false, undefined],
    ["a b.log", false, undefined],
    ["x.txt", false, undefined],
    [".log", false, undefined],
  ];
  for (const [file, archived, expected] of cases) assert.deepEqual(runFileOf(file, archived), expected, file);
});

test("the name of a run gives its time, its agent and its job's id", () => {
  const at = Date.UTC(2026, 9, 5, 14, 5, 9);
  assert.deepEqual(namedRun("2026-10-05-14-05-09-codex-4be1a7d2"), { startedAt: at, agent: "codex", id: "4be1a7d2" });
  assert.deepEqual(namedRun("2026-10-05-14-05-09-claude-code-4be1a7d2"), {
    startedAt: at,
    agent: "claude-code",
    id: "4be1a7d2",
  });
  assert.deepEqual(namedRun("2026-10-05-14-05-09-codex"), { startedAt: at });
  assert.deepEqual(namedRun("2026-10-05-14-05-09"), { startedAt: at });
  for (const name of [
    "2026-13-05-14-05-09-codex-4be1a7d2",
    "2026-04-31-14-05-09-a-4be1a7d2",
    "2026-10-05-14-05-091-a",
  ]) {
    assert.deepEqual(namedRun(name), {}, name);
  }
  assert.equal(runName((at + 999) as EpochMs, "codex", "4be1a7d2"), "2026-10-05-14-05-09-codex-4be1a7d2");
});
