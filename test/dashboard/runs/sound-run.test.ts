import assert from "node:assert/strict";
import { test } from "node:test";
import { soundRun } from "../../../src/dashboard/app/parts/sound-run.ts";
import { endOf, sessionIdOf, titleOf } from "../../../src/dashboard/app/runs/run-facts.ts";
import type { Run } from "../../../src/dashboard/app/wire.ts";
import { run } from "./run.ts";

const WRONG = [5, true, ["a"], { a: 1 }, null];

test("a field of a run's metadata that is no text costs that field alone", () => {
  for (const field of ["job", "title", "model", "session", "sessionId"]) {
    for (const wrong of WRONG) {
      const given = run("a", 1, { job: "j", title: "T", model: "m", session: "s", sessionId: "i", [field]: wrong });
      assert.deepEqual(soundRun(given), { ...given, [field]: undefined }, `${field}: ${JSON.stringify(wrong)}`);
    }
  }
  const damaged = soundRun(
    run("a", 1, { title: 5 as unknown as string, sessionId: {} as unknown as string, session: "s" }),
  );
  assert.equal(titleOf(damaged), "Say hello");
  assert.equal(sessionIdOf(damaged), "s");
});

test("an end that is no time is not told", () => {
  for (const wrong of [...WRONG.filter((one) => one !== 5), "yesterday", 1e300]) {
    const damaged: Run = soundRun(run("a", 1_000, { finishedAt: wrong as number }));
    assert.equal(endOf(damaged), 6_000, JSON.stringify(wrong));
  }
  assert.equal(endOf(soundRun(run("a", 1_000, { finishedAt: 4_000 }))), 4_000);
});

test("a run with nothing amiss is the very run that came", () => {
  const given = run("a", 1, { job: "j", title: "T", worktree: { branch: "b" }, exitCode: 1 });
  assert.equal(soundRun(given), given);
});
