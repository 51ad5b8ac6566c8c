import type { ExportedChat } from "../export/document.ts";
import { hasEnded } from "../peers/own-records.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import { Failure } from "../platform/failure.ts";
import type { Conversation } from "../runs/reader.ts";
import { sessionIdOf } from "../transcript/names.ts";
import type { ExportWays } from "./export-source.ts";
import { type ChatTools, findChat, findConversation, StoreMissing, showsSomething } from "./find.ts";
import { type NamingTools, namedSession, noChatOf, noIdYet, recordingOf } from "./named-session.ts";
import { savedSessions } from "./saved-sessions.ts";

/** What finding the ways to a session's chat takes. */
export interface WayTools extends ChatTools {
  /** Our sessions: they say which recording is of which agent's session. */
  readonly own: Pick<OwnSessions, "read">;
}

/** The ways to what `/api/transcripts/<agent>/<id>` names. @throws Failure not-found: a recording that is not there */
export async function transcriptWays(tools: WayTools, agent: string, id: string): Promise<ExportWays> {
  if (agent === "daemon") {
    await findChat(tools.stores, agent, id);
    return recordingWays(tools, id);
  }
  const native = async (): Promise<ExportedChat> => ({
    ...(await findChat(tools.stores, agent, id)),
    source: "native",
  });
  return ways(tools, native, () => recordedAs(tools, agent, id));
}

/** The ways to what `/api/sessions/<id or name>` names. @throws Failure not-found, also for a terminal or a command */
export async function sessionWays(tools: WayTools & NamingTools, idOrName: string): Promise<ExportWays> {
  const named = await namedSession(tools, idOrName);
  switch (named.kind) {
    case "own":
      return ownWays(tools, named.saved);
    case "recording":
      return foreignWays(tools, idOrName);
    case "peer": {
      const { agent, sessionId } = named.peer;
      if (sessionId === null) return ways(tools, () => Promise.reject(noIdYet()), notRecorded);
      return conversationWays(tools, { agent, session: sessionId });
    }
  }
}

/** The ways to a session of ours. @throws Failure not-found: a terminal or a command has no chat */
export function ownWays(tools: WayTools, saved: SavedSession): ExportWays {
  if (saved.kind !== "agent") throw noChatOf(saved);
  const { agent, nativeSessionId: session, id: recording } = saved;
  const native = async (): Promise<ExportedChat> => {
    if (session !== undefined) return nativeOf(tools, { agent, session });
    if (!hasEnded(saved)) throw noIdYet();
    throw new Failure("not-found", "this session ended before it had an id there");
  };
  return ways(tools, native, () => recorded(tools, recording, agent));
}

/** The ways to the chat of a run or job. @throws Failure not-found: it is the recording of a terminal or a command */
export function conversationWays(tools: WayTools, conversation: Conversation): ExportWays {
  const { agent, session, recording } = conversation;
  if (agent === "daemon" && session !== undefined) return recordingWays(tools, session);
  const daemon = (): Promise<ExportedChat> =>
    recording === undefined ? recordedAs(tools, agent, session) : recorded(tools, recording, agent);
  return ways(tools, () => nativeOf(tools, { agent, session }), daemon);
}

/** The ways to the chat of a subagent of the session that `parent` leads to. */
export function childWays(parent: ExportWays, child: string): ExportWays {
  const id = sessionIdOf(child);
  const childOf = async ({ ref, ...chat }: ExportedChat): Promise<ExportedChat> => {
    const found = id && (await chat.store.child(ref, id));
    if (!found) throw new Failure("not-found", "this session has no such subagent");
    return { ...chat, ref: found };
  };
  return {
    ...parent,
    native: async () => childOf(await parent.native()),
    daemon: async () => childOf(await parent.daemon()),
  };
}

/** The ways to a recording, which is what was asked for. @throws Failure not-found: it is of a terminal or a command */
function recordingWays(tools: WayTools, id: string): ExportWays {
  const saved = savedSessions(tools.own).find((session) => session.id === id);
  const both = saved === undefined ? foreignWays(tools, id) : ownWays(tools, saved);
  return { ...both, isRecording: true };
}

/** The ways to the recording of another program, of which is not known where its agent keeps it. */
function foreignWays(tools: WayTools, id: string): ExportWays {
  const native = async (): Promise<ExportedChat> => {
    throw new Failure(
      "not-found",
      "another program has recorded this session, so where its agent keeps it is not known",
    );
  };
  return ways(tools, native, () => recorded(tools, id, undefined));
}

function ways({ pages }: WayTools, native: ExportWays["native"], daemon: ExportWays["daemon"]): ExportWays {
  return { native, daemon, shows: (chat) => showsSomething(chat, pages) };
}

async function nativeOf(tools: WayTools, conversation: Pick<Conversation, "agent" | "session">): Promise<ExportedChat> {
  // Recordings are ours, whoever was at work.
  if (conversation.agent === "daemon") throw new StoreMissing();
  const { store, ref } = await findConversation(tools, conversation, undefined, undefined);
  return { store, ref, source: "native" };
}

/** What we recorded of the session that `agent` calls `session`: of several recordings (it was restarted), the last. */
async function recordedAs(
  tools: WayTools,
  agent: string | undefined,
  session: string | undefined,
): Promise<ExportedChat> {
  const saved = savedSessions(tools.own)
    .filter((each) => each.kind === "agent" && each.agent === agent && each.nativeSessionId === session)
    .sort((a, b) => b.startedAt - a.startedAt);
  for (const { id } of session === undefined ? [] : saved) {
    const chat = await recordedNow(tools, id, agent);
    if (chat !== undefined) return chat;
  }
  return notRecorded();
}

async function recorded(tools: WayTools, id: string, agent: string | undefined): Promise<ExportedChat> {
  return (await recordedNow(tools, id, agent)) ?? notRecorded();
}

async function recordedNow(
  { stores }: WayTools,
  idText: string,
  agent: string | undefined,
): Promise<ExportedChat | undefined> {
  const id = sessionIdOf(idText);
  const chat = id && (await recordingOf(stores, id));
  return chat && { store: chat.store, ref: chat.ref, source: "daemon", ...(agent !== undefined && { agent }) };
}

async function notRecorded(): Promise<never> {
  throw new Failure("not-found", "nothing was recorded of this session");
}
