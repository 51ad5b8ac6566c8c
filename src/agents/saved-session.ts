import { hasEnded } from "../peers/own-records.ts";
import type { SavedSession } from "../peers/own-sessions.ts";
import { sessionIdOf } from "../transcript/names.ts";
import type { Permit, SessionDescriptor, SessionStatus } from "./sessions.ts";

const LIVE: readonly SessionStatus[] = ["starting", "idle", "busy", "awaiting-input"];
const OVER: readonly SessionStatus[] = ["ended", "failed", "interrupted"];
const PERMITS: readonly Permit[] = ["ask", "deny", "allow"];

/** A saved session as the API shows it; one that was live when the process that drove it ended is `interrupted`. */
export function descriptorOf(saved: SavedSession): SessionDescriptor | undefined {
  const { owner: _, child, lost: __, status, permit, restartedFrom, ...fields } = saved;
  const id = sessionIdOf(saved.id);
  if (id === undefined) return undefined;
  const live = !hasEnded(saved);
  const from = sessionIdOf(restartedFrom);
  const known = PERMITS.find((each) => each === permit);
  return {
    ...fields,
    id,
    status: live
      ? (LIVE.find((each) => each === status) ?? "busy")
      : (OVER.find((each) => each === status) ?? "interrupted"),
    ...(known !== undefined && { permit: known }),
    ...(from !== undefined && { restartedFrom: from }),
    ...(live && child !== undefined && { pid: child.pid }),
  };
}
