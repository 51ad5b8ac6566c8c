import assert from "node:assert/strict";
import { test } from "node:test";
import { continuedRun, outcomeOf, sessionPlace, titleOf, tookMs } from "../../../src/dashboard/app/runs/run-facts.ts";
import { run } from "./run.ts";

test("a run is called by its title, its prompt, its header or its name, whichever can be seen first", () => {
  assert.equal(titleOf(run("a", 1, { title: "A title" })), "A title");
  assert.equal(titleOf(run("a", 1, { title: "\u202e \u200b" })), "Say hello");
  assert.equal(titleOf(run("a", 1, { title: null, task: "", header: "codex in /srv" })), "codex in /srv");
  assert.equal(titleOf(run("a", 1, { task: "" })), "a");
});

test("how long a run took is told by its saved end, else by when its log was last written", () => {
  assert.equal(tookMs(run("a", 1_000, { finishedAt: 4_000, updatedAt: 9_000 })), 3_000);
  assert.equal(tookMs(run("a", 1_000, { updatedAt: 9_000 })), 8_000);
});

test("nothing is said of how long a run took that still runs, has no known start, or ended before it began", () => {
  assert.equal(tookMs(run("a", 1_000, { status: "running" })), undefined);
  assert.equal(tookMs(run("a", 0)), undefined);
  assert.equal(tookMs(run("a", 9_000, { finishedAt: 4_000 })), undefined);
});

test("how a run ended is told where more is known than its status", () => {
  assert.equal(outcomeOf(run("a", 1)), undefined);
  assert.equal(
    outcomeOf(run("a", 1, { status: "failed", last: "finished after 1s · failed: no key" })),
    "failed: no key",
  );
  assert.equal(
    outcomeOf(run("a", 1, { status: "failed", last: "", error: "no disk", exitCode: 2 })),
    "no disk · exit 2",
  );
  assert.equal(outcomeOf(run("a", 1, { status: "interrupted", last: "step 3" })), "nothing tells how it ended");
  assert.equal(outcomeOf(run("a", 1, { status: "running", last: "step 3" })), undefined);
});

test("a run leads to its session where its agent's sessions can be read", () => {
  assert.deepEqual(sessionPlace(run("a", 1, { session: "s1" })), { view: "session", agent: "claude", id: "s1" });
  assert.equal(sessionPlace(run("a", 1)), undefined);
  assert.equal(sessionPlace(run("a", 1, { session: "s1", agent: "other" })), undefined);
});

test("a run goes on from the newest earlier run of the session that it continues", () => {
  const now = run("d", 9, { continues: "s1", session: "s1" });
  const all = [now, run("e", 12, { session: "s1" }), run("b", 5, { session: "s1" }), run("a", 2, { session: "s1" })];
  assert.equal(continuedRun(now, all)?.name, "b");
  assert.equal(continuedRun(run("d", 9, { continues: "a" }), all)?.name, "a");
  assert.equal(continuedRun(run("d", 9), all), undefined);
});
