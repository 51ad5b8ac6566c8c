import { hasEnded } from "../peers/own-records.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Peer, Peers } from "../peers/peer.ts";
import type { Route } from "../server/route.ts";
import type { Cursor } from "../transcript/cursor.ts";
import { sessionIdOf } from "../transcript/names.ts";
import { chatRoutes } from "./chat.ts";
import type { PeerContext } from "./context.ts";
import { emptyChat } from "./empty-chat.ts";
import { sessionWays } from "./export-ways.ts";
import { type ChatTools, chatOfRecorded, findConversation } from "./find.ts";
import type { Chat } from "./follow.ts";
import { type FindAgain, givingWay } from "./giving-way.ts";
import { namedSession, noChatOf, noIdYet } from "./named-session.ts";
import { savedSessions } from "./saved-sessions.ts";

/** The chats of sessions of ours, of recordings and of peers, and their subagents, by id or name. */
export function sessionChatRoutes(context: PeerContext): readonly Route[] {
  return chatRoutes(
    {
      prefix: "/api/sessions/:session",
      what: "a session",
      find: ({ session = "" }, given) => findSessionChat(context, session, given),
      ways: ({ session = "" }) => sessionWays(context, session),
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
  const named = await namedSession(tools, text);
  switch (named.kind) {
    case "recording":
      return named.chat;
    case "peer":
      return peerChat(tools, named.peer, given);
    case "own": {
      const chat = await ownChat(tools, named.saved, given);
      return named.byName ? byName(tools, named.saved, chat) : chat;
    }
  }
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
  if (saved.kind !== "agent" || id === undefined) throw noChatOf(saved);
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

/** Which chat the path leads to now, only finding it again tells. */
function askedAnew(...facts: readonly string[]): Required<Chat>["standing"] {
  return { facts, factsNow: () => [] };
}
