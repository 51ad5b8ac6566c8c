import type { EpochMs } from "../platform/clock.ts";
import type { FileStamp } from "../platform/files.ts";
import type { Cursor } from "../transcript/cursor.ts";
import type { Entry, Tokens } from "../transcript/entry.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";

/** A session (or a child of one) that a store has found. Only that store looks at `place`. */
export interface SessionRef {
  readonly agent: AgentName;
  readonly id: SessionId;
  /** The child's id, when this is a subagent's chat. */
  readonly child?: SessionId;
  /** Where the store keeps it. */
  readonly place: unknown;
  /** Tells ways of reading the same chat apart whose cursors are written differently. */
  readonly reading?: string;
  /** Files without which it would not be found, besides those that its pages are made from: its parent's. */
  readonly standsOn?: readonly string[];
}

/** A session as lists show it: the row of `GET /api/transcripts`. Times in ms since the epoch. */
export interface Listed {
  readonly agent: AgentName;
  readonly id: SessionId;
  /** At most 160 characters. */
  readonly title: string;
  /** The folder it started in; empty when the store does not say. */
  readonly cwd: string;
  readonly branch?: string;
  readonly startedAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** Size of its files, where it has files of its own. */
  readonly bytes?: number;
  readonly model?: string;
  /** The id of the session it is a child of. */
  readonly parent?: SessionId;
  /** A process has it open now, and what it does as far as the store proves it. */
  readonly live?: { readonly pid: number; readonly activity?: string };
  /** A command that goes on with it in the agent's own CLI, and the folder to run it in. */
  readonly resume?: { readonly command: readonly string[]; readonly cwd: string };
}

/** What the store proves of a child; stopped, killed and cancelled are `interrupted`. */
export type ChildStatus = "unknown" | "running" | "done" | "interrupted" | "failed";

/** A subagent in its parent's list. */
export interface ChildEntry {
  readonly id: SessionId;
  /** At most 160 characters. */
  readonly title: string;
  readonly status: ChildStatus;
  readonly startedAt: EpochMs;
  readonly updatedAt: EpochMs;
  /** The id of the child it was started by, where that is not the session itself. */
  readonly parent?: SessionId;
}

/** How much one read may consume. */
export interface Budget {
  /** Bytes of JSONL or of SQLite part data; a longer record is oversized. */
  readonly bytes: number;
  /** SQLite rows. */
  readonly parts: number;
}

/** Which state of which files an answer was made from. */
export interface Provenance {
  /** Every file the answer depends on, as it was when it was read, the chat's own first; what an ETag hashes. */
  readonly uses: readonly FileStamp[];
  /** False while the same files may yet give another answer (a row or a spawn call still settling): no ETag then. */
  readonly settled: boolean;
}

/** Which file a chat was read from. */
export interface Edition {
  /**
   * Another number than at an earlier read of the same path when what stands there is not what was read then, also when it
   * was replaced in place: a cursor from before may fit it by chance. Absent where the store's cursors never do.
   */
  readonly edition?: number;
}

/** What a page goes on with. */
export interface Continuing {
  /**
   * The ids of entries that began before the page, which tells what became of them: their place is further up. Absent where
   * there are none, or the store can't tell (OpenCode, whose updates come in the order of their times).
   */
  readonly earlier?: ReadonlySet<string>;
}

/** One read of a chat, uncut. */
export interface EntryPage extends Provenance, Edition, Continuing {
  readonly entries: readonly Entry[];
  /** Where the next read starts; never repeats or loses a record. */
  readonly next: Cursor;
  /** The cursor given did not fit this transcript (any more): the page starts at the beginning. */
  readonly reset?: true;
}

/** One read backward. An entry that its page above tells as it became stands there alone. */
export interface EntryPageBefore extends Provenance, Edition, Continuing {
  readonly entries: readonly Entry[];
  /** Where the page ends: `from` of what follows it. */
  readonly next: Cursor;
  /** Where it starts: `before` of the page before it; null at the start of the chat and only there. */
  readonly prev: Cursor | null;
  readonly reset?: true;
}

/** A record of a recording, just as it stands in the file. */
export interface RawEvent {
  /** Its number: the recording's cursor. */
  readonly seq: number;
  /** Its line, without the newline: the text of a JSON object. */
  readonly line: string;
}

/** One read of a recording's records. */
export interface RawEventPage extends Provenance, Edition {
  /** In file order. One that is read again unchanged may be the same list as before. */
  readonly events: readonly RawEvent[];
  /** The number behind which the next read goes on: of the last of these, else the one that was given (else 0). */
  readonly nextSeq: number;
  /** Where the next read goes on, exactly. */
  readonly next: Cursor;
  /** There is nothing more now. */
  readonly complete: boolean;
  /** What was given was a place in a file that is there no more: the page starts at the beginning. */
  readonly reset?: true;
}

/** The children of a session, newest first. */
export interface ChildList extends Provenance {
  readonly children: readonly ChildEntry[];
}

/** Tokens (and cost, where stated) of a session and its own children. */
export interface Totals {
  readonly tokens: Tokens;
  readonly costUsd?: number;
}

/** Something of a store changed: one session, or (without an id) which sessions there are. */
export interface Change {
  readonly id?: SessionId;
}

/** Proof that a process has a session open. */
export interface LiveProof {
  readonly id: SessionId;
  readonly pid: number;
  readonly cwd: string;
  readonly startedAt: EpochMs;
  readonly activity?: string;
  readonly name?: string;
}

/** Why things that lie in a store were not shown, with one place as an example. */
export interface Skipped {
  readonly reason: string;
  readonly count: number;
  readonly example: string;
}

/** What `doctor` and `/api/state` say of a store. */
export interface StoreReport {
  readonly agent: AgentName;
  readonly roots: readonly { readonly path: string; readonly found: boolean; readonly note?: string }[];
  readonly sessions: number;
  /** Versions or generations of the format that were met. */
  readonly formats: readonly string[];
  readonly skipped: readonly Skipped[];
}

/** How thoroughly a list looks: `quick` trusts what watching told since the last `sweep`, which asks every file anew. */
export type ListEffort = "quick" | "sweep";

/** A call that pages can't tell whole. */
export interface FarCall {
  readonly callId: string;
  /** Where its last record stands. */
  readonly last: Cursor;
}

/** One agent's history: read-only, and the one way through to it. */
export interface Store {
  readonly agent: AgentName;
  /**
   * Every session, in no order. Unchanged files are not read again; waits now and then so as not to hold up others. A
   * row that says the same as last time should be the same object: then nobody compares its fields.
   */
  list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]>;
  /**
   * The newest sessions that are no children and whose ids begin with `start`, newest first and at most `most`, for who can't
   * wait for a whole list: names and times of all files are looked at, and no others read than these. Absent where a list
   * costs no more.
   */
  newest?(start: string, most: number): Promise<readonly Listed[]>;
  /** The session with this id, wherever it lies now. */
  find(id: SessionId): Promise<SessionRef | undefined>;
  /**
   * The row of a session that is found and that the list leaves out, since nothing in it is shown yet. A store without
   * this lists all that it finds.
   */
  unlisted?(ref: SessionRef): Promise<Listed | undefined>;
  /** The entries from `from` on. @throws Failure bad-request for another store's cursor, not-found when it is gone. */
  entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage>;
  /** The entries that end at `before`, or the last ones; oversized records are stepped over until one item is found. */
  before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore>;
  /**
   * The entries of the one record at `pos`, also of one too large for a page: whole up to `mostBytes` (32 MiB when left out),
   * else the marker `oversized`. Of a record that only goes on with an item that an earlier one began: that item. What it gives
   * stands in the place of all that a page gives at `pos`. With `mostBytes` given, the whole chat is gone through where an entry
   * `goesFarBack`. @throws Failure not-found
   */
  record(ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]>;
  /**
   * Calls whose records lie too far apart for a page to put them together, or are too long for one, by the `pos` of the first.
   * `farCall` gives one whole, which tells also what later entries of it up to its last record do. Looks
   * through the whole chat. Only recordings have these. @throws Failure not-found
   */
  farCalls?(ref: SessionRef): Promise<ReadonlyMap<Cursor, FarCall>>;
  /** The whole call that begins at `pos`, one of `farCalls`; records of up to `mostBytes` are read for it. */
  farCall?(ref: SessionRef, pos: Cursor, mostBytes: number): Promise<Entry | undefined>;
  /** Its newest subagents: at most `most`, 200 when left out. */
  children(ref: SessionRef, most?: number): Promise<ChildList>;
  /** A subagent of this very session, else undefined. */
  child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined>;
  /**
   * The records behind the number `from`, or from the place `from` (the `next` of an earlier page) on: at most `limit` (from 1
   * to 2000), and no more than about 4 MiB, but one at least. Every line that is a JSON object with a number `seq`, unchanged.
   * Numbers that fall back in a file, as those of some other writers do, are told in file order all the same: passing on
   * `nextSeq` never loops; which of several records with that number is meant is known as long as the page is remembered, and
   * after that it is taken to be the last. Only recordings have this.
   * @throws Failure bad-request: no such place · not-found
   */
  rawEvents?(ref: SessionRef, from: number | Cursor, limit: number): Promise<RawEventPage>;
  /** Its totals when they are counted; undefined starts the counting in the background. */
  totals(ref: SessionRef): Promise<Totals | undefined>;
  /**
   * Yields when it has begun to watch, and then whenever a chat may have grown, at once where the system tells, else by
   * asking; ends with the signal. What happens between two readings of it is not lost.
   */
  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void>;
  /**
   * Yields what changed in the store as it happens; ends with the signal. From the first reading on, a `quick` list may
   * trust it, so what is not watched yet is to be asked.
   */
  changes(signal: AbortSignal): AsyncIterable<Change>;
  /** The sessions that a process has open now. */
  live(): Promise<readonly LiveProof[]>;
  /** Where it looked, what it found, what it left out and why. */
  report(): Promise<StoreReport>;
}
