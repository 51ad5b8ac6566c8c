import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { Breather } from "../../src/platform/breather.ts";
import { type Job, jobAgent, logTails, mergedJob } from "../../src/runs/job.ts";
import { JobTails } from "../../src/runs/recover.ts";
import { temporaryFolder } from "../platform/folder.ts";
import { finishedLog, inventoryOf, put } from "./home.ts";

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

test("a job's record that names no agent tells it by the job's name, or by the id of a thread", () => {
  const agentOf = (name: string, fields: object): string | undefined =>
    jobAgent(mergedJob(undefined, name, { ...fields }, true));
  assert.equal(agentOf("j", { threadId: "t" }), "codex");
  assert.equal(agentOf("claude-code-job-4be1a7d2", { threadId: "t" }), "claude");
  assert.equal(agentOf("codex-job-4be1a7d2", { agent: "opencode" }), "opencode");
  for (const fields of [{}, { threadId: "" }, { sessionId: "s" }])
    assert.equal(agentOf("codex-job-4be1", fields), undefined);
});

test("a job whose record has no agent and no id is not recovered beside the log that its name leads to", async (t) => {
  const home = join(temporaryFolder(t), "home");
  put(home, "runs/2026-10-06-08-30-00-codex-4be1a7d2.log", finishedLog("x"));
  put(home, "jobs.json", [
    { name: "codex-job-4be1a7d2", threadId: "thread" },
    { name: "other", threadId: "second" },
  ]);
  const inventory = inventoryOf(home, Date.UTC(2026, 9, 6, 9));
  const { runs } = await inventory.page(undefined);
  assert.deepEqual(
    runs.map(({ name, agent, job }) => [name, agent, job]),
    [
      ["2026-10-06-08-30-00-codex-4be1a7d2", "codex", "codex-job-4be1a7d2"],
      ["other", "codex", "other"],
    ],
  );
  assert.equal((await inventory.run("2026-10-06-08-30-00-codex-4be1a7d2"))?.session, "thread");
  assert.equal((await inventory.job("other"))?.agent, "codex");
});
