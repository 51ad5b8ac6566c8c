import { Failure } from "../platform/failure.ts";
import { isAlive } from "../platform/process-identity.ts";
import { asArray, asCount, asObject, isNestedAtMost, type JsonObject } from "../platform/read.ts";
import { damaged, parseOwn, requireKnownVersion } from "../runs/own-json.ts";
import type { OwnRecords, SavedPeer, SavedSession } from "./own-sessions.ts";
import { savedPeerOf, savedSessionOf } from "./saved.ts";

/** The version of `sessions.json` that is written. */
const VERSION = 1;
/** Sessions that have ended and are kept. */
const MOST_ENDED = 10_000;
/** Lists and objects in one another: far more than we write, and far less than what could not be written again. */
const MOST_LEVELS = 64;

/** `sessions.json` as it is to be written again: also what nobody here knows. Nothing in it is ever changed in place. */
export interface Document {
  readonly fields: JsonObject;
  readonly sessions: readonly unknown[];
  readonly peers: readonly unknown[];
}

/** A change of the document; the same one when there is nothing to change. @throws Failure when it can't be made */
export type Change = (before: Document) => Document;

/** What the file's bytes say. @throws Failure failed: damaged, or written by a newer version */
export function documentOf(bytes: Buffer | undefined, name: string): Document {
  if (bytes === undefined) return { fields: {}, sessions: [], peers: [] };
  const fields = asObject(parseOwn(bytes, name));
  if (fields === undefined || !isNestedAtMost(MOST_LEVELS, fields)) throw damaged(name);
  requireKnownVersion(fields.version, VERSION, name);
  const sessions = asArray(fields.sessions ?? []);
  const peers = asArray(fields.peers ?? []);
  if (sessions === undefined || peers === undefined) throw damaged(name);
  return { fields, sessions, peers };
}

/** The text of the file. */
export function documentText({ fields, sessions, peers }: Document): string {
  return `${JSON.stringify({ ...fields, version: VERSION, sessions, peers })}\n`;
}

/** Reads documents of which most entries stay as they are: each entry is read once. */
export class RecordReader {
  readonly #sessions = new WeakMap<object, ReturnType<typeof savedSessionOf>>();

  /** What can be read of the document; of several with one id or name, the last counts. */
  read({ fields, sessions, peers }: Document): OwnRecords {
    const readSessions = sessions.map((entry) => this.#session(entry)).filter((session) => session !== undefined);
    const readPeers = peers.map(savedPeerOf).filter((peer) => peer !== undefined);
    const bad = sessions.length + peers.length - readSessions.length - readPeers.length;
    const dropped = droppedOf(fields);
    return {
      sessions: [...new Map(readSessions.map((session) => [session.id, session])).values()],
      peers: [...new Map(readPeers.map((peer) => [peer.name, peer])).values()],
      ...(bad > 0 && { problem: `${bad} ${bad === 1 ? "entry" : "entries"} of sessions.json can't be read` }),
      ...(dropped > 0 && { dropped }),
    };
  }

  #session(entry: unknown): ReturnType<typeof savedSessionOf> {
    const record = asObject(entry);
    if (record === undefined) return undefined;
    if (!this.#sessions.has(record)) this.#sessions.set(record, savedSessionOf(record));
    return this.#sessions.get(record);
  }
}

/** Saves `fields` of the session `id`. */
export function sessionSaved(id: string, fields: Partial<SavedSession>): Change {
  return (before) => {
    const index = before.sessions.findLastIndex((session) => asObject(session)?.id === id);
    const known = asObject(before.sessions[index]);
    const merged = { ...known, ...fields, id };
    const after = merged.endedAt === undefined ? merged : { ...merged, owner: undefined, child: undefined };
    if (savedSessionOf(after) === undefined) {
      throw new Failure("failed", `sessions.json has no session ${id} that could be changed`);
    }
    if (known !== undefined && JSON.stringify(after) === JSON.stringify(known)) return before;
    if (known !== undefined) return { ...before, sessions: before.sessions.with(index, after) };
    return withoutOldest({ ...before, sessions: [...before.sessions, after] });
  };
}

/** Saves a peer in the place of the one of its name and of those named in `instead`. */
export function peerSaved(peer: SavedPeer, instead: readonly string[]): Change {
  return (before) => {
    const known = asObject(before.peers.findLast((each) => asObject(each)?.name === peer.name));
    const gone = new Set<unknown>([peer.name, ...instead]);
    const others = before.peers.filter((each) => !gone.has(asObject(each)?.name));
    return { ...before, peers: [...others, { ...known, ...peer }] };
  };
}

/** Takes out those of the peers named of which `which` says so. */
export function peerRemoved(names: readonly string[], which: (peer: SavedPeer) => boolean): Change {
  return (before) => {
    const peers = before.peers.filter((each) => {
      const peer = savedPeerOf(each);
      return peer === undefined || !names.includes(peer.name) || !which(peer);
    });
    return peers.length === before.peers.length ? before : { ...before, peers };
  };
}

/** How many sessions were dropped from the document so far, since they had ended long ago. */
export function droppedOf(fields: JsonObject): number {
  return asCount(fields.dropped) ?? 0;
}

function withoutOldest(document: Document): Document {
  const { fields, sessions } = document;
  if (sessions.length <= MOST_ENDED) return document;
  const ended = sessions
    .map((record) => ({ record, session: savedSessionOf(record) }))
    .filter(({ session }) => session !== undefined && hasEnded(session))
    .sort((a, b) => endOf(a.session) - endOf(b.session));
  const gone = new Set(ended.slice(0, Math.max(0, ended.length - MOST_ENDED)).map(({ record }) => record));
  if (gone.size === 0) return document;
  const kept = sessions.filter((record) => !gone.has(record));
  return { ...document, fields: { ...fields, dropped: droppedOf(fields) + gone.size }, sessions: kept };
}

function endOf(session: SavedSession | undefined): number {
  return session?.endedAt ?? session?.startedAt ?? 0;
}

const ENDED: readonly string[] = ["ended", "failed", "interrupted"];

/** Whether the status is one of a session that is over. One that a newer version wrote, and nobody here knows, is not. */
export function isEndedStatus(status: string): boolean {
  return ENDED.includes(status);
}

/** Whether it is over, also because what drove it is gone. */
export function hasEnded({ endedAt, status, owner }: SavedSession): boolean {
  return endedAt !== undefined || isEndedStatus(status) || owner === undefined || !isAlive(owner);
}
