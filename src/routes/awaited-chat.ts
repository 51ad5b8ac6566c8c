import { randomUUID } from "node:crypto";
import { pause } from "../platform/bell.ts";
import { Failure } from "../platform/failure.ts";
import type { Timer } from "../platform/timer.ts";
import { DelegatingStore } from "../stores/delegate.ts";
import type { Budget, ChildList, EntryPage, EntryPageBefore, SessionRef, Store } from "../stores/store.ts";
import { badCursor, type Cursor, fitsAgent, START } from "../transcript/cursor.ts";
import type { Entry } from "../transcript/entry.ts";
import { type AgentName, agentNameOf, type SessionId } from "../transcript/names.ts";
import type { Chat } from "./follow.ts";

/** How often a chat is asked for that is not there yet: ms. */
const POLL_MS = 250;

/** A chat that is not there yet. */
export interface Awaited {
  readonly id: SessionId;
  /** The agent in whose store it may come to be. */
  readonly agent: string | undefined;
  /** Finds it, once it is there. */
  find(): Promise<Chat | undefined>;
  readonly timer: Timer;
}

/** A chat that is empty until it is there, in a store or as a recording: whoever follows it goes on with what comes then. */
export function awaitedChat(recordings: Store, awaited: Awaited): Chat {
  // What one reader has come to read is not what another may.
  const ref: SessionRef = { agent: "daemon", id: awaited.id, place: undefined, reading: `awaited ${randomUUID()}` };
  return { store: new AwaitedStore(recordings, awaited), ref, locate: async () => ref };
}

class AwaitedStore extends DelegatingStore {
  readonly #awaited: Awaited;
  readonly #agents: readonly AgentName[];
  #found: Chat | undefined;

  constructor(recordings: Store, awaited: Awaited) {
    super(recordings);
    this.#awaited = awaited;
    const agent = agentNameOf(awaited.agent);
    this.#agents = agent === undefined ? ["daemon"] : [agent, "daemon"];
  }

  override async entries(_ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    const chat = await this.#chat();
    if (chat !== undefined) return chat.store.entries(chat.ref, from, budget);
    return { ...NOTHING, next: START, ...this.#resetAt(from) };
  }

  override async before(_ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const chat = await this.#chat();
    if (chat !== undefined) return chat.store.before(chat.ref, before, budget);
    return { ...NOTHING, next: START, prev: null, ...(before !== "tail" && this.#resetAt(before)) };
  }

  override async record(_ref: SessionRef, pos: Cursor): Promise<readonly Entry[]> {
    const chat = await this.#chat();
    if (chat !== undefined) return chat.store.record(chat.ref, pos);
    throw new Failure("not-found", "this chat has no such record: nothing was said in it yet");
  }

  override async children(): Promise<ChildList> {
    const chat = await this.#chat();
    return chat === undefined ? { children: [], uses: [], settled: false } : chat.store.children(chat.ref);
  }

  override async child(_ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    const chat = await this.#chat();
    return chat?.store.child(chat.ref, id);
  }

  override async *watch(_ref: SessionRef, signal: AbortSignal): AsyncGenerator<void> {
    for (; !signal.aborted; await pause(this.#awaited.timer, POLL_MS, signal)) {
      const chat = await this.#chat();
      if (chat === undefined) continue;
      yield;
      yield* chat.store.watch(chat.ref, signal);
      return;
    }
  }

  /** The one that was found first is read from then on, as it would be had it been there at the start. */
  async #chat(): Promise<Chat | undefined> {
    this.#found ??= await this.#awaited.find();
    return this.#found;
  }

  /** A place in a chat that is gone is none in this one. @throws Failure bad-request: another store's cursor */
  #resetAt(cursor: Cursor): { readonly reset?: true } {
    if (!this.#agents.some((agent) => fitsAgent(cursor, agent))) throw badCursor();
    return cursor === START ? {} : { reset: true };
  }
}

/** Never the same for long, so no ETag. */
const NOTHING = { entries: [], uses: [], settled: false } as const;
