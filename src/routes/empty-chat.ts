import { Failure } from "../platform/failure.ts";
import { DelegatingStore } from "../stores/delegate.ts";
import type { ChildList, EntryPage, EntryPageBefore, SessionRef, Store } from "../stores/store.ts";
import { badCursor, type Cursor, fitsAgent, START } from "../transcript/cursor.ts";
import type { Entry } from "../transcript/entry.ts";
import { type AgentName, agentNameOf, type SessionId } from "../transcript/names.ts";
import type { Chat } from "./follow.ts";

/** The chat of the session `id` in which nothing was said yet, neither in the store of `agent` nor as a recording. */
export function emptyChat(recordings: Store, id: SessionId, agent: string | undefined): Chat {
  const ref: SessionRef = { agent: "daemon", id, place: undefined, reading: "empty" };
  return { store: new EmptyStore(recordings, agentNameOf(agent)), ref, locate: async () => ref };
}

class EmptyStore extends DelegatingStore {
  readonly #agents: readonly AgentName[];

  constructor(recordings: Store, agent: AgentName | undefined) {
    super(recordings);
    this.#agents = agent === undefined ? ["daemon"] : [agent, "daemon"];
  }

  override async entries(_ref: SessionRef, from: Cursor): Promise<EntryPage> {
    return { ...NOTHING, next: START, ...this.#resetAt(from) };
  }

  override async before(_ref: SessionRef, before: Cursor | "tail"): Promise<EntryPageBefore> {
    return { ...NOTHING, next: START, prev: null, ...(before !== "tail" && this.#resetAt(before)) };
  }

  override async record(): Promise<readonly Entry[]> {
    throw new Failure("not-found", "this chat has no such record: nothing was said in it yet");
  }

  override async children(): Promise<ChildList> {
    return { children: [], uses: [], settled: false };
  }

  override async child(): Promise<SessionRef | undefined> {
    return undefined;
  }

  /** There is nothing to watch until another chat takes the place of this one. */
  override async *watch(_ref: SessionRef, signal: AbortSignal): AsyncGenerator<void> {
    yield;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** A place in a chat that is gone is none in this one. @throws Failure bad-request: another store's cursor */
  #resetAt(cursor: Cursor): { readonly reset?: true } {
    if (!this.#agents.some((agent) => fitsAgent(cursor, agent))) throw badCursor();
    return cursor === START ? {} : { reset: true };
  }
}

/** Never the same for long, so no ETag. */
const NOTHING = { entries: [], uses: [], settled: false } as const;
