import type { SavedSession } from "../peers/own-sessions.ts";
import type { KnownPeer, Peers } from "../peers/peer.ts";
import type { EpochMs } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import type { Listed, SessionRef, Store } from "../stores/store.ts";
import { clip } from "../transcript/clip.ts";
import { agentNameOf, type SessionId, sessionIdOf } from "../transcript/names.ts";
import { printableLine } from "../transcript/printable.ts";
import type { ExportWays } from "./export-source.ts";
import { childWays, conversationWays, ownWays, transcriptWays } from "./export-ways.ts";
import type { Chat } from "./follow.ts";
import { savedSessions } from "./saved-sessions.ts";
import { type OwnChatTools, ownChat, peerChat } from "./session-chat.ts";

/** What finding by what a person says takes; no server is needed. */
export interface AskedTools extends OwnChatTools {
  readonly peers: Pick<Peers, "find" | "list">;
}

/** A session that was asked for, or a subagent of it. */
export interface AskedChat {
  readonly chat: Chat;
  /** The ways to what is exported of it. */
  readonly ways: ExportWays;
}

/**
 * The session that `asked` means, or its subagent `child`. It is, in this order: `agent/id`; an id, of a session of ours before
 * one in a store; the name of a session that is live; the name of the last session of ours that had it; the beginning of an id,
 * also in `agent/id`, that no other session's has.
 * @throws Failure usage: several begin so · not-found: none does, or it is no agent's and so has no chat · conflict: it has no id yet
 */
export async function askedChat(tools: AskedTools, asked: string, child?: string): Promise<AskedChat> {
  const { open } = await findAsked(tools, asked);
  const session = await open();
  if (child === undefined) return session;
  const chat = await findChild(session.chat, child);
  return { chat, ways: childWays(session.ways, chat.ref.child ?? child) };
}

/** What was asked for means nothing, or may mean several; in words for a person at a command line. */
export class NotOne extends Failure {
  /** What was not found, or not alone. */
  readonly what: "session" | "subagent";
  /** The same without what others wrote (titles), and without commands: where nothing fits, in the API's words. */
  readonly plain: string;

  constructor(kind: "usage" | "not-found", message: string, what: NotOne["what"], plain: string) {
    super(kind, message);
    this.what = what;
    this.plain = plain;
  }
}

/** A session that fits what was asked for. */
interface Candidate {
  /** How it is asked for so that no other fits. */
  readonly said: string;
  readonly title: string;
  /** When it was last heard of. */
  readonly at: EpochMs;
  open(): Promise<AskedChat>;
}

async function findAsked(tools: AskedTools, asked: string): Promise<Candidate> {
  const slash = asked.indexOf("/");
  const agent = slash < 0 ? undefined : agentNameOf(asked.slice(0, slash));
  if (slash >= 0 && agent === undefined) throw noSession(asked);
  const id = sessionIdOf(asked.slice(slash + 1));
  const exact = id === undefined ? [] : await withId(tools, agent, id);
  const named = exact.length > 0 || agent !== undefined ? [] : await withName(tools, asked);
  const isBeginning = id !== undefined && exact.length === 0 && named.length === 0;
  const found = isBeginning ? await withBeginning(tools, agent, id) : [...exact, ...named];
  const [first] = found;
  if (first === undefined) throw noSession(asked);
  if (found.length === 1) return first;
  const several = (titles: boolean): string =>
    `"${asked}" may be ${candidatesLine(found, titles)}; give more of the id`;
  throw new NotOne("usage", several(true), "session", several(false));
}

/** Candidates that are named when several fit, and characters of their titles. */
const MOST_NAMED = 8;
const TITLE_CHARACTERS = 40;

function candidatesLine(found: readonly Candidate[], titles: boolean): string {
  const newest = [...found].sort((a, b) => b.at - a.at);
  const some = newest.slice(0, MOST_NAMED).map(({ said, title }) => {
    const short = clip(printableLine(title), TITLE_CHARACTERS).text;
    return short === "" || !titles ? said : `${said} (${short})`;
  });
  const more = found.length - some.length;
  return `${some.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

async function withId(tools: AskedTools, agent: string | undefined, id: SessionId): Promise<Candidate[]> {
  const ours = agent === undefined ? savedSessions(tools.own).find((session) => session.id === id) : undefined;
  const searched = storesOf(tools, agent).filter((store) => ours === undefined || store.agent !== "daemon");
  const found = await Promise.all(
    searched.map(async (store) => ((await store.find(id)) ? [inStore(tools, store, id)] : [])),
  );
  return [...(ours === undefined ? [] : [ofOurs(tools, ours)]), ...found.flat()];
}

async function withName(tools: AskedTools, name: string): Promise<Candidate[]> {
  const live = await tools.peers.find(name);
  if (live !== undefined) return [ofPeer(tools, live)];
  const named = savedSessions(tools.own).filter((session) => session.name === name);
  const [last] = named.sort((a, b) => b.startedAt - a.startedAt);
  return last === undefined ? [] : [ofOurs(tools, last)];
}

async function withBeginning(tools: AskedTools, agent: string | undefined, start: SessionId): Promise<Candidate[]> {
  const ours = agent === undefined ? savedSessions(tools.own).filter(({ id }) => id.startsWith(start)) : [];
  const ourIds = new Set(ours.map(({ id }) => id));
  const found = ours.map((session) => ofOurs(tools, session));
  for (const store of storesOf(tools, agent)) {
    const rows = (await store.list("sweep")).filter(({ id }) => id.startsWith(start));
    for (const [id, row] of new Map(rows.map((row) => [row.id, row]))) {
      const isOurs = store.agent === "daemon" && ourIds.has(id);
      if (!isOurs && (await store.find(id)) !== undefined) found.push(inStore(tools, store, id, row));
    }
  }
  // A list leaves out a session in which nothing was said yet.
  for (const { agent: its, sessionId } of await tools.peers.list()) {
    const [store] = storesOf(tools, agent).filter((each) => each.agent === its);
    const id = sessionId?.startsWith(start) ? sessionIdOf(sessionId) : undefined;
    if (store === undefined || id === undefined || found.some(({ said }) => said === `${its}/${id}`)) continue;
    if ((await store.find(id)) !== undefined) found.push(inStore(tools, store, id));
  }
  return found;
}

function storesOf({ stores }: AskedTools, agent: string | undefined): readonly Store[] {
  return stores.filter((store) => agent === undefined || store.agent === agent);
}

function inStore(
  tools: AskedTools,
  store: Store,
  id: SessionId,
  { title, updatedAt }: Pick<Listed, "title" | "updatedAt"> = UNLISTED,
): Candidate {
  const said = `${store.agent}/${id}`;
  const open = async (): Promise<AskedChat> => {
    const ref = await store.find(id);
    if (ref === undefined) throw noSession(said);
    const chat = { store, ref, locate: () => store.find(id) };
    return { chat, ways: await transcriptWays(tools, store.agent, id) };
  };
  return { said, title, at: updatedAt, open };
}

/** What is shown of a session that no list holds. */
const UNLISTED = { title: "", updatedAt: 0 as EpochMs };

function ofOurs(tools: AskedTools, saved: SavedSession): Candidate {
  const { id, kind, name = "", startedAt } = saved;
  const open = async (): Promise<AskedChat> => {
    if (kind !== "agent") {
      const shows = `agent-bridge sessions attach ${id} shows what it prints`;
      throw new Failure("not-found", `a ${kind} session has no chat, so there is nothing to show or export; ${shows}`);
    }
    return { chat: await ownChat(tools, saved, undefined), ways: ownWays(tools, saved) };
  };
  return { said: id, title: name, at: startedAt, open };
}

function ofPeer(tools: AskedTools, { peer, ownId }: KnownPeer): Candidate {
  const ours = savedSessions(tools.own).find(({ id }) => id === ownId);
  if (ours !== undefined) return ofOurs(tools, ours);
  const open = async (): Promise<AskedChat> => {
    const chat = await peerChat(tools, peer, undefined);
    return { chat, ways: conversationWays(tools, { agent: peer.agent, session: peer.sessionId ?? undefined }) };
  };
  return { said: peer.name, title: peer.title ?? "", at: peer.startedAt, open };
}

/**
 * The subagent `asked` of `session`, by its id or by as much of its beginning as no other has.
 * @throws Failure usage: several begin so · not-found: none does
 */
async function findChild(session: Chat, asked: string): Promise<Chat> {
  const { store, ref } = session;
  const id = sessionIdOf(asked);
  const exact = id && (await childChat(session, id));
  if (exact) return exact;
  const { children } = await store.children(ref);
  const near = id === undefined ? [] : children.filter((child) => child.id.startsWith(id));
  if (near.length > 1) {
    const several = `${near.length} subagents begin with "${asked}"; give more of the id`;
    throw new NotOne("usage", several, "subagent", several);
  }
  const child = near[0] && (await childChat(session, near[0].id));
  if (child === undefined) {
    const known = children.slice(0, 5).map((each) => each.id);
    const hint = known.length === 0 ? "it has none" : `it has ${known.join(", ")}${children.length > 5 ? ", …" : ""}`;
    const message = `${ref.id} has no subagent "${asked}"; ${hint}`;
    throw new NotOne("not-found", message, "subagent", "this session has no such subagent");
  }
  return child;
}

async function childChat({ store, locate }: Chat, id: SessionId): Promise<Chat | undefined> {
  const find = async (): Promise<SessionRef | undefined> => {
    const parent = await locate();
    return parent && (await store.child(parent, id));
  };
  const ref = await find();
  return ref && { store, ref, locate: find };
}

function noSession(asked: string): NotOne {
  const plain = asked.includes("/") ? "no such transcript" : "no such session";
  return new NotOne("not-found", `no session "${asked}"; see agent-bridge ls`, "session", plain);
}
