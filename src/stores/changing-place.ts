import { createHash } from "node:crypto";
import { formatJsonlCursor, parseJsonlCursor } from "../jsonl/cursor.ts";
import { Failure } from "../platform/failure.ts";
import { badCursor, type Cursor, fitsAgent, START } from "../transcript/cursor.ts";
import type { Entry } from "../transcript/entry.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";
import { DelegatingStore } from "./delegate.ts";
import type { Budget, EntryPage, EntryPageBefore, FarCall, SessionRef, Store } from "./store.ts";

// The chat of a session of ours is read from our recording until the agent's own store has it, and from there on then. A
// client may hold a cursor across that, and the offsets of one file mean nothing in the other. So the recording's cursors
// carry a mark of their own, and each side starts anew at a cursor of the other.

/** Tells the cursors into the recording of the session `id` of ours: 8 hex digits, as a joined chat's cursors carry them. */
export function recordingMark(id: SessionId): string {
  return createHash("sha256").update(`the recording of ${id}`).digest("hex").slice(0, 8);
}

/** The store of recordings, as it is read in the place of that of `agent`: its cursors carry `mark`. */
export class RecordingInstead extends DelegatingStore {
  readonly #mark: string;
  readonly #agent: AgentName;

  constructor(recordings: Store, mark: string, agent: AgentName) {
    super(recordings);
    this.#mark = mark;
    this.#agent = agent;
  }

  override async find(id: SessionId): Promise<SessionRef | undefined> {
    const found = await this.store.find(id);
    return found && { ...found, reading: this.#mark };
  }

  override async entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    const own = this.#unmarked(from);
    const page = await this.store.entries(ref, own ?? START, budget);
    const reset = page.reset || own === undefined;
    return { ...page, entries: this.#marked(page.entries), next: this.#withMark(page.next), ...(reset && { reset }) };
  }

  override async before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const own = before === "tail" ? before : this.#unmarked(before);
    const page = await this.store.before(ref, own ?? "tail", budget);
    const reset = page.reset || own === undefined;
    const prev = page.prev === null ? null : this.#withMark(page.prev);
    const entries = this.#marked(page.entries);
    return { ...page, entries, next: this.#withMark(page.next), prev, ...(reset && { reset }) };
  }

  override async record(ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    const own = this.#unmarked(pos);
    if (own === undefined) throw noSuchRecord();
    return this.#marked(await this.store.record(ref, own, mostBytes));
  }

  override async farCalls(ref: SessionRef): Promise<ReadonlyMap<Cursor, FarCall>> {
    const calls = await super.farCalls(ref);
    return new Map(
      [...calls].map(([pos, call]) => [this.#withMark(pos), { ...call, last: this.#withMark(call.last) }]),
    );
  }

  override async farCall(ref: SessionRef, pos: Cursor, mostBytes: number): Promise<Entry | undefined> {
    const own = this.#unmarked(pos);
    const call = own && (await super.farCall(ref, own, mostBytes));
    return call && this.#marked([call])[0];
  }

  #withMark(cursor: Cursor): Cursor {
    return cursor === START ? START : formatJsonlCursor({ ...parseJsonlCursor(cursor), chain: this.#mark });
  }

  #marked(entries: readonly Entry[]): readonly Entry[] {
    return entries.map((entry) => {
      const of = "of" in entry && entry.of !== undefined ? { of: this.#withMark(entry.of) } : {};
      const taken = "takesBack" in entry && entry.takesBack !== undefined ? this.#withMark(entry.takesBack) : undefined;
      return { ...entry, pos: this.#withMark(entry.pos), ...of, ...(taken !== undefined && { takesBack: taken }) };
    });
  }

  /** The recording's own cursor; undefined for one of the agent's store, or without the mark. @throws Failure bad-request */
  #unmarked(cursor: Cursor): Cursor | undefined {
    if (cursor === START) return START;
    if (!cursor.startsWith("j:") && fitsAgent(cursor, this.#agent)) return undefined;
    const { chain, ...own } = parseJsonlCursor(cursor);
    return chain === this.#mark ? formatJsonlCursor(own) : undefined;
  }
}

/** The agent's own store, for the chat of a session whose recording was read before: a cursor with `mark` starts anew. */
export class AfterRecording extends DelegatingStore {
  readonly #mark: string;

  constructor(store: Store, mark: string) {
    super(store);
    this.#mark = mark;
  }

  override async entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    if (!this.#isOfRecording(from)) return this.store.entries(ref, from, budget);
    return { ...(await this.store.entries(ref, START, budget)), reset: true };
  }

  override async before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    if (before === "tail" || !this.#isOfRecording(before)) return this.store.before(ref, before, budget);
    return { ...(await this.store.before(ref, "tail", budget)), reset: true };
  }

  override async record(ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    if (this.#isOfRecording(pos)) throw noSuchRecord();
    return this.store.record(ref, pos, mostBytes);
  }

  #isOfRecording(cursor: Cursor): boolean {
    if (!cursor.startsWith("j:") || !cursor.endsWith(`:${this.#mark}`)) return false;
    if (!fitsAgent(cursor, "daemon")) throw badCursor();
    return true;
  }
}

function noSuchRecord(): Failure {
  return new Failure("not-found", "this chat has no such record: read it anew from its start");
}
