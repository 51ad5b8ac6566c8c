import type { Skipped, StoreReport } from "../store.ts";
import type { KnownSession } from "./catalogue.ts";
import type { LeftOut } from "./project-folders.ts";
import type { ClaudeRoot } from "./roots.ts";

/** Versions that a report names, the newest ones. */
const MOST_VERSIONS = 20;

/** What the report is made from. */
export interface ReportParts {
  readonly roots: readonly ClaudeRoot[];
  readonly sessions: readonly KnownSession[];
  readonly leftOut: readonly LeftOut[];
  /** Transcripts whose tokens could not be counted. */
  readonly uncounted: readonly string[];
  /** What was left out of the chats that were read. */
  readonly unshown: readonly Skipped[];
}

/** Where was looked, what was found, and what was left out, by reason with one place each. */
export function storeReport({ roots, sessions, leftOut, uncounted, unshown }: ReportParts): StoreReport {
  const reasons = new Map<string, Skipped>();
  const skip = (reason: string, path: string): void => {
    const held = reasons.get(reason);
    reasons.set(reason, { reason, count: (held?.count ?? 0) + 1, example: held?.example ?? path });
  };
  for (const { reason, path } of leftOut) skip(reason, path);
  for (const path of uncounted) skip("its tokens could not be counted", path);
  const versions = new Set(sessions.flatMap((session) => session.facts.versions));
  return {
    agent: "claude",
    roots: roots.map(({ projects, real, note }) => ({
      path: projects,
      found: real !== undefined,
      ...(note !== undefined && { note }),
    })),
    sessions: sessions.length,
    formats: [...versions].sort(byVersion).slice(-MOST_VERSIONS),
    skipped: [...reasons.values(), ...unshown],
  };
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
