import { isEndedStatus } from "../peers/own-records.ts";
import type { SavedSession } from "../peers/own-sessions.ts";
import { isAlive } from "../platform/process-identity.ts";
import { sessionIdOf } from "../transcript/names.ts";
import type { SessionDescriptor, SessionStatus } from "./sessions.ts";

const LIVE: readonly string[] = ["starting", "idle", "busy", "awaiting-input"];

/** Whether the status is one of a session that has not ended. */
export function isLive({ status }: { readonly status: string }): boolean {
  return !isEndedStatus(status);
}

/** Whether a saved session is live: it was, and the process that drives it still runs. */
export function isStillLive(saved: SavedSession, alive: typeof isAlive = isAlive): boolean {
  return isLive(saved) && saved.owner !== undefined && alive(saved.owner);
}

/** A saved session as it is shown by who does not drive it. One whose process is gone was interrupted. */
export function describeSaved(saved: SavedSession): SessionDescriptor | undefined {
  const id = sessionIdOf(saved.id);
  if (id === undefined) return undefined;
  const live = isStillLive(saved);
  const { owner: _owner, child, lost: _lost, status, restartedFrom, permit, ...shown } = saved;
  const from = sessionIdOf(restartedFrom);
  return {
    ...shown,
    id,
    kind: saved.kind,
    status: live || !isLive(saved) ? statusOf(status) : "interrupted",
    ...(from !== undefined && { restartedFrom: from }),
    ...((permit === "ask" || permit === "deny" || permit === "allow") && { permit }),
    ...(live && child !== undefined && { pid: child.pid }),
  };
}

/** A status that a newer version wrote is told as one that is known: what is not over is live. */
function statusOf(status: string): SessionStatus {
  return LIVE.includes(status) || isEndedStatus(status) ? (status as SessionStatus) : "busy";
}

/** What `sessions.json` keeps of a session, beside who drives it. */
export function savedFields(session: SessionDescriptor): Partial<SavedSession> {
  const { pid: _pid, permissions: _permissions, columns: _columns, rows: _rows, ...fields } = session;
  return fields;
}
