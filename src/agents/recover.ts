import { realpathSync } from "node:fs";
import { join } from "node:path";
import { byteOffsetOf } from "../jsonl/cursor.ts";
import { LookBack } from "../jsonl/look-back.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { type OpenFile, withFile } from "../platform/files.ts";
import { isAlive, type ProcessIdentity } from "../platform/process-identity.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { Recording } from "./recording.ts";
import { isLive, isStillLive } from "./saved.ts";

/** What is needed to put in order what another process has left. */
export interface RecoveryParts {
  readonly saved: OwnSessions;
  readonly clock: Clock;
  /** Whether that very process still runs. */
  readonly alive?: (process: ProcessIdentity) => boolean;
  /** Ends the child of a session whose driver is gone, and all that it started; also one that it had no time to note. */
  endLeftover(child: ProcessIdentity | undefined, id: string): Promise<void>;
  /** Says of the session's job that it was interrupted. */
  interruptJob(session: SavedSession, at: EpochMs): Promise<void>;
  /** The folder that holds a folder of each recorded session. */
  readonly recordings: string;
  record(id: SessionId): Promise<Recording>;
  warn(message: string): void;
}

/**
 * Puts the sessions in order whose server (or other process) was killed: what it had started is ended, a turn that was
 * running gets its `turn-end`, and `sessions.json` says that they were interrupted. Never fails: what can't be done is told.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<void> {
  for (const session of leftBehind(parts)) {
    try {
      await parts.endLeftover(session.child, session.id);
      const left = session.kind === "agent" ? await endTurn(session, parts) : undefined;
      const endedAt = session.endedAt ?? left?.lastAt ?? parts.clock.now();
      if (left?.turnRuns) await parts.interruptJob(session, endedAt);
      await parts.saved.saveSession(session.id, {
        status: "interrupted",
        endedAt,
        owner: undefined,
        child: undefined,
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      parts.warn(`the session ${session.id}, which was interrupted, could not be put in order: ${why}`);
    }
  }
}

function leftBehind({ saved, alive = isAlive, warn }: RecoveryParts): readonly SavedSession[] {
  try {
    return saved.read().sessions.filter((session) => isLive(session) && !isStillLive(session, alive));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    warn(error.message);
    return [];
  }
}

/** Ends the turn that was running, if any; gives what was there before that. */
async function endTurn(session: SavedSession, parts: RecoveryParts): Promise<LookedAt | undefined> {
  const id = sessionIdOf(session.id);
  const file = join(parts.recordings, session.id, "events.jsonl");
  const found = id === undefined ? undefined : await lookedAt(parts.recordings, file, session.id);
  if (id === undefined || found === undefined) return undefined;
  if (found.turnRuns) {
    const recording = await parts.record(id);
    recording.take({ kind: "turn-end", reason: session.status === "awaiting-input" ? "awaiting-input" : "aborted" });
    await recording.close();
  }
  return found;
}

interface LookedAt {
  readonly turnRuns: boolean;
  /** When the last record was written. */
  readonly lastAt: EpochMs;
}

async function lookedAt(root: string, file: string, id: string): Promise<LookedAt | undefined> {
  try {
    return await withFile(realpathSync.native(root), file, (open) => ({
      turnRuns: isTurnOpen(open, id),
      lastAt: Number(open.stamp.mtimeNs / 1_000_000n) as EpochMs,
    }));
  } catch (error) {
    // Nothing was recorded yet.
    if (errorCode(error) === "ENOENT" || (error instanceof Failure && error.kind === "not-found")) return undefined;
    throw error;
  }
}

/** Whether the last prompt in a recording of ours has no `turn-end` behind it. */
export function isTurnOpen(file: Pick<OpenFile, "size" | "read">, id: string): boolean {
  const back = new LookBack(file, file.size);
  const last = (kind: string): number => {
    const needle = Buffer.from(`,"kind":"${kind}","sessionId":"${id}"`);
    for (const place of back.places(needle, byteOffsetOf(file.size))) {
      if (BEGINNING.test(back.slice(Math.max(0, place - ENVELOPE), place).toString("latin1"))) return place;
    }
    return -1;
  };
  try {
    return last("user-prompt") > last("turn-end");
  } finally {
    back.close();
  }
}

/** What stands before the kind of a record of ours, at the end of so many bytes. Inside a record it may stand as well. */
const BEGINNING = /(?:^|\n)\{"seq":\d+,"ts":"[^"]{24}"$/;
const ENVELOPE = 64;
