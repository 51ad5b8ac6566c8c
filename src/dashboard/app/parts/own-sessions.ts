import { path, read } from "../api.ts";
import type { OwnSession, OwnSessionPage, Peer } from "../wire.ts";

/** Sessions of a page of the list: as many as the server gives. */
const PAGE = 500;

/** All sessions of ours that are live. @throws Refused, Unreachable */
export async function liveSessions(signal?: AbortSignal): Promise<readonly OwnSession[]> {
  const sessions: OwnSession[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page: OwnSessionPage = await read(path("sessions"), { state: "live", limit: PAGE, before }, signal);
    sessions.push(...page.sessions);
    before = page.next;
  }
  return sessions;
}

/** Whether it still runs. */
export function isLive({ status }: Pick<OwnSession, "status">): boolean {
  return status !== "ended" && status !== "failed" && status !== "interrupted";
}

/** Its status; commands and terminals are at no work that ends: they just run. */
export function standsAs({ status, kind }: Pick<OwnSession, "status" | "kind">): string {
  return status === "busy" && kind !== "agent" ? "running" : status;
}

/** Whether a live session of ours is the one that stands among all that run on this machine as `peer`. */
export function isSame({ kind, id, name, agent, nativeSessionId, pid }: OwnSession, peer: Peer): boolean {
  if (kind !== "agent") return false;
  if (peer.name === name || peer.name === id) return true;
  if (peer.sessionId !== null) return peer.agent === agent && peer.sessionId === nativeSessionId;
  return peer.pid !== undefined && peer.pid === pid;
}
