import assert from "node:assert/strict";
import { test } from "node:test";
import type { EpochMs } from "../../../src/platform/clock.ts";
import { NO_TAIL, TailReader } from "../../../src/stores/claude/child-facts.ts";
import { childStatus, type StatusFacts } from "../../../src/stores/claude/statuses.ts";
import type { ChildStatus } from "../../../src/stores/store.ts";

const at = 1_000 as EpochMs;
const later = 2_000 as EpochMs;
const ended = (status: string) => ({ at, status });
const meta = { finished: false, recent: true };
const nothing: StatusFacts = { told: undefined, result: undefined, meta: undefined, tail: NO_TAIL, live: false };

const TABLE: readonly (readonly [string, Partial<StatusFacts>, ChildStatus])[] = [
  ["told that it completed", { told: ended("completed") }, "done"],
  [
    "told that it failed, though the call's result looks fine",
    { told: ended("failed"), result: ended("completed") },
    "failed",
  ],
  ["told that it was stopped", { told: ended("stopped") }, "interrupted"],
  ["told that it was killed", { told: ended("killed") }, "interrupted"],
  ["told a word that is not known", { told: ended("paused") }, "unknown"],
  [
    "given another prompt since it was told, in a session that is open",
    { told: ended("completed"), tail: { ...NO_TAIL, promptAt: later, open: true }, live: true },
    "running",
  ],
  ["the result of its call", { result: ended("completed") }, "done"],
  ["a result that is an API error", { result: ended("completed"), tail: { ...NO_TAIL, failed: true } }, "failed"],
  ["a result that says it failed", { result: ended("failed") }, "failed"],
  ["finished, as its meta file says", { meta: { ...meta, finished: true } }, "done"],
  ["finished with an API error", { meta: { ...meta, finished: true }, tail: { ...NO_TAIL, failed: true } }, "failed"],
  ["in the middle of a turn, its session open", { tail: { ...NO_TAIL, open: true }, live: true }, "running"],
  ["at the end of a turn, its session open", { live: true, meta }, "unknown"],
  ["in the middle of a turn, its session closed", { tail: { ...NO_TAIL, open: true }, meta }, "interrupted"],
  [
    "in the middle of an answer, its session open",
    { tail: { ...NO_TAIL, unstopped: true }, live: true, meta },
    "running",
  ],
  ["in the middle of an answer, its session closed", { tail: { ...NO_TAIL, unstopped: true }, meta }, "interrupted"],
  [
    "at the end of an answer, of a release that does not say why it stopped",
    { tail: { ...NO_TAIL, unstopped: true }, live: true },
    "unknown",
  ],
  [
    "in the middle of a turn, of a release that registers no processes",
    { tail: { ...NO_TAIL, open: true } },
    "unknown",
  ],
  ["nothing at all", {}, "unknown"],
];

test("a turn is open after a prompt, a call and an output, and an answer ends it if it says why the model stopped", () => {
  const message = (stop_reason: string | null) => ({ type: "assistant", message: { stop_reason, content: [] } });
  const reader = new TailReader();
  const standing = [{ type: "user", message: { content: "go" } }, message(null), message("end_turn")].map((record) => {
    reader.next(record);
    const { open, unstopped } = reader.tail();
    return { open, unstopped };
  });
  assert.deepEqual(standing, [
    { open: true, unstopped: false },
    { open: false, unstopped: true },
    { open: false, unstopped: false },
  ]);
});

for (const [what, facts, status] of TABLE) {
  test(`a subagent is ${status}: ${what}`, () => assert.equal(childStatus({ ...nothing, ...facts }), status));
}
