import { Failure } from "../platform/failure.ts";
import { stampOf } from "../platform/files.ts";
import type { RunInventory } from "../runs/inventory.ts";
import { type Conversation, chatOf } from "../runs/reader.ts";
import { AfterRecording, RecordingInstead, recordingMark } from "../stores/changing-place.ts";
import type { Pages } from "../stores/pages.ts";
import type { SessionRef, Store } from "../stores/store.ts";
import { badCursor, type Cursor, fitsAgent, START } from "../transcript/cursor.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { Chat } from "./follow.ts";
import { type FindAgain, givingWay, isSameChat } from "./giving-way.ts";

/** The chat of a session. @throws Failure not-found: no such agent, an id that can't exist, or no such session */
export async function findChat(stores: readonly Store[], agent: string, idText: string): Promise<Chat> {
  const store = stores.find((each) => each.agent === agent);
  const id = sessionIdOf(idText);
  const ref = id && (await store?.find(id));
  if (store === undefined || id === undefined || ref === undefined) {
    throw new Failure("not-found", "no such transcript");
  }
  return { store, ref, locate: () => store.find(id) };
}

/**
 * The chat of a session's subagent. A cursor (`given`) of another store's kind is told before a child that is not there.
 * @throws Failure bad-request, not-found
 */
export async function findChild(
  session: Chat,
  childText: string,
  pages: Pages,
  given: Cursor | "tail" | undefined,
): Promise<Chat> {
  const { store } = session;
  const id = sessionIdOf(childText);
  const childOf = async (parent: SessionRef | undefined): Promise<SessionRef | undefined> =>
    id && parent && (await store.child(parent, id));
  const ref = await childOf(session.ref);
  if (ref !== undefined) {
    const standing = standingOn(ref.standsOn ?? [], session.standing);
    return { store, ref, locate: async () => childOf(await session.locate()), standing };
  }
  // The session's own chat is of the same store, so reading it there tells whether the cursor is.
  if (given !== undefined && given !== "tail") await pages.from(store, session.ref, given);
  throw new Failure("not-found", "this session has no such subagent");
}

/** What finding the chat of a session takes that may be in one store or in another. */
export interface ChatTools {
  readonly stores: readonly Store[];
  readonly pages: Pages;
}

/** The chat can't be there, because there is no store of its agent on this machine. */
export class StoreMissing extends Failure {
  constructor() {
    super("not-found", "there is no store of this agent's sessions here");
  }
}

/**
 * The chat of a run or job. A cursor (`given`) of another store's kind is told before a transcript that is missing.
 * @throws Failure conflict (no session was saved), bad-request, not-found (as StoreMissing where there is no store)
 */
export async function findConversation(
  { stores, pages }: ChatTools,
  { agent, session, recording }: Conversation,
  given: Cursor | "tail" | undefined,
  standing: Chat["standing"],
): Promise<Chat> {
  const recorded = sessionIdOf(recording);
  if (recorded !== undefined) {
    const find: FindAgain = (known) => chatOfRecorded({ stores, pages }, { agent, session, recorded }, standing, known);
    const chat = await find();
    if (chat !== undefined) return givingWay(chat, find);
  }
  if (session === undefined) throw new Failure("conflict", "no session id was saved for this, so it has no chat");
  const store = stores.find((each) => each.agent === agent);
  if (store !== undefined && given !== undefined && given !== "tail" && !fitsAgent(given, store.agent)) {
    throw badCursor();
  }
  const id = sessionIdOf(session);
  const ref = id && (await store?.find(id));
  if (store !== undefined && id !== undefined && ref !== undefined) {
    return { store, ref, locate: () => store.find(id), standing };
  }
  const roots = (await store?.report())?.roots ?? [];
  throw roots.some(({ found }) => found) ? new Failure("not-found", "its transcript is not there") : new StoreMissing();
}

/** A session that we recorded: the agent's name for it where it has one, and ours. */
export interface RecordedSession {
  readonly agent: string | undefined;
  readonly session: string | undefined;
  readonly recorded: SessionId;
}

/**
 * The chat of a session that we recorded: in the agent's own store; until something is there to show, in our recording.
 * Undefined when it is in neither. Of the one that is `known`, what it shows is not asked again: following would read the
 * start of a growing file over and over.
 */
export async function chatOfRecorded(
  { stores, pages }: ChatTools,
  { agent, session, recorded }: RecordedSession,
  standing: Chat["standing"],
  known?: Chat,
): Promise<Chat | undefined> {
  const recordings = stores.find((store) => store.agent === "daemon");
  const native = stores.find((store) => store.agent === agent && store !== recordings);
  const mark = recordingMark(recorded);
  const id = sessionIdOf(session);
  const own = id && (await native?.find(id));
  const ownChat =
    native !== undefined && id !== undefined && own !== undefined
      ? { store: new AfterRecording(native, mark), ref: own, locate: () => native.find(id), standing }
      : undefined;
  if (ownChat !== undefined) {
    const isKnown = known !== undefined && isSameChat(known, ownChat);
    if (isKnown || (await showsSomething(ownChat, pages))) return ownChat;
  }
  // Of an agent whose store is not read the recording is all there ever is.
  const store = native === undefined ? recordings : recordings && new RecordingInstead(recordings, mark, native.agent);
  const ref = await store?.find(recorded);
  if (store === undefined || ref === undefined) return ownChat && stillEmpty(ownChat);
  return { store, ref, locate: () => store.find(recorded), standing: native === undefined ? standing : ASKED_ANEW };
}

/** An agent's transcript as long as it shows nothing: not known as the one that did, and at any time the recording's may come. */
function stillEmpty({ store, ref, locate }: Chat): Chat {
  const asEmpty = (at: SessionRef): SessionRef => ({ ...at, reading: "empty" });
  const locateEmpty = async (): Promise<SessionRef | undefined> => {
    const at = await locate();
    return at && asEmpty(at);
  };
  return { store, ref: asEmpty(ref), locate: locateEmpty, standing: ASKED_ANEW };
}

/** Whether a chat has an item: a CLI makes its file before there is anything in it that is shown. */
export async function showsSomething({ store, ref }: Pick<Chat, "store" | "ref">, pages: Pages): Promise<boolean> {
  try {
    for (let from = START; ; ) {
      const { page } = await pages.from(store, ref, from);
      if (page.items.length > 0) return true;
      if (page.next === from) return false;
      from = page.next;
    }
  } catch (error) {
    // One that is there and can't be read is not passed over in silence: whoever reads it is told.
    if (!(error instanceof Failure)) throw error;
    return error.kind !== "not-found";
  }
}

/** Whether the agent's own store has come to have something of the chat, only finding it again tells. */
const ASKED_ANEW: Required<Chat>["standing"] = { facts: ["recorded"], factsNow: () => [] };

/** `before`, and that the files at `paths` are still there and still the same ones, whatever has been written to them. */
function standingOn(paths: readonly string[], before: Chat["standing"]): Required<Chat>["standing"] {
  const factsNow = (): readonly string[] => [
    ...(before?.factsNow() ?? []),
    ...paths.map((path) => identityOf(path) ?? ""),
  ];
  // One that has gone since the chat was found is told as what it can never be found to be, so that it is looked for again.
  const identities = paths.map((path) => identityOf(path) ?? "gone");
  return { facts: [...(before?.facts ?? []), ...identities], factsNow };
}

function identityOf(path: string): string | undefined {
  const stamp = stampOf(path);
  return stamp && `${stamp.dev} ${stamp.ino}`;
}

/** What says that the run or job `key` still has the chat that it was found to have. */
export function standingOf(runs: RunInventory, key: string, found: Conversation): Required<Chat>["standing"] {
  return { facts: [chatOf(found)], factsNow: () => [runs.chatNow(key) ?? ""] };
}
