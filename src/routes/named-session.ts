import { peerNameOf } from "../peers/names.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Peer, Peers } from "../peers/peer.ts";
import { Failure } from "../platform/failure.ts";
import type { Store } from "../stores/store.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { Chat } from "./follow.ts";
import { savedSessions } from "./saved-sessions.ts";

/** What finding a session by its id or name takes. */
export interface NamingTools {
  readonly stores: readonly Store[];
  readonly own: Pick<OwnSessions, "read">;
  readonly peers: Pick<Peers, "find">;
}

/** The session that an id or a name means. */
export type NamedSession =
  /** One of ours. */
  | { readonly kind: "own"; readonly saved: SavedSession; readonly byName: boolean }
  /** The recording of another program, by its id. */
  | { readonly kind: "recording"; readonly chat: Chat }
  /** A CLI's, by its name. */
  | { readonly kind: "peer"; readonly peer: Peer };

/**
 * The session that an id or a name means: the id of a session of ours or of a recording, else the name of a peer, else that of
 * the last session of ours that had it. @throws Failure not-found
 */
export async function namedSession({ stores, own, peers }: NamingTools, text: string): Promise<NamedSession> {
  if (text.startsWith("host/")) throw new Failure("not-found", "this is a session of another machine");
  const saved = savedSessions(own);
  const id = sessionIdOf(text);
  const ours = saved.find((session) => session.id === text);
  if (ours !== undefined) return { kind: "own", saved: ours, byName: false };
  const chat = id && (await recordingOf(stores, id));
  if (chat) return { kind: "recording", chat };
  if (peerNameOf(text) === undefined) throw noSession();
  const found = await peers.find(text);
  const live = found?.ownId === undefined ? undefined : saved.find((session) => session.id === found.ownId);
  if (live !== undefined) return { kind: "own", saved: live, byName: true };
  if (found !== undefined) return { kind: "peer", peer: found.peer };
  const ended = saved.filter(({ name }) => name === text).sort((a, b) => b.startedAt - a.startedAt)[0];
  if (ended === undefined) throw noSession();
  return { kind: "own", saved: ended, byName: true };
}

/** The recording with this id, ours or another program's; undefined when there is none. */
export async function recordingOf(stores: readonly Store[], id: SessionId): Promise<Chat | undefined> {
  const store = stores.find(({ agent }) => agent === "daemon");
  const ref = await store?.find(id);
  return store && ref && { store, ref, locate: () => store.find(id) };
}

/** What is told of a session that has no id in its agent's store yet. */
export function noIdYet(): Failure {
  return new Failure("conflict", "this session has no id yet, so it has no chat: ask again in a moment");
}

/** What is told of a command or a terminal that is asked for a chat. */
export function noChatOf({ kind }: Pick<SavedSession, "kind">): Failure {
  return new Failure("not-found", `a ${kind} session has no chat: see its output`);
}

function noSession(): Failure {
  return new Failure("not-found", "no live session has that name, and none of ours that id");
}
