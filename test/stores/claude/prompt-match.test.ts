import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { matchByPrompt } from "../../../src/stores/claude/prompt-match.ts";

type At = readonly [id: string, at: number | undefined];

const TABLE: readonly (readonly [string, readonly At[], readonly At[], { [call: string]: string }])[] = [
  [
    "parallel calls take them in the order they began",
    [
      ["A", 0],
      ["B", 100],
    ],
    [
      ["y", 110],
      ["x", 10],
    ],
    { A: "x", B: "y" },
  ],
  [
    "calls made one after another take their own",
    [
      ["A", 0],
      ["B", 60_000],
    ],
    [
      ["x", 10],
      ["y", 60_010],
    ],
    { A: "x", B: "y" },
  ],
  [
    "those that began late are matched in order too",
    [
      ["A", 0],
      ["B", 100],
    ],
    [
      ["x", 6_000],
      ["y", 6_100],
    ],
    { A: "x", B: "y" },
  ],
  [
    "one that began late belongs to the last call before it",
    [
      ["A", 0],
      ["B", 60_000],
    ],
    [["x", 66_000]],
    { B: "x" },
  ],
  [
    "one is used once",
    [
      ["A", 0],
      ["B", 100],
    ],
    [["x", 200]],
    { A: "x" },
  ],
  [
    "a call starts one",
    [["A", 0]],
    [
      ["x", 10],
      ["y", 20],
    ],
    { A: "x" },
  ],
  ["none began before its call", [["A", 60_000]], [["x", 10]], {}],
  [
    "what states no time is matched last",
    [
      ["A", 0],
      ["B", undefined],
    ],
    [
      ["x", 10],
      ["y", undefined],
    ],
    { A: "x", B: "y" },
  ],
];

for (const [what, calls, subagents, expected] of TABLE) {
  test(`of subagents with one prompt, ${what}`, () => {
    const timed = (list: readonly At[]) => list.map(([id, at]) => ({ id, at: at as EpochMs | undefined }));
    const matched = matchByPrompt(timed(calls), timed(subagents));
    assert.deepEqual(Object.fromEntries([...matched].map(([call, { id }]) => [call, id])), expected);
  });
}
