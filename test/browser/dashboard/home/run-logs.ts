import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HOSTILE_TEXT } from "./hostile.ts";
import { WHERE } from "./where.ts";

const HOUR = 3_600_000;
const INDENT = " ".repeat(9);

/** A run to be written. */
interface ToldRun {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly prompt: string;
  readonly hoursAgo: number;
  /** How it ended; undefined: it says nothing of an end. */
  readonly outcome?: string;
  readonly steps?: number;
  readonly archived?: boolean;
  readonly more?: object;
  /** Of the job. */
  readonly status: string;
}

/** Writes runs and jobs of every state into our own folder in `home`; one runs, by this process. */
export function writeRunLogs(home: string, now: number): void {
  const folder = join(home, ".agent-bridge");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const runs = toldRuns(join(home, "work/shop"));
  for (const run of runs) writeRun(folder, run, now);
  const jobs = runs.map((run) => jobOf(run, now, run.status === "running"));
  const lost = {
    id: "0f0f0f0f",
    name: "codex-job-0f0f0f0f",
    agent: "codex",
    prompt: "Look into what was lost.",
    status: "done",
  };
  const times = { startedAt: now - 90 * HOUR, finishedAt: now - 89 * HOUR };
  writeFileSync(join(folder, "jobs.json"), JSON.stringify({ version: 2, jobs: [...jobs, { ...lost, ...times }] }), {
    mode: 0o600,
  });
}

function toldRuns(workdir: string): readonly ToldRun[] {
  const worktree = { workdir, branch: "agent-bridge/4be1a7d2", baseBranch: "main", repoRoot: workdir };
  const first = { ...worktree, model: "model-x", effort: "high", session: WHERE.codex, percent: 100 };
  return [
    {
      id: "aaaa0001",
      agent: "claude",
      title: "Keep the tests green",
      prompt: "Run the tests.",
      hoursAgo: 0,
      steps: 30,
      more: { workdir, percent: 40, session: WHERE.live },
      status: "running",
    },
    {
      id: "4be1a7d2",
      agent: "codex",
      title: "Split the parser",
      prompt: "Tidy the parser\nand add tests.",
      hoursAgo: 2,
      outcome: "done",
      steps: 400,
      more: first,
      status: "done",
    },
    {
      id: "4be1a7d3",
      agent: "codex",
      title: "Split it further",
      prompt: "Go on.",
      hoursAgo: 1,
      outcome: "failed: the model is overloaded",
      more: { ...first, continues: WHERE.codex },
      status: "failed",
    },
    {
      id: "aaaa0002",
      agent: "hermes",
      title: "لخّص الملاحظات",
      prompt: "لخّص الملاحظات المفتوحة.",
      hoursAgo: 20,
      outcome: "cancelled",
      more: { workdir },
      status: "interrupted",
    },
    {
      id: "aaaa0003",
      agent: "opencode",
      title: "Without an end",
      prompt: "Begin.",
      hoursAgo: 26,
      more: { workdir },
      status: "running",
    },
    {
      id: "aaaa0004",
      agent: "codex",
      title: "Long ago",
      prompt: "Clean up.",
      hoursAgo: 300,
      outcome: "done",
      archived: true,
      more: { workdir },
      status: "done",
    },
    {
      id: "aaaa0005",
      agent: "codex",
      title: HOSTILE_TEXT,
      prompt: HOSTILE_TEXT,
      hoursAgo: 3,
      outcome: HOSTILE_TEXT.replaceAll(/[\r\n]+/g, " "),
      more: { workdir: "/srv/<b>", branch: "<img src=x>", by: "<script>window.ran=1</script>" },
      status: "failed",
    },
  ];
}

function writeRun(folder: string, run: ToldRun, now: number): void {
  const { id, agent, title, prompt, hoursAgo, outcome, steps = 5, archived = false, more } = run;
  const start = now - hoursAgo * HOUR - 173_000;
  const stamp = new Date(start).toISOString().slice(0, 19).replace(/[T:]/g, "-");
  const path = join(folder, "runs", archived ? "archive" : "", `${stamp}-${agent}-${id}`);
  const clock = (seconds: number): string => new Date(start + seconds * 1000).toISOString().slice(11, 19);
  const said = prompt.replaceAll(/\r\n|\n|\r/g, `\n${INDENT}`);
  const log = [
    `${clock(0)} ${agent} (model-x, effort high) in /srv/shop, access edit, by claude-shop\n`,
    `${INDENT}${said}\n${INDENT}---\n${clock(1)} started\n`,
    ...Array.from(
      { length: steps },
      (_, step) => `${clock(step + 2)} ${step + 2}s · step ${step + 1} (1 cmds) · running: npm test\n`,
    ),
    `${clock(170)} answer: ${said}\n${INDENT}${"A line of the answer. ".repeat(20)}\n`,
    ...(outcome === undefined ? [] : [`${clock(173)} finished after 173s · ${outcome}\n`]),
  ];
  const metadata = {
    metadataVersion: 2,
    version: 2,
    by: "claude-shop",
    byAgent: "claude",
    job: `${agent}-job-${id}`,
    title,
    access: "edit",
  };
  mkdirSync(dirname(path), { recursive: true });
  writeAt(`${path}.log`, log.join(""), start + 173_000);
  writeAt(`${path}.json`, JSON.stringify({ ...metadata, jobStartedAt: start, ...more }), start + 173_000);
}

function jobOf({ id, agent, title, prompt, hoursAgo, status }: ToldRun, now: number, runs: boolean): object {
  const startedAt = now - hoursAgo * HOUR - 173_000;
  const isOver = runs
    ? { host: { pid: process.pid, peer: "claude-shop", startedAt: now } }
    : { finishedAt: startedAt + 173_000 };
  const job = {
    id,
    name: `${agent}-job-${id}`,
    agent,
    prompt,
    startedAt,
    status,
    args: { title },
    owner: "claude-shop",
  };
  return { ...job, ...isOver };
}

function writeAt(path: string, content: string, ms: number): void {
  writeFileSync(path, content, { mode: 0o600 });
  utimesSync(path, ms / 1000, ms / 1000);
}
