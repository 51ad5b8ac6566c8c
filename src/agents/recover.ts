import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { errorCode, errorText, Failure } from "../platform/failure.ts";
import { withFile } from "../platform/files.ts";
import { isAlive, type ProcessIdentity } from "../platform/process-identity.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { SessionEvent } from "./event.ts";
import { type OpenTurn, openTurn } from "./open-turn.ts";
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
  /** Says of the session's job and its logs that they were interrupted, which they were for sure when it was `inTurn`. */
  interruptJob(session: SavedSession, how: { readonly at: EpochMs; readonly inTurn: boolean }): Promise<void>;
  /** The folder that holds a folder of each recorded session. */
  readonly recordings: string;
  record(id: SessionId): Promise<Recording>;
  warn(message: string): void;
}

/**
 * Puts the sessions in order whose server (or other process) was killed: what it had started is ended, a turn that was
 * running gets its end, and `sessions.json` says that they were interrupted. Never fails: what can't be done is told.
 */
export async function recoverSessions(parts: RecoveryParts): Promise<void> {
  for (const session of leftBehind(parts)) {
    try {
      await parts.endLeftover(session.child, session.id);
      const left = session.kind === "agent" ? await endTurn(session, parts) : undefined;
      const endedAt = session.endedAt ?? left?.lastAt ?? parts.clock.now();
      const inTurn = left?.turn !== undefined;
      if (left !== undefined) await parts.interruptJob(session, { at: endedAt, inTurn });
      await parts.saved.saveSession(session.id, {
        status: "interrupted",
        endedAt,
        owner: undefined,
        child: undefined,
      });
    } catch (error) {
      const why = errorText(error);
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
  if (found.turn !== undefined) {
    const recording = await parts.record(id);
    for (const event of endOf(found.turn)) recording.take(event);
    await recording.close();
  }
  return found;
}

/** What the session would have recorded had it been stopped. */
function endOf({ questions, calls, usage }: OpenTurn): readonly SessionEvent[] {
  return [
    ...questions.map((toolCallId) => ({ kind: "permission-resolved", toolCallId, decision: "cancelled" }) as const),
    ...calls.map((toolCallId) => ({ kind: "tool-result", toolCallId, result: null, isError: true }) as const),
    { kind: "turn-end", reason: questions.length > 0 ? "awaiting-input" : "aborted" },
    { kind: "usage_snapshot", ...usage, source: "adapter" },
  ];
}

interface LookedAt {
  readonly turn: OpenTurn | undefined;
  /** When the last record was written. */
  readonly lastAt: EpochMs;
}

async function lookedAt(root: string, file: string, id: string): Promise<LookedAt | undefined> {
  try {
    return await withFile(realpathSync.native(root), file, (open) => ({
      turn: openTurn(open, id),
      lastAt: Number(open.stamp.mtimeNs / 1_000_000n) as EpochMs,
    }));
  } catch (error) {
    // Nothing was recorded yet.
    if (errorCode(error) === "ENOENT" || (error instanceof Failure && error.kind === "not-found")) return undefined;
    throw error;
  }
}
