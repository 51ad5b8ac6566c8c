import { join } from "node:path";
import { Bell } from "../platform/bell.ts";
import { Failure } from "../platform/failure.ts";
import { identityOf, isAlive, ourIdentity } from "../platform/process-identity.ts";
import { Subscription } from "../platform/subscription.ts";
import type { Timer } from "../platform/timer.ts";
import { isUsersProgram } from "../platform/users-program.ts";
import type { Watcher } from "../platform/watch.ts";
import { sessionIdOf } from "../transcript/names.ts";
import { isSameSession } from "./live.ts";
import { FRESH_MS, type Look, type LookParts, Looks, type SeenPeer } from "./look.ts";
import { derivedName, freeName } from "./names.ts";
import type { OwnRecords } from "./own-sessions.ts";
import { SESSIONS_FILE } from "./own-sessions-file.ts";
import type { JoinRequest, KnownPeer, Peer, PeerOrigin, Peers } from "./peer.ts";

/** What the registry is made with. */
export interface PeerParts extends LookParts {
  readonly timer: Timer;
  /** Where `sessions.json` lies, and what tells that it was written; without it, only asking tells. */
  readonly watched?: { readonly bridgeHome: string; readonly watcher: Watcher };
  /** Takes peers whose process has ended out of the file: for the one server of a home. */
  readonly tidies?: true;
}

/** After the file could not be tidied, it is left alone for so long: ms. */
const UNTIDY_MS = 60_000;

/** The peers, from `sessions.json` and what the stores prove. */
export class PeerRegistry implements Peers {
  readonly #parts: PeerParts;
  readonly #looks: Looks;
  readonly #readers = new Set<Subscription<void>>();
  #generation = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #following: AbortController | undefined;
  #tidyAgainAt = 0;

  constructor(parts: PeerParts) {
    this.#parts = parts;
    this.#looks = new Looks(parts, () => {
      this.#generation++;
      for (const reader of this.#readers) reader.tell(undefined);
    });
  }

  get generation(): number {
    return this.#generation;
  }

  async list(): Promise<readonly Peer[]> {
    return (await this.#look()).peers;
  }

  async find(name: string): Promise<KnownPeer | undefined> {
    return (await this.#look()).seen.find(({ peer }) => peer.name === name);
  }

  changes(signal: AbortSignal): AsyncIterable<void> {
    const reader: Subscription<void> = new Subscription<void>(signal, () => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#following?.abort();
      this.#following = undefined;
    });
    if (reader.ended) return reader;
    this.#readers.add(reader);
    if (this.#following === undefined) {
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    return reader;
  }

  join(request: JoinRequest): Promise<Peer> {
    return this.#inTurn(() => this.#join(request));
  }

  leave(name: string): Promise<void> {
    return this.#inTurn(() => this.#leave(name));
  }

  async #join({ name: asked, agent, sessionId, cwd, pid, start }: JoinRequest): Promise<Peer> {
    const process = identityOf(pid);
    if (process === undefined || !isAlive({ ...process, ...(start !== undefined && { start }) })) {
      throw new Failure("conflict", `no process ${pid} runs that began then: join from inside the session`);
    }
    const { seen, records } = await this.#lookAnew();
    const ours = seen.filter(({ session }) => isSameSession(session, { agent, sessionId, pid }));
    const mine = first(ours, "own") ?? first(ours, "joined") ?? first(ours, "proven");
    if (mine?.origin === "own") return alreadyOurs(mine.peer, asked);
    // Such a process never ends, or says nothing of whether a session does: the peer would stay for ever.
    if (pid === ourIdentity().pid || !isUsersProgram(pid)) {
      throw new Failure("conflict", `process ${pid} is no agent's program of yours: join from inside the session`);
    }
    if (asked !== undefined && (await this.#isId(asked, records))) {
      throw new Failure("conflict", "the name is the id of a session: choose another name");
    }
    const isTaken = (name: string): boolean => seen.some((each) => !ours.includes(each) && each.peer.name === name);
    const name = asked ?? mine?.peer.name ?? freeName(derivedName({ agent, cwd }), isTaken);
    if (isTaken(name)) throw new Failure("conflict", `another live session is named "${name}": choose another name`);
    const before = ours.filter(({ origin }) => origin === "joined").map(({ peer }) => peer.name);
    const joinedAt = mine?.origin === "joined" ? mine.peer.startedAt : this.#parts.clock.now();
    await this.#parts.own.savePeer({ name, agent, sessionId, cwd, process, joinedAt }, before);
    const joined = (await this.#lookAnew()).seen.find(({ peer }) => peer.name === name);
    if (joined === undefined) throw new Failure("conflict", `process ${pid} ended while it joined`);
    return joined.peer;
  }

  /** Whether another session would be found under that name, since an id goes before a name. */
  async #isId(name: string, { sessions }: OwnRecords): Promise<boolean> {
    if (sessions.some(({ id }) => id === name)) return true;
    const id = sessionIdOf(name);
    const recordings = this.#parts.stores.find(({ agent }) => agent === "daemon");
    return id !== undefined && (await recordings?.find(id)) !== undefined;
  }

  async #leave(name: string): Promise<void> {
    const found = (await this.#lookAnew()).seen.find(({ peer }) => peer.name === name);
    if (found === undefined) throw new Failure("not-found", "no peer has that name");
    if (found.origin === "own") {
      throw new Failure("conflict", "agent-bridge itself runs this session, so it can't leave: stop it instead");
    }
    if (found.origin === "proven") {
      throw new Failure("conflict", "this session has not joined: it is a peer for as long as its agent has it open");
    }
    await this.#parts.own.removePeers([name]);
    await this.#lookAnew();
  }

  /** One after the other, so that what one has looked at still holds when it writes. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #lookAnew(): Promise<Look> {
    this.#looks.forget();
    return this.#look();
  }

  async #look(): Promise<Look> {
    const look = await this.#looks.look();
    this.#tidy(look.records);
    return look;
  }

  /** Never fails: what is not tidied now is tidied later, and is not shown meanwhile. */
  #tidy({ peers }: OwnRecords): void {
    const now = this.#parts.clock.now();
    if (this.#parts.tidies === undefined || now < this.#tidyAgainAt) return;
    const dead = peers.filter(({ process }) => !isAlive(process)).map(({ name }) => name);
    if (dead.length === 0) return;
    this.#tidyAgainAt = now + UNTIDY_MS;
    const done = (): void => {
      this.#tidyAgainAt = 0;
    };
    this.#parts.own
      .removePeers(dead, ({ process }) => !isAlive(process))
      .then(done)
      .catch(() => undefined);
  }

  /** Asks again and again while someone wants to be told, and at once when the file was written. */
  async #follow(signal: AbortSignal): Promise<void> {
    const bell = new Bell();
    const { watched, timer } = this.#parts;
    if (watched !== undefined) void ringFor(watched, bell, signal);
    while (!signal.aborted) {
      // What can't be looked at now is told to whoever asks for it.
      await this.#look().catch(() => undefined);
      await bell.listen(signal, { timer, ms: FRESH_MS });
    }
  }
}

async function ringFor(
  { bridgeHome, watcher }: Required<PeerParts>["watched"],
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  for await (const _ of watcher.file(join(bridgeHome, SESSIONS_FILE), signal)) bell.ring();
}

function first(peers: readonly SeenPeer[], wanted: PeerOrigin): SeenPeer | undefined {
  return peers.find(({ origin }) => origin === wanted);
}

function alreadyOurs(peer: Peer, asked: string | undefined): Peer {
  if (asked === undefined || asked === peer.name) return peer;
  throw new Failure("conflict", `agent-bridge itself runs this session, under the name "${peer.name}"`);
}
