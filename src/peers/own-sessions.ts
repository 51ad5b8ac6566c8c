import type { EpochMs } from "../platform/clock.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";

/** A session of ours as `sessions.json` keeps it. Times in ms since the epoch. */
export interface SavedSession {
  readonly id: string;
  readonly kind: "agent" | "command" | "terminal";
  readonly agent?: string;
  readonly name?: string;
  readonly cwd: string;
  readonly model?: string;
  readonly nativeSessionId?: string;
  readonly startedAt: EpochMs;
  readonly endedAt?: EpochMs;
  readonly status: string;
  readonly restartedFrom?: string;
  readonly argv?: readonly string[];
  readonly permit?: string;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly error?: string;
  /** The process that drives it, and the one that it drives: while it is live. */
  readonly owner?: ProcessIdentity;
  readonly child?: ProcessIdentity;
  /** Records of its recording that could not be written. */
  readonly lost?: { readonly records: number; readonly why: string };
}

/** A CLI's session that joined under a name. */
export interface SavedPeer {
  readonly name: string;
  readonly agent: string;
  readonly sessionId: string | null;
  readonly cwd: string;
  /** The CLI's process. */
  readonly process: ProcessIdentity;
  readonly joinedAt: EpochMs;
}

/** What `sessions.json` says. */
export interface OwnRecords {
  readonly sessions: readonly SavedSession[];
  readonly peers: readonly SavedPeer[];
  /** Entries that could not be read and were passed over: how many, in one line for a person. */
  readonly problem?: string;
  /** Sessions that ended so long ago that they are no longer kept: how many so far. */
  readonly dropped?: number;
}

/**
 * `sessions.json` in our own folder: `{version: 1, sessions: […], peers: […]}`, 0600, written whole or not at all, by any
 * process of ours under the lock. Keys that nobody here knows are kept.
 */
export interface OwnSessions {
  /** As it is on disk now; unchanged, it is not read again. A damaged or newer file: Failure failed. */
  read(): OwnRecords;
  /**
   * Changes the record of the session `id`, or adds it; the given fields over those that are there, undefined takes one
   * away. With `endedAt`, what only a live one has goes: owner and child. @throws Failure failed, also for fields that make no session
   */
  saveSession(id: string, fields: Partial<SavedSession>): Promise<void>;
  /** Adds or replaces the peer of that name; those named in `instead` go in the same step. @throws Failure failed */
  savePeer(peer: SavedPeer, instead?: readonly string[]): Promise<void>;
  /** Takes out the peers of these names, where `which` says so of what stands there by then. @throws Failure failed */
  removePeers(names: readonly string[], which?: (peer: SavedPeer) => boolean): Promise<void>;
}
