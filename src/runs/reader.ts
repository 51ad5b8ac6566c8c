import type { Breather } from "../platform/breather.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { asText, type JsonObject } from "../platform/read.ts";
import type { Contents, Place } from "./contents.ts";
import { type Job, jobAgent } from "./job.ts";
import { JobTails } from "./recover.ts";
import type { RunFiles, RunFolders } from "./run-files.ts";
import {
  type JobSummary,
  jobSummary,
  type Liveness,
  type RunSummary,
  recoveredSummary,
  runSession,
  runSummary,
} from "./summary.ts";

/** A run or a job, with what its chat is found by. */
export interface Conversation {
  /** By its public name; undefined when nothing tells. */
  readonly agent: string | undefined;
  /** Undefined when none was saved. */
  readonly session: string | undefined;
  /** The recording of the same session, where we made one: `sess_…`. */
  readonly recording?: string | undefined;
}

/** One run. */
export interface FoundRun extends Conversation {
  readonly summary: RunSummary;
  /** Undefined for a recovered job. */
  readonly log: Place | undefined;
}

/** Makes of the files of a run, and of its job, what is shown. */
export class RunReader {
  readonly #folders: RunFolders;
  readonly #contents: Contents;
  readonly #clock: Clock;
  readonly #alive: Liveness["alive"];
  #jobs: ReadonlyMap<string, Job> = new Map();
  #tails = new JobTails();

  constructor(folders: RunFolders, contents: Contents, clock: Clock, alive: Liveness["alive"]) {
    this.#folders = folders;
    this.#contents = contents;
    this.#clock = clock;
    this.#alive = alive;
  }

  /** The jobs that runs may be of, from now on. */
  async know(jobs: ReadonlyMap<string, Job>, breather: Breather): Promise<void> {
    this.#tails = await JobTails.of(jobs.values(), breather);
    this.#jobs = jobs;
  }

  /** The jobs that a run is of, as its name says. */
  get tails(): JobTails {
    return this.#tails;
  }

  /** A run as its files are now; undefined when they are not where they were listed. */
  async read(run: RunFiles): Promise<FoundRun | undefined> {
    this.#folders.ask(run);
    if (run.state === undefined) return undefined;
    const { place, stamp, mtime } = run.state;
    const log = await this.#contents.log(place, stamp);
    const metadata = await this.#contents.metadata(run.metadata);
    if (log === undefined && !this.#folders.has([place])) return undefined;
    if (metadata === undefined && run.metadata.length > 0 && !this.#folders.has(run.metadata)) return undefined;
    const name = this.jobName(run, metadata);
    const job = name === undefined ? undefined : this.#jobs.get(name);
    const { named, name: runName } = run;
    const facts = { name: runName, named, startedAt: startOf(run), updatedAt: mtime as EpochMs };
    const summary = runSummary({ ...facts, archived: place.archived, log, metadata, job }, this.#liveness);
    const recording = asText(metadata?.recording) ?? asText(job?.fields.recording);
    return { summary, log: place, agent: summary.agent ?? undefined, session: runSession(metadata, job), recording };
  }

  /** The job that a run's metadata names, else the one that its own name does. */
  jobName(run: RunFiles, metadata: JsonObject | undefined): string | undefined {
    const named = this.#tails.matching(run.name)[0]?.name ?? (this.#jobs.has(run.name) ? run.name : undefined);
    return asText(metadata?.job) ?? named;
  }

  /** A job as it is shown. `runs`: at least those of its runs that may be running. */
  job(job: Job, runs: readonly RunSummary[]): JobSummary {
    const logRuns = runs.some((run) => run.job === job.name && run.status === "running");
    return jobSummary(job, logRuns, this.#liveness);
  }

  get #liveness(): Liveness {
    return { now: this.#clock.now(), alive: this.#alive };
  }
}

/** A job without a log, as a run of its own. */
export function recoveredRun(job: Job): FoundRun {
  return { summary: recoveredSummary(job), log: undefined, ...conversationOf(job) };
}

/** What the chat of a job is found by, as its own record says. */
export function conversationOf(job: Job): Conversation {
  return { agent: jobAgent(job), session: job.session, recording: asText(job.fields.recording) };
}

/** When a run began: as its name says, else when its log was last written. */
export function startOf({ named, state }: RunFiles): EpochMs {
  return named.startedAt ?? ((state?.mtime ?? 0) as EpochMs);
}

/** What tells the chat of a run or job from every other. */
export function chatOf({ agent, session, recording }: Conversation): string {
  return `${agent ?? ""}/${session ?? ""}/${recording ?? ""}`;
}
