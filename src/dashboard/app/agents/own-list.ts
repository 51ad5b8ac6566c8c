import { isLive } from "../parts/own-sessions.ts";
import type { OwnSession, OwnSessionPage } from "../wire.ts";

/** What is known of the list: the live sessions, and those that ended, as far down as they were read. */
export interface OwnList {
  readonly live: readonly OwnSession[];
  readonly ended: readonly OwnSession[];
  /** The `before` of what ended earlier; null at the end of the list. */
  readonly next: string | null;
}

/**
 * The list after its first page was read anew. What was read of older ones stays, unless that page shows them; where the page
 * does not reach down to them any more, they are let go and read again as one comes there.
 */
export function withFirstPage(was: OwnList | undefined, live: readonly OwnSession[], page: OwnSessionPage): OwnList {
  const firsts = new Set(page.sessions.map(({ id }) => id));
  const meets = was?.ended.some(({ id }) => firsts.has(id)) === true;
  // A page that ends the list has all of them.
  if (was === undefined || !meets || page.next === null) {
    return { live: liveOf(live), ended: endedOf(page.sessions, live), next: page.next };
  }
  const last = page.sessions.at(-1);
  const older = was.ended.filter((session) => last !== undefined && isBehind(session, last));
  const next = older.length === 0 ? page.next : was.next;
  return { live: liveOf(live), ended: endedOf([...page.sessions, ...older], live), next };
}

/** The list with the page behind its last one. */
export function withNextPage(was: OwnList, page: OwnSessionPage): OwnList {
  return { live: was.live, ended: endedOf([...was.ended, ...page.sessions], was.live), next: page.next };
}

/** Whether `session` stands behind `last` in the server's order: the last started first. */
function isBehind(session: OwnSession, last: OwnSession): boolean {
  return session.startedAt < last.startedAt || (session.startedAt === last.startedAt && session.id !== last.id);
}

/** Those that wait for an answer first, else the last started. */
function liveOf(sessions: readonly OwnSession[]): readonly OwnSession[] {
  const waits = ({ status }: OwnSession): number => (status === "awaiting-input" ? 0 : 1);
  return [...sessions].sort((a, b) => waits(a) - waits(b) || b.startedAt - a.startedAt);
}

/** Each once, less those that are live: the two lists are read one after the other. */
function endedOf(sessions: readonly OwnSession[], live: readonly OwnSession[]): readonly OwnSession[] {
  const seen = new Set(live.map(({ id }) => id));
  return sessions.filter((session) => {
    if (seen.has(session.id) || isLive(session)) return false;
    seen.add(session.id);
    return true;
  });
}
