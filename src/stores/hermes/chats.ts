import type { Clock } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { stampOf } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { toItem } from "../../transcript/item.ts";
import { CHILDREN } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { Budget, ChildEntry, ChildList, ChildStatus, EntryPage, EntryPageBefore, Totals } from "../store.ts";
import { Chat, childTitle } from "./chat.ts";
import { hermesCursor, parseHermesCursor } from "./cursor.ts";
import { type HermesRead, readHermes } from "./database.ts";
import { type Conversation, type Conversations, conversationsOf, firstOf } from "./lineage.ts";
import type { MessageRow } from "./messages.ts";
import { readSessions, sumOf } from "./sessions.ts";

/** Where a conversation lies: it is the one that this session of this database is part of. */
export interface HermesPlace {
  readonly database: string;
  readonly session: string;
}

/** Damaged messages that are remembered. */
const MOST_DAMAGED = 10_000;

/** Ends of pages that are remembered. */
const MOST_ENDS = 4096;

/**
 * The chats of Hermes' conversations, each read of which is one step in its database.
 *
 * Rows that a reader has been given may be taken back later (a rewind, or an old Hermes that rewrote its history): that is
 * seen when the last row before the reader's cursor is no longer there, and told by starting again with `reset`. A reader's
 * cursor is told from the position of a message by remembering the ends of pages that were given; after a restart, what was
 * taken back just stays on the reader's screen. A compaction in place takes nothing back: what was shown stays, and the
 * copies that it makes are not shown again.
 */
export class HermesChats {
  readonly #clock: Clock;
  readonly #damaged = new Set<string>();
  /** By conversation and cursor, the inode of the database that it was given for. */
  readonly #ends = new Recent<string, bigint>(MOST_ENDS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Messages that were met and of which a part can't be read, and one of their places. */
  get damaged(): { readonly count: number; readonly example: string | undefined } {
    const [example] = this.#damaged;
    return { count: this.#damaged.size, example };
  }

  /** The entries from `from` on. @throws Failure bad-request, not-found, unreadable */
  async entries(place: HermesPlace, from: Cursor, budget: Budget): Promise<EntryPage> {
    const given = parseHermesCursor(from);
    const now = this.#clock.now();
    const inode = stampOf(place.database)?.ino;
    const end = this.#ends.get(keyOf(place, given));
    const read = await this.#read(place, (chat) => {
      const { messages } = chat;
      const taken = end !== undefined && (end !== inode || messages.row(given - 1) === undefined);
      const reset = given > 0 && (taken || given > messages.highest() + 1);
      const start = reset ? 0 : given;
      const rows = chat.within(messages.from(start, budget.parts + 1), budget);
      const { entries, stop, damaged } = chat.tell(rows, budget.bytes, now);
      this.#note(place, damaged);
      const next = stop ?? behind(rows.at(-1)) ?? start;
      return { entries, next, reset, settled: stop === undefined, told: rows[0] !== undefined && rows[0].id !== stop };
    });
    const { entries, next, reset, settled, told } = read.value;
    if (told && read.uses[0] !== undefined) this.#ends.set(keyOf(place, next), read.uses[0].ino);
    return {
      entries,
      next: next === given ? from : hermesCursor(next),
      ...(reset && { reset: true as const }),
      uses: read.uses,
      settled: settled && !read.stale,
    };
  }

  /** The entries that end at `before`, or the last ones. @throws Failure bad-request, not-found, unreadable */
  async before(place: HermesPlace, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const given = before === "tail" ? undefined : parseHermesCursor(before);
    const now = this.#clock.now();
    const read = await this.#read(place, (chat) => {
      const reset = given !== undefined && given > chat.messages.highest() + 1;
      const end = reset ? undefined : given;
      return { ...backward(chat, end, budget, end === undefined ? now : undefined), reset };
    });
    const { entries, next, prev, reset, settled } = read.value;
    if (next !== given && next > 0 && read.uses[0] !== undefined) {
      this.#ends.set(keyOf(place, next), read.uses[0].ino);
    }
    return {
      entries,
      next: next === given && before !== "tail" ? before : hermesCursor(next),
      prev: prev === undefined ? null : hermesCursor(prev),
      ...(reset && { reset: true as const }),
      uses: read.uses,
      settled: settled && !read.stale,
    };
  }

  /** The entries of the one row at `pos`, uncut up to `mostBytes`. @throws Failure bad-request, not-found, unreadable */
  async record(place: HermesPlace, pos: Cursor, mostBytes: number): Promise<readonly Entry[]> {
    const id = parseHermesCursor(pos);
    const { value } = await this.#read(place, (chat) => {
      const row = chat.messages.row(id);
      return row && chat.tell([row], mostBytes, undefined).entries;
    });
    if (value === undefined) throw new Failure("not-found", "no record of this chat stands there");
    return value;
  }

  /** The newest `most` conversations that sessions of this one started as subagents. @throws Failure not-found, unreadable */
  async children(place: HermesPlace, most = CHILDREN): Promise<ChildList> {
    const { value, uses, stale } = await readHermes(place.database, (database) => {
      const { conversation, conversations } = conversationAt(database, place, true);
      return conversations.delegatedBy(conversation).flatMap((child) => childEntry(child) ?? []);
    });
    return { children: value.slice(0, most), uses, settled: !stale };
  }

  /** The place of the subagent `id`, when it is one of this very conversation. @throws Failure not-found, unreadable */
  async child(place: HermesPlace, id: SessionId): Promise<HermesPlace | undefined> {
    const { value } = await readHermes(place.database, (database) => {
      const { conversation, conversations } = conversationAt(database, place, false);
      const child = conversations.of(id);
      return child !== undefined && conversation.sessions.some((session) => session.id === child.delegatedBy);
    });
    return value ? { database: place.database, session: id } : undefined;
  }

  /** Tokens and cost as stored, of the conversation and of all subagents below it. @throws Failure not-found, unreadable */
  async totals(place: HermesPlace): Promise<Totals> {
    const { value } = await readHermes(place.database, (database) => {
      const { conversation, conversations } = conversationAt(database, place, false);
      const family = new Set([conversation]);
      for (const one of family) for (const child of conversations.delegatedBy(one)) family.add(child);
      return sumOf([...family].flatMap(({ sessions }) => sessions.map(({ totals }) => totals)));
    });
    return value;
  }

  #note({ database }: HermesPlace, rows: readonly number[]): void {
    for (const row of rows) if (this.#damaged.size < MOST_DAMAGED) this.#damaged.add(`${database} row ${row}`);
  }

  #read<T>(place: HermesPlace, use: (chat: Chat) => T): Promise<HermesRead<T>> {
    return readHermes(place.database, (database) => {
      const { conversation, conversations } = conversationAt(database, place, false);
      return use(new Chat(database, conversation, conversations));
    });
  }
}

/** The conversation that a place leads to now. @throws Failure not-found */
function conversationAt(
  database: SqliteDatabase,
  place: HermesPlace,
  withNewest: boolean,
): { conversation: Conversation; conversations: Conversations } {
  const conversations = conversationsOf(readSessions(database, withNewest));
  const conversation = conversations.of(place.session);
  if (conversation === undefined) throw new Failure("not-found", "no such transcript");
  return { conversation, conversations };
}

interface Backward {
  readonly entries: readonly Entry[];
  readonly next: number;
  readonly prev: number | undefined;
  readonly settled: boolean;
}

/** The page that ends before row `end` (or with the last row): as many rows as it takes to show one item. */
function backward(chat: Chat, end: number | undefined, budget: Budget, now: Parameters<Chat["tell"]>[2]): Backward {
  let entries: readonly Entry[] = [];
  let next = end;
  let settled = true;
  for (let before = end ?? Number.MAX_SAFE_INTEGER; ; ) {
    const found = chat.messages.before(before, budget.parts + 1);
    const rows = chat.within(found, budget).toReversed();
    const told = chat.tell(rows, budget.bytes, now);
    next ??= behind(rows.at(-1)) ?? 0;
    if (told.stop !== undefined) {
      // What waits for its subagent waits for the next read forward, and all behind it.
      next = told.stop;
      settled = false;
      entries = [];
    }
    entries = [...told.entries, ...entries];
    const [first] = rows;
    const more = first !== undefined && found.length > rows.length;
    if (!more) return { entries, next, prev: undefined, settled };
    if (entries.some((entry) => toItem(entry) !== undefined)) return { entries, next, prev: first.id, settled };
    before = first.id;
  }
}

function behind(row: MessageRow | undefined): number | undefined {
  return row === undefined ? undefined : row.id + 1;
}

function keyOf({ database, session }: HermesPlace, end: number): string {
  return `${database}\0${session}\0${end}`;
}

function childEntry(child: Conversation): ChildEntry | undefined {
  const id = sessionIdOf(child.newest.id);
  if (id === undefined) return undefined;
  const { updatedAt } = child.newest;
  const { startedAt } = firstOf(child);
  return { id, title: childTitle(child), status: statusOf(child), startedAt, updatedAt };
}

/** What the end that a session's row states proves; that none is stated yet proves nothing. */
function statusOf({ newest: { endedAt, endReason } }: Conversation): ChildStatus {
  if (endedAt === undefined || endReason === undefined) return "unknown";
  if (/interrupt|cancel|abort|stop|kill/i.test(endReason)) return "interrupted";
  if (/error|fail|timeout/i.test(endReason)) return "failed";
  return /complete|done|success|finish/i.test(endReason) ? "done" : "unknown";
}
