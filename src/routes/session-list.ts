import { isLive } from "../agents/saved.ts";
import type { SessionDescriptor, SessionKind, Sessions } from "../agents/sessions.ts";
import { Failure } from "../platform/failure.ts";
import { compareRuns, keyPage, type RunCursor } from "../runs/page.ts";
import type { LIST_STATES } from "../stores/list-query.ts";
import type { Listed } from "../stores/store.ts";
import { type SessionId, sessionIdOf } from "../transcript/names.ts";
import type { SessionContext } from "./context.ts";
import { findChat } from "./find.ts";
import type { Recorded } from "./recorded-events.ts";

/** The store of recordings. */
const RECORDINGS = "daemon";

/** What the list of sessions and each of them is made from. */
export interface SessionSources extends Pick<SessionContext, "stores" | "inventory"> {
  readonly sessions: Pick<Sessions, "list" | "find">;
}

/** Which sessions a list holds. */
export interface SessionFilter {
  readonly kind?: SessionKind | undefined;
  readonly state?: (typeof LIST_STATES)[number] | undefined;
}

/** A page of the list. */
export interface SessionPage {
  readonly sessions: readonly SessionDescriptor[];
  readonly next: string | null;
  readonly total: number;
}

/** A session with what orders it among the others. */
interface SessionKey {
  readonly startedAt: number;
  readonly name: string;
  readonly shown: SessionDescriptor;
}

/** A session that was found. */
export interface FoundSession {
  readonly shown: SessionDescriptor;
  /** Whether it is one of those that this program starts; else another has recorded it. */
  readonly own: boolean;
}

/** The list of our own sessions and the recordings of other programs, the last started first. */
export class SessionList {
  readonly #sources: Pick<SessionSources, "inventory"> & { readonly sessions: Pick<Sessions, "list"> };
  /** The recordings as they were at a generation of the inventory. */
  #recordings: { readonly generation: number; readonly keys: readonly SessionKey[] } | undefined;

  constructor(sources: Pick<SessionSources, "inventory"> & { readonly sessions: Pick<Sessions, "list"> }) {
    this.#sources = sources;
  }

  /** At most `limit` of the sessions that pass, from behind `before` on. */
  async page(filter: SessionFilter, before: RunCursor | undefined, limit: number): Promise<SessionPage> {
    const own = (await this.#sources.sessions.list()).map(keyOf);
    const ids = new Set(own.map(({ name }) => name));
    const others = wantsRecordings(filter) ? (await this.#recorded()).filter(({ name }) => !ids.has(name)) : [];
    const sorted = [...own, ...others].filter(({ shown }) => passes(shown, filter)).sort(compareRuns);
    const { keys, next } = keyPage(sorted, before, limit);
    return { sessions: keys.map(({ shown }) => shown), next, total: sorted.length };
  }

  async #recorded(): Promise<readonly SessionKey[]> {
    const { inventory } = this.#sources;
    await inventory.settled();
    const { generation } = inventory;
    if (this.#recordings?.generation === generation) return this.#recordings.keys;
    const query = { agent: RECORDINGS, children: true, limit: Number.POSITIVE_INFINITY } as const;
    const { transcripts } = await inventory.query(query);
    const keys = transcripts.map((row) => keyOf(recorded(row))).sort(compareRuns);
    this.#recordings = { generation, keys };
    return keys;
  }
}

/** The session that a path names: by id before by name. @throws Failure not-found */
export async function requireSession(sources: SessionSources, idOrName: string): Promise<FoundSession> {
  const own = await sources.sessions.find(idOrName);
  if (own !== undefined && own.id === idOrName) return { shown: own, own: true };
  const row = await recordingRow(sources, idOrName);
  if (row !== undefined) return { shown: recorded(row), own: false };
  if (own !== undefined) return { shown: own, own: true };
  throw new Failure("not-found", "no such session");
}

/** Whether `text` is the id of a session of ours, or of a recording whether it is listed or not. */
export async function isSessionId({ sessions, stores }: SessionSources, text: string): Promise<boolean> {
  if ((await sessions.find(text))?.id === text) return true;
  const id = sessionIdOf(text);
  const store = stores.find(({ agent }) => agent === RECORDINGS);
  return id !== undefined && (await store?.find(id)) !== undefined;
}

/** The session of ours that a path names. @throws Failure not-found · conflict: another program has recorded it */
export async function requireOwn(sources: SessionSources, idOrName: string): Promise<SessionDescriptor> {
  const { shown, own } = await requireSession(sources, idOrName);
  if (own) return shown;
  throw new Failure("conflict", "another program has recorded this session, so it can only be read here");
}

/**
 * The recording of the session that a path names, ours or another program's; also of one of which nothing is recorded yet.
 * @throws Failure not-found: no such session, or one of a kind that is not recorded
 */
export async function findRecording(sources: SessionSources, idOrName: string): Promise<Recorded> {
  const { shown } = await requireSession(sources, idOrName);
  if (shown.kind !== "agent") throw new Failure("not-found", `a ${shown.kind} session has no events`);
  const store = sources.stores.find(({ agent }) => agent === RECORDINGS);
  if (store === undefined) throw new Failure("not-found", "there is no store of recordings here");
  const locate = () => store.find(shown.id);
  return { sessionId: shown.id, store, ref: await locate(), locate };
}

function keyOf(shown: SessionDescriptor): SessionKey {
  return { startedAt: shown.startedAt, name: shown.id, shown };
}

function wantsRecordings({ kind, state }: SessionFilter): boolean {
  return (kind === undefined || kind === "agent") && state !== "live";
}

function passes(session: SessionDescriptor, { kind, state }: SessionFilter): boolean {
  return (
    (kind === undefined || session.kind === kind) && (state === undefined || isLive(session) === (state === "live"))
  );
}

async function recordingRow({ stores, inventory }: SessionSources, text: string): Promise<Listed | undefined> {
  const id = sessionIdOf(text);
  const chat = id && (await findChat(stores, RECORDINGS, id).catch(missing));
  if (chat === undefined || id === undefined) return undefined;
  await inventory.settled();
  return inventory.row(RECORDINGS, id) ?? (await chat.store.unlisted?.(chat.ref));
}

/** A recording of another program, as a session: nothing tells that it goes on. */
function recorded({ id, cwd, model, startedAt, updatedAt }: Listed): SessionDescriptor {
  const facts = { id: id as SessionId, kind: "agent", status: "ended", cwd, startedAt, endedAt: updatedAt } as const;
  return { ...facts, ...(model !== undefined && { model }) };
}

function missing(error: unknown): undefined {
  if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
}
