import type { EpochMs } from "../platform/clock.ts";

/** A live session that has a name: a CLI's that joined, one that its store proves to be live, or an agent session of ours. */
export interface Peer {
  readonly name: string;
  /** `claude`, `codex`, …; of our own sessions also an agent that no store is read of (`gemini`). */
  readonly agent: string;
  /** The id in the agent's own store; null before it has one. */
  readonly sessionId: string | null;
  readonly cwd: string;
  readonly pid?: number;
  readonly startedAt: EpochMs;
  /** What it does, where that is known: `busy`, `idle`, … */
  readonly activity?: string;
  readonly title?: string;
}

/** How it is known that a session is live: it is one of ours, it joined, or its store proves it. */
export type PeerOrigin = "own" | "joined" | "proven";

/** A peer, and what stands behind it. */
export interface KnownPeer {
  readonly peer: Peer;
  readonly origin: PeerOrigin;
  /** Of a session of ours: its id among ours. */
  readonly ownId?: string;
}

/** A CLI's session that asks for a name. */
export interface JoinRequest {
  /** Absent: the name that it has, or one made from its agent and folder. */
  readonly name?: string | undefined;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly cwd: string;
  /** The CLI's process, and when it started: see `startOf`. */
  readonly pid: number;
  readonly start?: string | undefined;
}

/** Who is live on this machine, each under a name of its own. */
export interface Peers {
  /** All of them, the last started first; the same list while nothing has changed. Processes that have ended are not among them. */
  list(): Promise<readonly Peer[]>;
  find(name: string): Promise<KnownPeer | undefined>;
  /** Grows when the list changes. */
  readonly generation: number;
  /** Yields whenever the list has changed; ends with the signal. */
  changes(signal: AbortSignal): AsyncIterable<void>;
  /**
   * Gives a session a name. The same session joining again is renamed.
   * @throws Failure conflict: no such process of the user's runs, another live session has that name, it is the id of a session of
   *   ours or of a recording, or the session is one of ours · failed: it can't be kept
   */
  join(request: JoinRequest): Promise<Peer>;
  /** Takes the name away again. @throws Failure not-found · conflict: it did not join, so it can't leave · failed */
  leave(name: string): Promise<void>;
}
