import type { Sessions } from "../agents/sessions.ts";
import { hasEnded } from "../peers/own-records.ts";
import type { OwnSessions, SavedSession } from "../peers/own-sessions.ts";
import type { Peers } from "../peers/peer.ts";
import { Failure } from "../platform/failure.ts";
import type { RunInventory } from "../runs/inventory.ts";
import { type QueryParameter, type Route, route, type SseEvent } from "../server/route.ts";
import type { Inventory } from "../stores/inventory.ts";
import { type Cursor, START } from "../transcript/cursor.ts";
import { type AgentName, agentNameOf, sessionIdOf } from "../transcript/names.ts";
import type { RouteContext } from "./context.ts";
import { emptyChat } from "./empty-chat.ts";
import { findChat, findChild } from "./find.ts";
import { type Chat, follow } from "./follow.ts";
import { givingWay } from "./giving-way.ts";
import { merged } from "./merge.ts";
import { readCursorOrTail } from "./query.ts";
import { RUN_CHANGE } from "./run-schemas.ts";
import { savedSessions } from "./saved-sessions.ts";
import { AGENT, COUNT, ID, ITEM, LIST_CHANGE, list, object, orNull, TEXT } from "./schemas.ts";

/** A chat that a client follows, as it named it. */
interface NamedChat {
  readonly agent: AgentName;
  readonly id: string;
  readonly child?: string;
  readonly from: Cursor | "tail";
}

/** Chats on one connection. */
const MOST_CHATS = 100;

const CHAT: QueryParameter<readonly NamedChat[]> = {
  description:
    "A chat to follow, as often as there are chats: `<agent>/<id>@<cursor>`, or `<agent>/<id>/<child>@<cursor>` for a " +
    "subagent's. The cursor is the `next` of a page, 0 (or none) for the start, or `tail` for the last page and what follows.",
  schema: TEXT,
  repeats: { most: MOST_CHATS },
  read: (texts) => differing(texts.map(readNamedChat)),
};

const PATTERN = "/api/events";

/** What the stream tells of: also our own sessions, where this program can start any, and who is live, where that is looked for. */
type EventsContext = RouteContext & {
  readonly sessions?: Pick<Sessions, "changes">;
  readonly peers?: Pick<Peers, "changes" | "generation">;
  readonly own?: Pick<OwnSessions, "read">;
};

/** Everything that changes, on one connection. */
export function eventsRoute(context: EventsContext): Route {
  return route({
    method: "GET",
    pattern: PATTERN,
    summary: "What changes, and the pages of the chats named, as server-sent events; nothing is repeated after a break",
    query: { chat: CHAT },
    answer: {
      description:
        "By event: `hello`, first; `transcripts`, that the list of sessions changed; `chat`, a page of a chat, to be " +
        "shown anew from its start with `reset`; `chat-error`, that nothing more will come of a chat, and why; " +
        "`peers`, `runs` and `sessions`, that those lists changed.",
      anyOf: [
        object({ generation: COUNT }),
        LIST_CHANGE,
        RUN_CHANGE,
        object({}),
        object(
          { agent: AGENT, id: ID, items: list(ITEM), next: TEXT },
          { child: ID, prev: orNull(TEXT), reset: { const: true } },
        ),
        object({ agent: AGENT, id: TEXT, error: TEXT }, { child: TEXT }),
      ],
    },
    media: "text/event-stream",
    access: "key",
    handle: async ({ query, signal }) => ({ kind: "events", events: events(query.chat ?? [], context, signal) }),
  });
}

async function* events(
  chats: readonly NamedChat[],
  context: EventsContext,
  signal: AbortSignal,
): AsyncGenerator<SseEvent, void> {
  const { generation } = context.inventory;
  // From now on: a change between the first event and the list that a client then asks for must not be missed.
  const sessions = context.sessions?.changes(signal);
  const peers = context.peers?.changes(signal);
  yield { event: "hello", data: { generation } };
  const lists = [
    listChanges(context.inventory, generation, signal),
    runChanges(context.runs, signal),
    ...(sessions === undefined ? [] : [sessionChanges(sessions)]),
    ...(context.peers === undefined || peers === undefined ? [] : [peerChanges(context.peers, peers)]),
  ];
  yield* merged([...lists, ...chats.map((chat) => pagesOf(chat, context, signal))], signal);
}

async function* listChanges(inventory: Inventory, since: number, signal: AbortSignal): AsyncGenerator<SseEvent, void> {
  for await (const change of inventory.changes(signal, since)) yield { event: "transcripts", data: change };
}

async function* runChanges(runs: RunInventory, signal: AbortSignal): AsyncGenerator<SseEvent, void> {
  for await (const change of runs.changes(signal)) yield { event: "runs", data: change };
}

async function* sessionChanges(changes: AsyncIterable<void>): AsyncGenerator<SseEvent, void> {
  for await (const _ of changes) yield { event: "sessions", data: {} };
}

async function* peerChanges(
  peers: Pick<Peers, "generation">,
  changes: AsyncIterable<void>,
): AsyncGenerator<SseEvent, void> {
  for await (const _ of changes) yield { event: "peers", data: { generation: peers.generation } };
}

/** The pages of one chat; whatever goes wrong with it is an event of its own, so that the others go on. */
async function* pagesOf(chat: NamedChat, context: EventsContext, signal: AbortSignal): AsyncGenerator<SseEvent, void> {
  const { from, ...name } = chat;
  try {
    const session = await findOrAwait(context, chat.agent, chat.id);
    const followed = chat.child === undefined ? session : await findChild(session, chat.child, context.pages, from);
    for await (const page of follow(followed, from, context, signal)) {
      yield { event: "chat", data: { ...name, ...page } };
    }
    if (!signal.aborted) yield { event: "chat-error", data: { ...name, error: "this transcript is gone" } };
  } catch (error) {
    if (!(error instanceof Failure)) context.fault(PATTERN, error);
    const message = error instanceof Failure ? error.message : "this transcript could not be read";
    yield { event: "chat-error", data: { ...name, error: message } };
  }
}

/** A chat, also one of a live session of ours that is not there yet: it is empty until then. @throws Failure not-found */
async function findOrAwait({ stores, own }: EventsContext, agent: AgentName, idText: string): Promise<Chat> {
  const isAwaited = (): boolean =>
    own !== undefined &&
    savedSessions(own).some((session) => !hasEnded(session) && mayComeToBe(session, agent, idText));
  const find = (): Promise<Chat> => findChat(stores, agent, idText);
  try {
    return await find();
  } catch (error) {
    const recordings = stores.find((store) => store.agent === "daemon");
    const id = sessionIdOf(idText);
    if (recordings === undefined || id === undefined || !isAwaited()) throw error;
    return givingWay(
      emptyChat(recordings, id, agent),
      () => find().catch(notThere),
      () => !isAwaited(),
    );
  }
}

/** Whether the chat `id` of `agent` is where the session's recording, or its agent's transcript, will be. */
function mayComeToBe({ id, kind, agent, nativeSessionId }: SavedSession, of: AgentName, named: string): boolean {
  return kind === "agent" && (of === "daemon" ? named === id : of === agent && named === nativeSessionId);
}

function notThere(error: unknown): undefined {
  if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
}

/** @throws Failure bad-request: two of `chats` are the same, whose pages could not be told apart */
function differing(chats: readonly NamedChat[]): readonly NamedChat[] {
  const names = new Set(chats.map(({ agent, id, child }) => [agent, id, child ?? ""].join("/")));
  if (names.size < chats.length) throw new Failure("bad-request", "a chat stands more than once");
  return chats;
}

function readNamedChat(text: string): NamedChat {
  const [, agentText, id = "", child, cursor] = /^([^/@]+)\/([^/@]+)(?:\/([^/@]+))?(?:@(.+))?$/.exec(text) ?? [];
  const agent = agentNameOf(agentText);
  if (agent === undefined) {
    throw new Failure("bad-request", "chat must be <agent>/<id>@<cursor>, with the next of a page as the cursor");
  }
  return {
    agent,
    id,
    ...(child !== undefined && { child }),
    from: cursor === undefined ? START : readCursorOrTail(cursor),
  };
}
