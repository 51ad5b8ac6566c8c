import type { Breather } from "../platform/breather.ts";
import { asText, type JsonObject } from "../platform/read.ts";
import { type Job, logTails } from "./job.ts";

/** Jobs by the end of their logs' names. */
export class JobTails {
  /** By the last part of the tail, then by the whole tail. */
  readonly #byEnd = new Map<string, { longest: number; readonly tails: Map<string, Job[]> }>();

  /** The tails of `jobs`. */
  static async of(jobs: Iterable<Job>, breather: Breather): Promise<JobTails> {
    const tails = new JobTails();
    for (const job of jobs) {
      tails.#add(job);
      if (breather.isDue) await breather.pause();
    }
    return tails;
  }

  #add(job: Job): void {
    for (const { id, tail } of logTails(job)) {
      const end = lastPart(id);
      const known = this.#byEnd.get(end) ?? { longest: 0, tails: new Map<string, Job[]>() };
      if (known.tails.size === 0) this.#byEnd.set(end, known);
      known.longest = Math.max(known.longest, tail.length);
      const others = known.tails.get(tail);
      if (others === undefined) known.tails.set(tail, [job]);
      else others.push(job);
    }
  }

  /** The jobs that the name of a log says it is of: it ends in `-<agent>-<id>`. The one that most of it tells first. */
  matching(runName: string): readonly Job[] {
    const known = this.#byEnd.get(lastPart(runName));
    if (known === undefined) return [];
    const jobs: Job[] = [];
    let dash = runName.indexOf("-", Math.max(0, runName.length - known.longest));
    for (; dash >= 0; dash = runName.indexOf("-", dash + 1)) {
      const found = known.tails.get(runName.slice(dash));
      if (found !== undefined) jobs.push(...found);
    }
    return jobs;
  }
}

/** A run as far as it tells which job it is of. */
export interface RunOfJob {
  readonly name: string;
}

/**
 * The jobs that have no log: no log's name ends as theirs would, none has a job's name, and no log's metadata names them.
 * Metadata is read only when there is a job that nothing else accounts for.
 */
export async function jobsWithoutLog<R extends RunOfJob>(
  jobs: ReadonlyMap<string, Job>,
  tails: JobTails,
  runs: ReadonlyMap<string, R>,
  metadataOf: (run: R) => Promise<JsonObject | undefined>,
  breather: Breather,
): Promise<{ readonly recovered: ReadonlyMap<string, Job>; readonly metadataMatters: boolean }> {
  const left = new Map(jobs);
  for (const { name } of runs.values()) {
    left.delete(name);
    for (const job of tails.matching(name)) left.delete(job.name);
    if (breather.isDue) await breather.pause();
  }
  if (left.size === 0) return { recovered: left, metadataMatters: false };
  for (const run of runs.values()) {
    const job = asText((await metadataOf(run))?.job);
    if (job !== undefined) left.delete(job);
    if (breather.isDue) await breather.pause();
  }
  return { recovered: left, metadataMatters: true };
}

function lastPart(text: string): string {
  return text.slice(text.lastIndexOf("-") + 1);
}
