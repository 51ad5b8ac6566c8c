import { isLive, isStillLive } from "../agents/saved.ts";
import type { OwnRecords, OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";
import type { KnownSession, KnownSessions } from "../stores/recorded/known.ts";

/** What `sessions.json` says of the sessions that we have recorded. `changes` tells that it was written. */
export function knownSessions(own: OwnSessions, changes: KnownSessions["changes"]): KnownSessions {
  let read: OwnRecords | undefined;
  let sessions: ReadonlyMap<string, SavedSession> = new Map();
  return {
    look() {
      const now = recordsOf(own);
      if (now !== read) sessions = new Map(now?.sessions.map((session) => [session.id, session]));
      read = now;
      return (id) => {
        const session = sessions.get(id);
        return session && knownOf(session);
      };
    },
    changes,
  };
}

/** What is wrong with the file is told by who is asked for sessions; their recordings are there all the same. */
function recordsOf(own: OwnSessions): OwnRecords | undefined {
  try {
    return own.read();
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function knownOf(session: SavedSession): KnownSession {
  const { cwd, model, status, owner, child } = session;
  const pid = (child ?? owner)?.pid;
  const live = pid !== undefined && isLive(session) && isStillLive(session);
  return { cwd, ...(model !== undefined && { model }), ...(live && { live: { pid, activity: status } }) };
}
