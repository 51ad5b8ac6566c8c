// Writes jobs and runs to the home given as its argument until it is killed or has written as many as it is told, and says on
// stdout what is done: what is said there must be there afterwards.
//
//   node test/runs/writing.ts HOME PREFIX COUNT

import { writeSync } from "node:fs";
import { systemClock } from "../../src/platform/clock.ts";
import { systemTimer } from "../../src/platform/timer.ts";
import { archiveRuns } from "../../src/runs/archive.ts";
import { changeJob } from "../../src/runs/job-store.ts";
import { writeRun } from "../../src/runs/write.ts";

const [, , bridgeHome = "", prefix = "", count = "0"] = process.argv;
const tools = {
  bridgeHome,
  clock: systemClock,
  timer: systemTimer,
  wait: { waitMs: 60_000, tryEveryMs: 2 },
  fault(error: unknown): void {
    throw error;
  },
};
const say = (...words: string[]): void => void writeSync(1, `${words.join(" ")}\n`);

say("ready");
for (let i = 0; i < Number(count); i++) {
  const id = `${prefix}${i.toString(16).padStart(4, "0")}`;
  const job = `codex-job-${id}`;
  await changeJob(tools, job, () => ({ id, agent: "codex", status: "running", startedAt: systemClock.now() }));
  say("job", job, "running");
  const start = {
    agent: "codex",
    id,
    workdir: "/srv/shop",
    access: "edit",
    by: "a-peer",
    prompt: `Prompt of ${id}\n${"説明書 ".repeat(200)}`,
    metadata: { job },
  } as const;
  const name = await writeRun(tools, start, async (run) => {
    say("run", run.name);
    await run.note(`answer: ${"line\n".repeat(50)}`);
    await run.update({ percent: 50 });
    return "done";
  });
  say("finished", name);
  await changeJob(tools, job, () => ({ status: "done", finishedAt: systemClock.now() }));
  say("job", job, "done");
  await archiveRuns(tools, 5);
}
say("end");
