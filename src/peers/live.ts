import type { EpochMs } from "../platform/clock.ts";
import { isAlive, type ProcessIdentity } from "../platform/process-identity.ts";
import type { LiveProof } from "../stores/store.ts";
import type { AgentName } from "../transcript/names.ts";
import { hasEnded } from "./own-records.ts";
import type { OwnRecords, SavedPeer, SavedSession } from "./own-sessions.ts";
import type { PeerOrigin } from "./peer.ts";

/** A live session before it is named. */
export interface LiveSession {
  readonly origin: PeerOrigin;
  /** Tells it from every other live session, for as long as it lives. */
  readonly key: string;
  /** The name that it was given by someone. */
  readonly given?: string;
  /** Of a session of ours: its id among ours. */
  readonly ownId?: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly cwd: string;
  readonly pid?: number;
  readonly startedAt: EpochMs;
  readonly activity?: string;
  /** Without it the session is not live. */
  readonly process: ProcessIdentity;
}

/** What a store proves of one of its sessions. */
export interface Proof extends LiveProof {
  readonly agent: AgentName;
}

/** Which session of which agent, in which process. */
type Identity = Pick<LiveSession, "agent" | "sessionId" | "pid">;

/**
 * Whether two that are live are one. A process may have several sessions open at once (a server of Codex or OpenCode), so
 * two that are known to differ are two; but Claude Code has one at a time, under a new id once it was cleared.
 */
export function isSameSession(a: Identity, b: Identity): boolean {
  const samePid = a.pid !== undefined && a.pid === b.pid;
  if (a.agent !== b.agent || a.sessionId === null || b.sessionId === null) return samePid;
  return a.sessionId === b.sessionId || (samePid && a.agent === "claude");
}

/** Every session that is live now, each once: ours first, then those that joined, then those that only their store proves. */
export function liveSessions(records: OwnRecords, proofs: readonly Proof[]): readonly LiveSession[] {
  const ours = records.sessions.filter((each) => each.kind === "agent" && !hasEnded(each)).map(ownSession);
  const joined = records.peers
    .filter((peer) => isAlive(peer.process))
    .map(joinedSession)
    .filter((one) => !ours.some((other) => isSameSession(one, other)));
  const known = [...ours, ...joined].map((one) => proved(one, proofs));
  const others = proofs.map(provenSession).filter((one) => !known.some((other) => isSameSession(one, other)));
  return [...known, ...new Map(others.map((one) => [one.key, one])).values()];
}

function ownSession(saved: SavedSession): LiveSession {
  const { id, name, agent = "", nativeSessionId, cwd, child, startedAt, status, owner = GONE } = saved;
  return {
    origin: "own",
    key: `own ${id}`,
    ...(name !== undefined && { given: name }),
    ownId: id,
    agent,
    sessionId: nativeSessionId ?? null,
    cwd,
    ...(child !== undefined && { pid: child.pid }),
    startedAt,
    activity: status,
    process: owner,
  };
}

/** A process that never runs. */
const GONE: ProcessIdentity = { pid: -1 };

function joinedSession({ name, agent, sessionId, cwd, process, joinedAt }: SavedPeer): LiveSession {
  return {
    origin: "joined",
    key: `joined ${name}`,
    given: name,
    agent,
    sessionId,
    cwd,
    pid: process.pid,
    startedAt: joinedAt,
    process,
  };
}

function provenSession({ agent, id, pid, cwd, startedAt, activity }: Proof): LiveSession {
  return {
    origin: "proven",
    key: `proven ${agent}/${id} in ${pid}`,
    agent,
    sessionId: id,
    cwd,
    pid,
    startedAt,
    ...(activity !== undefined && { activity }),
    process: { pid },
  };
}

/** What a store proves besides of a session that is known without it: the id that it has by now, its folder, and what it does. */
function proved(one: LiveSession, proofs: readonly Proof[]): LiveSession {
  const fitting = proofs.filter((each) => isSameSession(one, { ...each, sessionId: each.id }));
  const proof = fitting.find(({ pid }) => pid === one.pid) ?? fitting[0];
  if (proof === undefined) return one;
  if (one.origin === "own") return { ...one, sessionId: one.sessionId ?? proof.id };
  const { id, startedAt, activity } = proof;
  return { ...one, sessionId: id, cwd: proof.cwd || one.cwd, startedAt, ...(activity !== undefined && { activity }) };
}
