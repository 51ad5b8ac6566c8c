import type { Breather } from "../platform/breather.ts";
import { asText, type JsonObject } from "../platform/read.ts";
import { type Job, logTails } from "./job.ts";

/** Jobs by the end of their logs' names. */
export class JobTails {
  readonly #byEnd = new Map<string, { readonly job: Job; readonly tail: string }[]>();

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
      const others = this.#byEnd.get(end);
      if (others === undefined) this.#byEnd.set(end, [{ job, tail }]);
      else others.push({ job, tail });
    }
  }

  /** The jobs that the name of a log says it is of: it ends in `-<agent>-<id>`. */
  matching(runName: string): readonly Job[] {
    const candidates = this.#byEnd.get(lastPart(runName)) ?? [];
    return candidates.filter(({ tail }) => runName.endsWith(tail)).map(({ job }) => job);
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
