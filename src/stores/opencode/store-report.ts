import type { Skipped, StoreReport } from "../store.ts";
import type { Catalogue, KnownSession } from "./catalogue.ts";
import type { Problems } from "./problems.ts";

/** Versions that a report names, the newest ones. */
const MOST_VERSIONS = 20;

const GENERATIONS = { v1: "SQLite v1", v2: "SQLite v2", json: "JSON files" } as const;

/** Where was looked, what was found, and what was left out, by reason with one place each. */
export function storeReport(catalogue: Catalogue, sessions: readonly KnownSession[], problems: Problems): StoreReport {
  const generations = new Set(sessions.map(({ facts }) => GENERATIONS[facts.generation]));
  const versions = new Set(sessions.flatMap(({ facts }) => facts.version ?? []));
  const troubles = catalogue.databases.flatMap(({ file, problem, stale }): Skipped[] => {
    const reason = problem ?? (stale ? "the newest writes can't be read without changing the folder" : undefined);
    return reason === undefined ? [] : [{ reason, count: 1, example: file.path }];
  });
  return {
    agent: "opencode",
    roots: catalogue.roots.map(({ path, real, note }) => ({
      path,
      found: real !== undefined,
      ...(note !== undefined && { note }),
    })),
    sessions: sessions.length,
    formats: [...[...generations].sort(), ...[...versions].sort(byVersion).slice(-MOST_VERSIONS)],
    skipped: [...troubles, ...problems.skipped()],
  };
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
