import { peerNameOf } from "../peers/names.ts";
import { hasEnded } from "../peers/own-records.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Peer, Peers } from "../peers/peer.ts";
import { Failure } from "../platform/failure.ts";
import type { Route } from "../server/route.ts";
import type { SessionRef, Store } from "../stores/store.ts";
import type { Cursor } from "../transcript/cursor.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import { chatRoutes } from "./chat.ts";
import type { PeerContext } from "./context.ts";
import { emptyChat } from "./empty-chat.ts";
import { type ChatTools, chatOfRecorded, findConversation } from "./find.ts";
import type { Chat } from "./follow.ts";
import { type FindAgain, givingWay } from "./giving-way.ts";
import { savedSessions } from "./saved-sessions.ts";

/** The chats of sessions of ours, of recordings and of peers, and their subagents, by id or name. */
export function sessionChatRoutes(context: PeerContext): readonly Route[] {
  return chatRoutes(
    {
      prefix: "/api/sessions/:session",
      what: "a session",
      find: ({ session = "" }, given) => findSessionChat(context, session, given),
    },
    context,
  );
}

type Given = Cursor | "tail" | undefined;

/** What finding the chat of a session of ours takes. */
export interface OwnChatTools extends ChatTools {
  readonly own: Pick<OwnSessions, "read">;
}

/** What finding a chat takes. */
export interface SessionChatTools extends OwnChatTools {
  readonly peers: Peers;
}

/**
 * The chat that an id or a name means: the id of a session of ours or of a recording, else the name of a peer, else that of
 * the last session of ours that had it.
 * @throws Failure not-found: nothing has that id or name, or it has no chat · conflict: no session id yet · bad-request: another store's cursor
 */
export async function findSessionChat(tools: SessionChatTools, text: string, given: Given): Promise<Chat> {
  if (text.startsWith("host/")) throw new Failure("not-found", "this is a session of another machine");
  const saved = savedSessions(tools.own);
  const id = sessionIdOf(text);
  const ours = saved.find((session) => session.id === text);
  if (ours !== undefined) return ownChat(tools, ours, given);
  const recording = id && (await recordingOf(tools.stores, id));
  if (recording) return recording;
  if (peerNameOf(text) === undefined) throw noSession();
  const found = await tools.peers.find(text);
  if (found?.ownId !== undefined) {
    const live = saved.find((session) => session.id === found.ownId);
    if (live !== undefined) return byName(tools, live, await ownChat(tools, live, given));
  }
  if (found !== undefined) return peerChat(tools, found.peer, given);
  const ended = saved.filter(({ name }) => name === text).sort((a, b) => b.startedAt - a.startedAt)[0];
  if (ended === undefined) throw noSession();
  return byName(tools, ended, await ownChat(tools, ended, given));
}

/** The chat of a session that was found by its name, which is its own only as long as it lives. */
function byName({ own }: SessionChatTools, { id, ...saved }: SavedSession, chat: Chat): Chat {
  // Another may have come to have the name of one that has ended: only finding it again tells.
  if (hasEnded({ id, ...saved })) return { ...chat, standing: askedAnew(id) };
  const isLive = (): boolean => savedSessions(own).some((session) => session.id === id && !hasEnded(session));
  const { facts, factsNow } = chat.standing ?? { facts: [], factsNow: () => [] };
  return {
    ...chat,
    standing: { facts: [...facts, id], factsNow: () => [...factsNow(), ...(isLive() ? [id] : [])] },
  };
}

/** The chat of a peer that is not ours. @throws Failure conflict: it has no id yet · as `findConversation` */
export async function peerChat(tools: ChatTools, { agent, sessionId }: Peer, given: Given): Promise<Chat> {
  if (sessionId === null) throw noIdYet();
  return findConversation(tools, { agent, session: sessionId }, given, askedAnew(agent, sessionId));
}

/**
 * The chat of a session of ours: in the agent's own store; until something is there, the one that we record; before that, an
 * empty one. @throws Failure not-found: it is no agent's
 */
export async function ownChat(tools: OwnChatTools, saved: SavedSession, given: Given): Promise<Chat> {
  const { stores, own } = tools;
  const id = sessionIdOf(saved.id);
  if (saved.kind !== "agent" || id === undefined) {
    throw new Failure("not-found", `a ${saved.kind} session has no chat: see its output`);
  }
  const { agent, nativeSessionId } = saved;
  const standing = {
    facts: [nativeSessionId ?? ""],
    factsNow: () => [savedSessions(own).find((session) => session.id === id)?.nativeSessionId ?? ""],
  };
  const now = (): SavedSession => savedSessions(own).find((session) => session.id === id) ?? saved;
  const find: FindAgain = (known) =>
    chatOfRecorded(tools, { agent, session: now().nativeSessionId, recorded: id }, standing, known);
  const found = await find();
  if (found !== undefined) return givingWay(found, find);
  const recordings = stores.find((store) => store.agent === "daemon");
  if (recordings !== undefined) return givingWay(emptyChat(recordings, id, agent), find, () => hasEnded(now()));
  const session = saved.nativeSessionId ?? saved.id;
  return findConversation(tools, { agent: saved.agent, session }, given, askedAnew(session));
}

async function recordingOf(stores: readonly Store[], id: SessionId): Promise<Chat | undefined> {
  const store = stores.find(({ agent }) => agent === "daemon");
  const ref: SessionRef | undefined = await store?.find(id);
  return store && ref && { store, ref, locate: () => store.find(id) };
}

/** Which chat the path leads to now, only finding it again tells. */
function askedAnew(...facts: readonly string[]): Required<Chat>["standing"] {
  return { facts, factsNow: () => [] };
}

function noSession(): Failure {
  return new Failure("not-found", "no live session has that name, and none of ours that id");
}

function noIdYet(): Failure {
  return new Failure("conflict", "this session has no id yet, so it has no chat: ask again in a moment");
}
