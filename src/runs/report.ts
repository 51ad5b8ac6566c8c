import type { Skipped } from "../stores/store.ts";
import type { Damage } from "./contents.ts";

/** What `doctor` says of runs and jobs. */
export interface RunReport {
  /** Runs that have a log. */
  readonly runs: number;
  /** Those among them whose log lies in the archive. */
  readonly archived: number;
  /** Jobs whose log is lost, shown as runs of their own. */
  readonly recovered: number;
  readonly jobs: number;
  readonly skipped: readonly (Skipped & {
    /** Every file, where `example` is one; at most 100. */
    readonly paths: readonly string[];
  })[];
}

const MOST_PATHS = 100;

/** The report of these counts, with the damages by reason. */
export function reportOf(counts: Omit<RunReport, "skipped">, damages: readonly Damage[]): RunReport {
  const byReason = new Map<string, string[]>();
  for (const { reason, path } of damages) {
    const paths = byReason.get(reason);
    if (paths === undefined) byReason.set(reason, [path]);
    else paths.push(path);
  }
  const skipped = [...byReason].map(([reason, paths]) => ({
    reason,
    count: paths.length,
    example: paths[0] ?? "",
    paths: [...new Set(paths)].sort().slice(0, MOST_PATHS),
  }));
  return { ...counts, skipped: skipped.sort((a, b) => (a.reason < b.reason ? -1 : 1)) };
}
