import type { EpochMs } from "../platform/clock.ts";
import { asObject, asText, type JsonObject } from "../platform/read.ts";
import { clip, oneLine } from "../transcript/clip.ts";
import { hostOf, type Job, jobAgent, jobStart, timeOf } from "./job.ts";
import type { LogFacts } from "./log-file.ts";
import { type NamedRun, publicAgent, type RunStatus } from "./names.ts";

/** A run as lists show it; every key of its metadata stands beside these. Times in ms since the epoch. */
export interface RunSummary {
  readonly [key: string]: unknown;
  readonly name: string;
  /** Null when neither name, metadata nor job tells. */
  readonly agent: string | null;
  readonly header: string;
  readonly startedAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly status: RunStatus;
  /** The last entry of its log on one line, at most 300 characters. */
  readonly last: string;
  /** The prompt on one line, at most 300 characters. */
  readonly task: string;
  readonly by: string | null;
  readonly workdir: string | null;
  readonly continues: string | null;
  readonly archived: boolean;
  readonly recovered: boolean;
  readonly hasLog: boolean;
}

/** What a run's summary is made of. */
export interface RunFacts {
  readonly name: string;
  readonly named: NamedRun;
  readonly startedAt: EpochMs;
  readonly archived: boolean;
  /** When the log was last written. */
  readonly updatedAt: EpochMs;
  /** Undefined: the log can't be read. */
  readonly log: LogFacts | undefined;
  readonly metadata: JsonObject | undefined;
  readonly job: Job | undefined;
}

/** What tells whether something still runs. */
export interface Liveness {
  readonly now: EpochMs;
  /** Whether that very process still runs. */
  alive(process: NonNullable<ReturnType<typeof hostOf>>): boolean;
}

/** A log that was not written for so long, and does not say how it ended, was interrupted: its writer writes every 60 s. */
export const QUIET_MS = 150_000;

const PREVIEW = 300;
const NO_LOG: LogFacts = { header: "", task: "", last: "" };

/** The summary of a run that has a log. */
export function runSummary(facts: RunFacts, liveness: Liveness): RunSummary {
  const { name, named, startedAt, updatedAt, archived, metadata, job, log = NO_LOG } = facts;
  const agent = named.agent ?? asText(metadata?.agent) ?? (job && jobAgent(job)) ?? log.agent;
  return {
    ...(job !== undefined && { job: job.name }),
    ...metadata,
    name,
    agent: agent === undefined ? null : publicAgent(agent),
    header: log.header,
    startedAt,
    updatedAt,
    status: log.outcome ?? unfinishedStatus(facts, liveness),
    last: preview(log.last),
    task: preview(log.task),
    by: asText(metadata?.by) ?? log.by ?? null,
    workdir: asText(metadata?.workdir) ?? log.workdir ?? null,
    continues: asText(metadata?.continues) ?? log.continues ?? null,
    archived,
    recovered: false,
    hasLog: true,
  };
}

/** Whether a log was written so lately that it may still grow. */
export function isFresh(updatedAt: number, now: number): boolean {
  return Math.abs(now - updatedAt) < QUIET_MS;
}

/** The session that a run's chat is in. */
export function runSession(metadata: JsonObject | undefined, job: Job | undefined): string | undefined {
  return asText(metadata?.sessionId) ?? asText(metadata?.session) ?? job?.session;
}

/** The summary of a job that has no log: a run of its own. */
export function recoveredSummary(job: Job): RunSummary {
  const { name, fields, session = null, active } = job;
  const [args, worktree] = [asObject(fields.args), asObject(fields.worktree)];
  const prompt = asText(fields.prompt) ?? "";
  const owner = asText(fields.owner) ?? asText(fields.by) ?? null;
  const startedAt = jobStart(job);
  const finishedAt = timeOf(fields.finishedAt) ?? null;
  return {
    job: name,
    model: asText(fields.model) ?? null,
    title: asText(args?.title) ?? asText(fields.title) ?? null,
    prompt,
    owner,
    session,
    sessionId: session,
    finishedAt,
    worktree: worktree ?? null,
    branch: asText(worktree?.branch) ?? asText(fields.branch) ?? null,
    ...(asText(fields.parentJob) !== undefined && { parentJob: fields.parentJob }),
    ...(asText(fields.rootSession) !== undefined && { rootSession: fields.rootSession }),
    name,
    agent: jobAgent(job) ?? null,
    header: "",
    startedAt,
    updatedAt: timeOf(fields.updatedAt) ?? finishedAt ?? startedAt,
    status: job.status === "done" || job.status === "failed" ? job.status : "interrupted",
    last: "",
    task: preview(oneLine(prompt)),
    by: owner,
    workdir: asText(fields.workdir) ?? asText(worktree?.cwd) ?? asText(args?.cwd) ?? null,
    continues: asText(fields.continues) ?? null,
    archived: !active,
    recovered: true,
    hasLog: false,
  };
}

/** A job as it is shown: every field of its records, with a status that something proves. */
export type JobSummary = JsonObject & { readonly name: string; readonly status: RunStatus };

/** `logRuns`: one of its logs is of a run that is running. */
export function jobSummary(job: Job, logRuns: boolean, { alive }: Liveness): JobSummary {
  return { ...job.fields, name: job.name, status: jobStatus(job, logRuns, alive) };
}

function jobStatus(job: Job, logRuns: boolean, alive: Liveness["alive"]): RunStatus {
  if (job.status === "done" || job.status === "failed") return job.status;
  if (job.status !== "running" || !job.active) return "interrupted";
  const host = hostOf(job.fields);
  return (host === undefined ? logRuns : alive(host)) ? "running" : "interrupted";
}

function unfinishedStatus({ updatedAt, metadata, job }: RunFacts, { now, alive }: Liveness): RunStatus {
  if (!isFresh(updatedAt, now)) return "interrupted";
  const host = hostOf(metadata) ?? hostOf(job?.fields);
  return host === undefined || alive(host) ? "running" : "interrupted";
}

function preview(text: string): string {
  return clip(text, PREVIEW).text;
}
