import type { Breather } from "../platform/breather.ts";
import { type FileStamp, sameStamp } from "../platform/files.ts";
import type { RunStatus } from "./names.ts";
import type { RunReader } from "./reader.ts";
import type { RunFiles } from "./run-files.ts";
import { isFresh } from "./summary.ts";

/** A run whose log was written lately, and how it stood at the last look. */
interface FreshRun {
  readonly run: RunFiles;
  readonly stamp: FileStamp;
  readonly status: RunStatus;
}

/**
 * The runs whose logs were written lately: in a while, or when their process dies, their status is another without a
 * change on disk.
 */
export class FreshRuns {
  readonly #reader: RunReader;
  #runs: ReadonlyMap<string, FreshRun> = new Map();

  constructor(reader: RunReader) {
    this.#reader = reader;
  }

  /** Those that were running at the last look: all that are, at least. */
  get running(): readonly RunFiles[] {
    return [...this.#runs.values()].flatMap(({ run, status }) => (status === "running" ? [run] : []));
  }

  /** Looks at the runs that may be among them at `now`, in ms since the epoch: the names whose status is another. */
  async look(restless: Iterable<RunFiles>, now: number, breather: Breather): Promise<readonly string[]> {
    const changed: string[] = [];
    const fresh = new Map<string, FreshRun>();
    for (const run of restless) {
      if (run.state === undefined || !isFresh(run.state.mtime, now)) continue;
      const { stamp } = run.state;
      const before = this.#runs.get(run.name);
      const hasEnded = before?.status === "done" || before?.status === "failed";
      const isKnown = hasEnded && sameStamp(before.stamp, stamp);
      const status = isKnown ? before.status : (await this.#reader.read(run))?.summary.status;
      if (before !== undefined && before.status !== status) changed.push(run.name);
      if (status !== undefined) fresh.set(run.name, { run, stamp, status });
      if (breather.isDue) await breather.pause();
    }
    for (const name of this.#runs.keys()) if (!fresh.has(name)) changed.push(name);
    this.#runs = fresh;
    return changed;
  }
}
