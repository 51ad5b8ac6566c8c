import type { EpochMs } from "../../platform/clock.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import type { Entry, SubagentLink } from "../../transcript/entry.ts";
import { SETTLE_MS } from "../../transcript/limits.ts";
import { sessionIdOf } from "../../transcript/names.ts";
import type { Budget } from "../store.ts";
import { isDamaged } from "./content.ts";
import { hermesCursor } from "./cursor.ts";
import { type Conversation, type Conversations, firstOf } from "./lineage.ts";
import { type MessageRow, Messages } from "./messages.ts";
import { callsOfRow, delegates, entriesOfRow } from "./row-entries.ts";
import { type SessionRow, secondsToMs } from "./sessions.ts";

/** How many rows before a result its call is looked for in. */
const LOOK_BACK_ROWS = 200;
/** Bytes of the calls of those rows that are read. */
const LOOK_BACK_ROW_BYTES = 256 * 1024;

/** Some rows of a chat with all that they show. */
export interface Told {
  readonly entries: readonly Entry[];
  /** The first row that waits for its subagent, if one does. */
  readonly stop: number | undefined;
  /** The rows of which a part can't be read. */
  readonly damaged: readonly number[];
}

/** One conversation in an open database, during one synchronous step. */
export class Chat {
  readonly messages: Messages;
  readonly #conversation: Conversation;
  readonly #conversations: Conversations;
  readonly #sessions: ReadonlyMap<string, SessionRow>;

  constructor(database: SqliteDatabase, conversation: Conversation, conversations: Conversations) {
    this.#conversation = conversation;
    this.#conversations = conversations;
    this.#sessions = new Map(conversation.sessions.map((session) => [session.id, session]));
    this.messages = new Messages(database, [...this.#sessions.keys()]);
  }

  /** As many of `rows` as a page may hold; the first in any case. */
  within(rows: readonly MessageRow[], budget: Budget): readonly MessageRow[] {
    let bytes = 0;
    const end = rows.findIndex((row, index) => {
      if (index >= budget.parts) return true;
      bytes += row.isHidden || row.bytes > budget.bytes ? 0 : row.bytes;
      return index > 0 && bytes > budget.bytes;
    });
    return end < 0 ? rows : rows.slice(0, end);
  }

  /** What `rows` (which follow each other) show; a call for a subagent that may yet come stops it, if it is not older than 5 s `now`. */
  tell(rows: readonly MessageRow[], mostBytes: number, now: EpochMs | undefined): Told {
    const read = this.messages.withTexts(rows, mostBytes);
    const placed = this.#subagents(read);
    const calls = new CallSearch(this.messages, read);
    const entries: Entry[] = [];
    const damaged = read.filter(({ texts }) => isDamaged(texts?.content, texts?.toolCalls)).map(({ id }) => id);
    for (const [index, row] of read.entries()) {
      const at = this.#timeOf(row);
      const children = placed.get(row.id) ?? [];
      const waits = now !== undefined && now - at < SETTLE_MS && children.length === 0 && delegates(row);
      if (waits) return { entries, stop: row.id, damaged };
      const pos = hermesCursor(row.id);
      const session = this.#sessions.get(row.session);
      entries.push(
        ...entriesOfRow(row, {
          at,
          pos,
          model: session?.model,
          mostBytes,
          isSeam: this.#isSeam(row, read[index - 1]),
          isToldBySeam: () => this.#beginsWithSummary(row),
          call: (callId) => calls.find(callId, index),
        }),
        ...children.map((subagent): Entry => ({ kind: "subagent", at, pos, subagent })),
        ...this.#usage(row, read[index + 1], at),
      );
    }
    return { entries, stop: undefined, damaged };
  }

  #timeOf(row: MessageRow): EpochMs {
    return secondsToMs(row.timestamp) ?? this.#sessions.get(row.session)?.startedAt ?? (0 as EpochMs);
  }

  /** Whether `row` is the first of a session that goes on with another. */
  #isSeam(row: MessageRow, before: MessageRow | undefined): boolean {
    if (row.session === firstOf(this.#conversation).id || row.session === before?.session) return false;
    return this.messages.isFirst(row.session, row.id);
  }

  #beginsWithSummary(row: MessageRow): boolean {
    return row.session !== firstOf(this.#conversation).id && !this.messages.hasSummaryBefore(row.session, row.id);
  }

  /** The figures of a session so far, at its last row: they are told anew with each row to come, and the largest count. */
  #usage(row: MessageRow, after: MessageRow | undefined, at: EpochMs): Entry[] {
    const session = this.#sessions.get(row.session);
    if (session === undefined || after?.session === row.session || !this.messages.isLast(row.session, row.id))
      return [];
    const { tokens, costUsd } = session.totals;
    if (Object.keys(tokens).length === 0 && costUsd === undefined) return [];
    return [
      {
        kind: "usage",
        at,
        pos: hermesCursor(row.id),
        key: `session:${session.id}`,
        tokens,
        ...(session.model !== undefined && { model: session.model }),
        ...(costUsd !== undefined && { costUsd }),
      },
    ];
  }

  /** The subagents whose place in the chat is one of `rows`, by that row's id, those started first first. */
  #subagents(rows: readonly MessageRow[]): ReadonlyMap<number, readonly SubagentLink[]> {
    const placed = new Map<number, SubagentLink[]>();
    const children = this.#conversations.delegatedBy(this.#conversation).toReversed();
    if (children.length === 0 || rows.length === 0) return placed;
    const delegations = this.messages.delegations();
    const here = new Set(rows.map(({ id }) => id));
    for (const child of children) {
      const id = sessionIdOf(child.newest.id);
      const place = this.#placeOf(firstOf(child).startedAt, delegations);
      if (id === undefined || place === undefined || !here.has(place)) continue;
      placed.set(place, [...(placed.get(place) ?? []), { id, title: childTitle(child), agent: "hermes" }]);
    }
    return placed;
  }

  /**
   * Where a subagent stands that began at `startedAt`: at the last call for one before, if that is at most 5 s older, else
   * at the first answer of one since, else at the first row since.
   */
  #placeOf(startedAt: EpochMs, delegations: ReturnType<Messages["delegations"]>): number | undefined {
    let call: { readonly id: number; readonly at: number } | undefined;
    let answer: number | undefined;
    for (const { id, timestamp, isCall } of delegations) {
      const at = secondsToMs(timestamp) ?? 0;
      if (isCall && at <= startedAt && startedAt - at <= SETTLE_MS && (call === undefined || at > call.at)) {
        call = { id, at };
      } else if (!isCall && at >= startedAt) answer ??= id;
    }
    return call?.id ?? answer ?? this.messages.firstSince(startedAt / 1000);
  }
}

/** What a subagent is called in its parent's chat. */
export function childTitle({ sessions, newest }: Conversation): string {
  return newest.title ?? sessions.findLast(({ title }) => title !== undefined)?.title ?? "subagent";
}

/** Finds the calls that results answer: among the rows of the page, else among those before them. */
class CallSearch {
  readonly #messages: Messages;
  readonly #rows: readonly MessageRow[];
  #earlier: readonly MessageRow[] | undefined;

  constructor(messages: Messages, rows: readonly MessageRow[]) {
    this.#messages = messages;
    this.#rows = rows;
  }

  /** The call of that id nearest before the row at `index` of the page, no further back than so many rows. */
  find(callId: string, index: number): { tool: string; pos: ReturnType<typeof hermesCursor> } | undefined {
    for (let at = index - 1; at >= Math.max(0, index - LOOK_BACK_ROWS); at--) {
      const found = named(this.#rows[at], callId);
      if (found !== undefined) return found;
    }
    if (index >= LOOK_BACK_ROWS) return undefined;
    this.#earlier ??= this.#readEarlier();
    for (const row of this.#earlier.slice(0, LOOK_BACK_ROWS - index)) {
      const found = named(row, callId);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #readEarlier(): readonly MessageRow[] {
    const [first] = this.#rows;
    if (first === undefined) return [];
    const rows = this.#messages.before(first.id, LOOK_BACK_ROWS);
    const answers = rows.filter(({ role }) => role === "assistant");
    const read = new Map(this.#messages.withTexts(answers, LOOK_BACK_ROW_BYTES).map((row) => [row.id, row]));
    return rows.map((row) => read.get(row.id) ?? row);
  }
}

function named(
  row: MessageRow | undefined,
  callId: string,
): { tool: string; pos: ReturnType<typeof hermesCursor> } | undefined {
  if (row === undefined) return undefined;
  const call = callsOfRow(row).find((one) => one.callId === callId);
  return call && { tool: call.tool, pos: hermesCursor(row.id) };
}
