import type { SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import {
  type ChatRows,
  type ChatSource,
  childNames,
  Filling,
  oversizedEntry,
  type PageNeed,
  parsed,
  type Revert,
  timeOf,
  type Unit,
} from "./chat-rows.ts";
import { isRowId } from "./cursor.ts";
import { childrenOfRow, type MessageRow, rowEntries } from "./row-entries.ts";
import { errorFacts, isAbort } from "./text.ts";

/** Before every sequence number, and behind it. */
const FIRST = Number.MIN_SAFE_INTEGER;
const LAST = Number.MAX_SAFE_INTEGER;

/** The chat of a session in v2 tables: one row a message, by `seq`. */
export class MessageRows implements ChatRows {
  readonly revert: string | undefined;
  readonly #source: ChatSource;
  readonly #end: SqliteValue | undefined;
  /** The rows that were read with their data. */
  readonly #rows = new Map<string, SqliteRow>();

  constructor(source: ChatSource, revert: Revert | undefined) {
    this.#source = source;
    this.#end = revert && this.#sequenceOf(revert.message);
    this.revert = this.#end === undefined ? undefined : revert?.tag;
  }

  forward(from: string | undefined, need: PageNeed): readonly Unit[] | undefined {
    const start = from === undefined ? FIRST : this.#sequenceOf(from);
    if (start === undefined) return undefined;
    const units = this.#gather("session_id = ? AND seq >= ? ORDER BY seq", start, need);
    return from !== undefined && units[0]?.id !== from ? undefined : units;
  }

  backward(to: string | undefined, need: PageNeed): readonly Unit[] | undefined {
    const end = to === undefined ? LAST : this.#sequenceOf(to);
    if (end === undefined) return undefined;
    return this.#gather("session_id = ? AND seq < ? ORDER BY seq DESC", end, need).reverse();
  }

  named(ids: readonly string[]): readonly Unit[] {
    const { database, session } = this.#source;
    const rows = database.all(
      `SELECT id, time_updated, octet_length(data) AS bytes FROM session_message
       WHERE seq < ? AND +session_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY seq`,
      this.#end ?? LAST,
      session,
      JSON.stringify(ids),
    );
    return rows.flatMap((row) => this.#unitOf(row));
  }

  has(id: string): boolean {
    return this.#sequenceOf(id) !== undefined;
  }

  entries(units: readonly Unit[], mostBytes: number): Entry[] {
    const byId = this.#contents(units, mostBytes);
    const read = new Map<string, MessageRow>();
    for (const { id, bytes } of units) {
      const row = byId.get(id);
      const data = parsed(row?.data);
      if (row !== undefined && data !== undefined) {
        read.set(id, { id, type: String(row.type), at: timeOf(row.time_created), data });
      } else if (bytes <= mostBytes) this.#source.problems.add("a message that is no JSON object", `message ${id}`);
    }
    const children = childNames(this.#source, [...read.values()].flatMap(childrenOfRow));
    const isToldStopped = ({ id }: MessageRow): boolean => this.#isToldStopped(byId.get(id));
    return units.flatMap((unit): Entry[] => {
      if (unit.bytes > mostBytes) return [oversizedEntry(unit, timeOf(byId.get(unit.id)?.time_created))];
      const row = read.get(unit.id);
      return row === undefined ? [] : rowEntries(row, { children, isToldStopped });
    });
  }

  #isToldStopped(row: SqliteRow | undefined): boolean {
    const { database, session } = this.#source;
    const answer = database.first(
      `SELECT CASE WHEN octet_length(data) <= ${PAGE_BYTES} THEN data END AS data FROM session_message
       WHERE session_id = ? AND seq < ? AND type = 'assistant' ORDER BY seq DESC LIMIT 1`,
      session,
      row?.seq ?? null,
    );
    const error = errorFacts(parsed(answer?.data)?.error);
    return error !== undefined && isAbort(error);
  }

  #sequenceOf(id: string): SqliteValue | undefined {
    const { database, session } = this.#source;
    return database.first("SELECT seq FROM session_message WHERE id = ? AND +session_id = ?", id, session)?.seq;
  }

  /** The rows that `condition` picks, in its order, with their contents, until they fill a page. */
  #gather(condition: string, sequence: SqliteValue, need: PageNeed): Unit[] {
    const { database, session } = this.#source;
    this.#rows.clear();
    const units: Unit[] = [];
    const filling = new Filling(need);
    const rows = database.each(
      `SELECT id, type, seq, time_created, time_updated, octet_length(data) AS bytes,
              CASE WHEN octet_length(data) <= ? THEN data END AS data
       FROM session_message WHERE seq < ? AND ${condition}`,
      need.mostBytes,
      this.#end ?? LAST,
      session,
      sequence,
    );
    for (const row of rows) {
      this.#rows.set(String(row.id), row);
      const own = this.#unitOf(row);
      units.push(...own);
      if (filling.add(own)) break;
    }
    return units;
  }

  /** The rows of `units`, with data of at most `mostBytes`. */
  #contents(units: readonly Unit[], mostBytes: number): Map<string, SqliteRow> {
    const held = units.flatMap(({ id, bytes }): [string, SqliteRow][] => {
      const row = this.#rows.get(id);
      return row !== undefined && (row.data !== null || bytes > mostBytes) ? [[id, row]] : [];
    });
    const rows = new Map(held);
    const missing = units.filter(({ id }) => !rows.has(id));
    if (missing.length === 0) return rows;
    const read = this.#source.database.all(
      `SELECT id, type, seq, time_created, CASE WHEN octet_length(data) <= ? THEN data END AS data
       FROM session_message WHERE id IN (SELECT value FROM json_each(?))`,
      mostBytes,
      JSON.stringify(missing.map(({ id }) => id)),
    );
    for (const row of read) rows.set(String(row.id), row);
    return rows;
  }

  #unitOf({ id, time_updated, bytes }: SqliteRow): Unit[] {
    const { problems, session } = this.#source;
    if (isRowId(id)) return [{ id, kind: "row", updated: timeOf(time_updated), bytes: Number(bytes ?? 0) }];
    problems.add("a row with an id of another form", `session ${session}`);
    return [];
  }
}
