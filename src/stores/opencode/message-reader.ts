import type { SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import { type ChatSource, type PageNeed, timeOf, type Unit } from "./chat-rows.ts";
import { isRowId } from "./cursor.ts";
import { inIdOrder } from "./id-order.ts";
import { factsOf, factsSql, type MessageFacts, unreadFacts } from "./message-facts.ts";

/** A message's place in the conversation. */
export interface Place {
  readonly time: SqliteValue;
  readonly id: string;
}

/** A message with its parts in their order, then what it itself says. */
export interface Message extends Place {
  readonly units: readonly Unit[];
}

/** Where reading begins, and which way it goes. */
export interface Bound {
  readonly direction: "ASC" | "DESC";
  /** Undefined at the first (or last) message of the session. */
  readonly place: Place | undefined;
  /** Whether the message at `place` is read too. */
  readonly inclusive: boolean;
}

/** Where a query ended; undefined at the end of the session. */
interface Stretch {
  readonly end: Place | undefined;
  /** It stopped within that message, which holds more than a page: what is in it is for the keys alone to tell. */
  readonly isCrowded: boolean;
}

/** Data of a message that is at most so many bytes is read along with every part of it. */
const ALONG_BYTES = 2 * 1024;

/**
 * Reads v1 messages with their parts. One query gives the keys of a page's rows and their contents, as far as a page holds
 * them; what is asked for beyond that is read by its ids. The `+` before `session_id`, here and elsewhere, keeps SQLite from
 * going through all rows of the session where an id names the few.
 */
export class MessageReader {
  readonly #source: ChatSource;
  /** The rows of the parts that were read with their data. */
  readonly #parts = new Map<string, SqliteRow>();
  readonly #facts = new Map<string, MessageFacts>();

  constructor(source: ChatSource) {
    this.#source = source;
  }

  /** The message that a part or the message itself is of; undefined when there is no such row in this session. */
  messageOf(id: string): Place | undefined {
    const { database, session } = this.#source;
    const row = database.first(
      `SELECT id, time_created FROM message
       WHERE id = coalesce((SELECT message_id FROM part WHERE id = ? AND +session_id = ?), ?) AND +session_id = ?`,
      id,
      session,
      id,
      session,
    );
    return row && { time: row.time_created ?? null, id: String(row.id) };
  }

  /** The messages from a place on. Reading ends where the caller stops, so no more is read than a page needs. */
  *messages({ direction, place, inclusive }: Bound, need: PageNeed): Generator<Message> {
    this.#parts.clear();
    const comparison = `${direction === "ASC" ? ">" : "<"}${inclusive ? "=" : ""}`;
    let bound = place && { comparison, place };
    while (true) {
      const stretch: Stretch = yield* this.#stream(direction, bound, need);
      if (stretch.end === undefined) return;
      if (stretch.isCrowded) yield* this.withParts("id = ?", stretch.end.id);
      bound = { comparison: direction === "ASC" ? ">" : "<", place: stretch.end };
    }
  }

  /**
   * As many messages as can fill a page. A session that an older database has no index for is sorted for it, so only what
   * is small may stand in the subquery; the `LIMIT` keeps it from becoming one with the join.
   */
  *#stream(
    direction: Bound["direction"],
    bound: { readonly comparison: string; readonly place: Place } | undefined,
    { bytes, parts, mostBytes }: PageNeed,
  ): Generator<Message, Stretch> {
    const { database, session } = this.#source;
    const where = bound === undefined ? "" : `AND (time_created, id) ${bound.comparison} (?, ?)`;
    const rows = database.each(
      `SELECT m.id AS message, m.time_created AS created, m.time_updated AS updated, m.facts,
              p.id, p.time_created, p.time_updated, octet_length(p.data) AS bytes,
              CASE WHEN octet_length(p.data) <= ? THEN p.data END AS data
       FROM (SELECT id, time_created, time_updated, CASE WHEN octet_length(data) <= ${ALONG_BYTES} THEN data END AS facts
             FROM message WHERE session_id = ? ${where} ORDER BY time_created ${direction}, id ${direction} LIMIT ?) m
       LEFT JOIN part p ON p.message_id = m.id AND +p.session_id = ?`,
      mostBytes,
      session,
      ...(bound === undefined ? [] : [bound.place.time, bound.place.id]),
      parts + 1,
      session,
    );
    let group: SqliteRow[] = [];
    let messages = 0;
    let held = 0;
    let last: Place | undefined;
    for (const row of rows) {
      if (last?.id !== row.message) {
        if (group.length > 0) yield this.#messageOf(group);
        group = [];
        messages++;
        last = { id: String(row.message), time: row.created ?? null };
      }
      if (held > bytes) return { end: last, isCrowded: true };
      held += row.data === null ? 0 : Number(row.bytes);
      if (row.id !== null) this.#parts.set(String(row.id), row);
      group.push(row);
    }
    if (group.length > 0) yield this.#messageOf(group);
    return { end: messages > parts ? last : undefined, isCrowded: false };
  }

  /** The messages that `condition` picks, in its order, with the keys of their parts: no part's data is read. */
  withParts(condition: string, ...parameters: SqliteValue[]): Message[] {
    const { database, session } = this.#source;
    const rows = database.all(
      `SELECT m.id AS message, m.time_created AS created, m.time_updated AS updated,
              p.id, p.time_updated, octet_length(p.data) AS bytes
       FROM (SELECT id, time_created, time_updated FROM message WHERE ${condition} AND +session_id = ?) m
       LEFT JOIN part p ON p.message_id = m.id AND +p.session_id = ?`,
      ...parameters,
      session,
      session,
    );
    const groups = new Map<SqliteValue | undefined, SqliteRow[]>();
    for (const row of rows) {
      const group = groups.get(row.message);
      if (group === undefined) groups.set(row.message, [row]);
      else group.push(row);
    }
    return [...groups.values()].map((group) => this.#messageOf(group));
  }

  /** The rows of these ids, in conversation order: parts, and messages. */
  keysOf(ids: readonly string[]): Unit[] {
    const { database, session } = this.#source;
    const list = JSON.stringify(ids);
    const named = "id IN (SELECT value FROM json_each(?)) AND +session_id = ?";
    const parts = database.all(
      `SELECT id, time_updated, octet_length(data) AS bytes, message_id AS message,
              (SELECT time_created FROM message m WHERE m.id = message_id) AS created FROM part WHERE ${named}`,
      list,
      session,
    );
    const messages = database.all(
      `SELECT id AS message, time_created AS created, time_updated AS updated FROM message WHERE ${named}`,
      list,
      session,
    );
    const places = new Map([...parts, ...messages].map((row) => [String(row.message), placeOf(row)]));
    return [...places.values()].sort(inOrder).flatMap(({ id, time }) => {
      const own = parts.flatMap((row) => (row.message === id ? partUnit(String(row.id), row) : []));
      const said = messages.flatMap((row) => (row.message === id ? messageUnit(id, row) : []));
      return [...inIdOrder(own, timeOf(time)), ...said];
    });
  }

  /** The rows of the parts among `units`, with data of at most `mostBytes`. */
  parts(units: readonly Unit[], mostBytes: number): Map<string, SqliteRow> {
    const rows = new Map<string, SqliteRow>();
    const missing: string[] = [];
    for (const { id, kind, bytes } of units) {
      if (kind !== "part") continue;
      const row = this.#parts.get(id);
      if (row !== undefined && (row.data !== null || bytes > mostBytes)) rows.set(id, row);
      else missing.push(id);
    }
    if (missing.length === 0) return rows;
    const read = this.#source.database.all(
      `SELECT id, message_id AS message, time_created, octet_length(data) AS bytes,
              CASE WHEN octet_length(data) <= ? THEN data END AS data
       FROM part WHERE id IN (SELECT value FROM json_each(?))`,
      mostBytes,
      JSON.stringify(missing),
    );
    for (const row of read) rows.set(String(row.id), row);
    return rows;
  }

  /** What messages say besides their parts. */
  facts(ids: ReadonlySet<string>): ReadonlyMap<string, MessageFacts> {
    const missing = [...ids].filter((id) => !this.#facts.has(id));
    if (missing.length === 0) return this.#facts;
    const rows = this.#source.database.all(
      `SELECT id, time_created, ${factsSql("data")} AS facts FROM message WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(missing),
    );
    for (const { id, time_created, facts } of rows) this.#learn(String(id), time_created, facts);
    return this.#facts;
  }

  #learn(id: string, created: SqliteValue | undefined, facts: SqliteValue | undefined): void {
    const read = factsOf(id, created, facts);
    if (read === undefined) this.#source.problems.add("a message that is too large or no JSON", `message ${id}`);
    this.#facts.set(id, read ?? unreadFacts(id, created));
  }

  /** A message from the rows of its parts, of which there is at least one; one without parts has a row without a part. */
  #messageOf(rows: readonly SqliteRow[]): Message {
    const [own = {}] = rows;
    const id = String(own.message);
    if (typeof own.facts === "string" && !this.#facts.has(id)) this.#learn(id, own.created, own.facts);
    const parts = rows.flatMap((row): Unit[] => {
      if (row.id === null) return [];
      if (isRowId(row.id)) return [partUnit(row.id, row)];
      this.#source.problems.add("a row with an id of another form", `message ${id}`);
      return [];
    });
    const ordered = inIdOrder(parts, timeOf(own.created));
    const units = isRowId(id) ? [...ordered, messageUnit(id, own)] : ordered;
    return { id, time: own.created ?? null, units };
  }
}

/** By time, then id, as SQLite orders messages. */
export function inOrder(a: Place, b: Place): number {
  return Number(a.time ?? 0) - Number(b.time ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function placeOf({ message, created }: SqliteRow): Place {
  return { id: String(message), time: created ?? null };
}

function partUnit(id: string, { time_updated, bytes }: SqliteRow): Unit {
  return { id, kind: "part", updated: timeOf(time_updated), bytes: Number(bytes ?? 0) };
}

function messageUnit(id: unknown, { updated }: SqliteRow): Unit {
  return { id: String(id), kind: "message", updated: timeOf(updated), bytes: 0 };
}
