import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";

/** Our sessions. A file that can't be read hides no recording and no peer; `doctor` tells of it. */
export function savedSessions(own: Pick<OwnSessions, "read">): readonly SavedSession[] {
  try {
    return own.read().sessions;
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}
