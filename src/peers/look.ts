import type { Clock } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import { isAlive } from "../platform/process-identity.ts";
import type { Store } from "../stores/store.ts";
import { type AgentName, agentNameOf, type SessionId, sessionIdOf } from "../transcript/names.ts";
import { type LiveSession, liveSessions, type Proof } from "./live.ts";
import { namesFor } from "./names.ts";
import type { OwnRecords, OwnSessions } from "./own-sessions.ts";
import type { KnownPeer, Peer } from "./peer.ts";

/** What is looked at. */
export interface LookParts {
  readonly own: OwnSessions;
  readonly stores: readonly Store[];
  readonly clock: Clock;
  /** The title of a session, where one is known. */
  titleOf(agent: AgentName, id: SessionId): string | undefined;
}

/** A peer with what it was made from. */
export interface SeenPeer extends KnownPeer {
  readonly session: LiveSession;
}

/** Who was live at one moment. */
export interface Look {
  readonly at: number;
  readonly records: OwnRecords;
  /** The last started first. */
  readonly seen: readonly SeenPeer[];
  /** The same list as at the look before when it says the same. */
  readonly peers: readonly Peer[];
}

/** How long a look is taken to hold while nothing tells otherwise: ms. */
export const FRESH_MS = 1_000;

const NO_RECORDS: OwnRecords = { sessions: [], peers: [] };

/** Looks for who is live, one look at a time, and remembers which names were given. */
export class Looks {
  readonly #parts: LookParts;
  readonly #changed: () => void;
  #names: ReadonlyMap<string, string> = new Map();
  #peers: readonly Peer[] = [];
  #shown = "[]";
  #last: Look | undefined;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Look> | undefined;
  #epoch = 0;

  /** `changed` is called whenever a look shows something else than the one before. */
  constructor(parts: LookParts, changed: () => void) {
    this.#parts = parts;
    this.#changed = changed;
  }

  /** Who is live now. Cheap when nothing has changed within a second: a stat of the file, and of each process. */
  async look(): Promise<Look> {
    const last = this.#lastIfItHolds();
    if (last !== undefined) return last;
    this.#next ??= this.#lookNext();
    return this.#next;
  }

  /** The next look asks anew. */
  forget(): void {
    this.#epoch++;
    this.#last = undefined;
  }

  async #lookNext(): Promise<Look> {
    await this.#current;
    this.#next = undefined;
    const meanwhile = this.#lastIfItHolds();
    if (meanwhile !== undefined) return meanwhile;
    const look = this.#lookAnew();
    this.#current = look.catch(() => undefined);
    return look;
  }

  #lastIfItHolds(): Look | undefined {
    if (this.#last === undefined) return undefined;
    const { at, records, seen } = this.#last;
    const age = this.#parts.clock.now() - at;
    const holds = age >= 0 && age < FRESH_MS && this.#records() === records;
    return holds && seen.every(({ session }) => isAlive(session.process)) ? this.#last : undefined;
  }

  async #lookAnew(): Promise<Look> {
    const { clock, stores } = this.#parts;
    const [at, epoch] = [clock.now(), this.#epoch];
    const proofs = (await Promise.all(stores.map(proofsOf))).flat();
    const records = this.#records();
    const sessions = liveSessions(records, proofs);
    this.#names = namesFor(sessions, this.#names);
    const seen = sessions.map((session) => this.#seen(session)).sort(lastStartedFirst);
    this.#show(seen.map(({ peer }) => peer));
    const look = { at, records, seen, peers: this.#peers };
    // One that began before something was written does not stand for what is there now.
    if (epoch === this.#epoch) this.#last = look;
    return look;
  }

  #show(peers: readonly Peer[]): void {
    const shown = JSON.stringify(peers);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#peers = peers;
    this.#changed();
  }

  /** A file that can't be read hides no session that its store proves; `doctor` tells of it. */
  #records(): OwnRecords {
    try {
      return this.#parts.own.read();
    } catch (error) {
      if (error instanceof Failure) return NO_RECORDS;
      throw error;
    }
  }

  #seen(session: LiveSession): SeenPeer {
    const { key, origin, ownId, agent, sessionId, cwd, pid, startedAt, activity } = session;
    const title = this.#titleOf(session);
    const peer: Peer = {
      name: this.#names.get(key) ?? key,
      agent,
      sessionId,
      cwd,
      ...(pid !== undefined && { pid }),
      startedAt,
      ...(activity !== undefined && { activity }),
      ...(title !== undefined && title !== "" && { title }),
    };
    return { peer, origin, session, ...(ownId !== undefined && { ownId }) };
  }

  /** That of its own store's session, else that of our recording. */
  #titleOf({ agent, sessionId, ownId }: LiveSession): string | undefined {
    const [name, id, own] = [agentNameOf(agent), sessionIdOf(sessionId), sessionIdOf(ownId)];
    const native = name === undefined || id === undefined ? undefined : this.#parts.titleOf(name, id);
    return native ?? (own && this.#parts.titleOf("daemon", own));
  }
}

/** What a store proves; one that can't be asked now proves nothing. */
async function proofsOf(store: Store): Promise<readonly Proof[]> {
  const live = await store.live().catch(() => []);
  return live.flatMap((proof) => (isAlive({ pid: proof.pid }) ? [{ ...proof, agent: store.agent }] : []));
}

function lastStartedFirst(a: SeenPeer, b: SeenPeer): number {
  return b.peer.startedAt - a.peer.startedAt || (a.peer.name < b.peer.name ? -1 : 1);
}
