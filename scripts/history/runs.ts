import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A home with runs that were written to be measured. */
export interface WrittenRuns {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly count: number;
}

/** Runs of one job. */
const RUNS_A_JOB = 4;
const INDENT = " ".repeat(9);

/**
 * Writes `count` finished runs into `bridgeHome`, three a minute, every other one archived, and their jobs into `jobs.json`.
 * `jobs`: `named` leaves it to the names of the logs to tell of which job they are; `told` lets only metadata tell.
 */
export function writeRuns(bridgeHome: string, count: number, jobs: "named" | "told"): WrittenRuns {
  const end = Math.floor(Date.now() / 1000) - 86_400;
  mkdirSync(join(bridgeHome, "runs", "archive"), { recursive: true, mode: 0o700 });
  const records: object[] = [];
  for (let i = 0; i < count; i++) {
    const at = end - (count - i) * 20;
    const jobId = hex(Math.floor(i / RUNS_A_JOB));
    const job = `codex-job-${jobId}`;
    const id = jobs === "named" ? jobId : hex(0xf0000000 + i);
    const stamp = new Date(at * 1000).toISOString().slice(0, 19).replace(/[T:]/g, "-");
    const path = join(bridgeHome, "runs", i % 2 === 0 ? "" : "archive", `${stamp}-codex-${id}`);
    writeAt(`${path}.log`, logText(i), at + 173);
    writeAt(`${path}.json`, JSON.stringify(metadataOf(job, jobId)), at + 173);
    if (i % RUNS_A_JOB === 0) {
      records.push({
        id: jobId,
        name: job,
        agent: "codex",
        prompt: `Prompt ${i}. `.repeat(20),
        startedAt: at * 1000,
        status: "done",
      });
    }
  }
  writeAt(join(bridgeHome, "jobs.json"), JSON.stringify({ version: 2, jobs: records }), end);
  for (const folder of ["runs/archive", "runs", ""]) utimesSync(join(bridgeHome, folder), end, end);
  return { bridgeHome, count };
}

/** Writes `count` jobs into the overflow archive of `bridgeHome` that no log tells of: each is a run of its own. */
export function writeLostJobs(bridgeHome: string, count: number): void {
  const end = Math.floor(Date.now() / 1000) - 86_400;
  const jobs = Array.from({ length: count }, (_, i) => ({
    id: `lost-${i}`,
    name: `lost-${i}`,
    agent: "codex",
    prompt: `Prompt ${i}.`,
    startedAt: (end - i) * 1000,
    status: "done",
  }));
  writeAt(join(bridgeHome, "jobs.json.overflow.json"), JSON.stringify({ version: 2, jobs }), end);
  utimesSync(bridgeHome, end, end);
}

function logText(i: number): string {
  const steps = Array.from(
    { length: 20 },
    (_, k) => `14:05:${String(10 + k)} ${k}s · step ${k} (1 cmds) · running: npm test\n`,
  );
  return [
    "14:05:09 codex (model-x, effort high) in /srv/shop, access edit, by claude-shop\n",
    `${INDENT}Prompt ${i} of a run.\n${INDENT}And more of it.\n${INDENT}---\n`,
    ...steps,
    `14:08:02 answer: ${"A line of an answer.\n".repeat(10).replaceAll("\n", `\n${INDENT}`).trimEnd()}\n`,
    "14:08:02 finished after 173s · done\n",
  ].join("");
}

function metadataOf(job: string, id: string): object {
  const worktree = {
    workdir: `/home/u/wt/shop-${id}`,
    branch: `agent-bridge/${id}`,
    baseBranch: "main",
    repoRoot: "/srv/shop",
  };
  return { metadataVersion: 2, version: 2, by: "claude-shop", job, title: "A title", access: "edit", ...worktree };
}

function writeAt(path: string, content: string, seconds: number): void {
  writeFileSync(path, content, { mode: 0o600 });
  utimesSync(path, seconds, seconds);
}

function hex(number: number): string {
  return number.toString(16).padStart(8, "0");
}
