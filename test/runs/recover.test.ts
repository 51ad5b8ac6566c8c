import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Breather } from "../../src/platform/breather.ts";
import { type Job, logTails, mergedJob } from "../../src/runs/job.ts";
import { JobTails } from "../../src/runs/recover.ts";

const jobOf = (agent: string, id: string): Job => mergedJob(undefined, `${agent}/${id}`, { agent, id }, true);

test("a log is of every job whose agent and id its name ends in, the longest ending first", async () => {
  const jobs = [jobOf("code", "1-a"), jobOf("codex", "a"), jobOf("x-code", "1-a"), jobOf("claude", "a")];
  const tails = await JobTails.of(jobs, new Breather());
  const named = (name: string): string[] => tails.matching(name).map((job) => job.name);
  assert.deepEqual(named("stamp-x-code-1-a"), ["x-code/1-a", "code/1-a"]);
  assert.deepEqual(named("stamp-claude-code-a"), ["claude/a"]);
  assert.deepEqual([named("codex-a"), named("-codex-a"), named("acodex-a"), named("")], [[], ["codex/a"], [], []]);
});

test("jobs of a log are those whose tail it ends in", async () => {
  const part = fc.stringMatching(/^[ab-]{1,4}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(part, part), { maxLength: 8 }),
      fc.stringMatching(/^[ab-]{1,9}$/),
      async (pairs, name) => {
        const jobs = pairs.map(([agent, id]) => jobOf(agent, id));
        const expected = jobs.filter((job) => logTails(job).some(({ tail }) => name.endsWith(tail)));
        const found = (await JobTails.of(jobs, new Breather())).matching(name);
        assert.deepEqual(new Set(found), new Set(expected));
        assert.equal(found.length, expected.length);
      },
    ),
  );
});
