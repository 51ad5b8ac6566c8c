import type { SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import {
  type ChatRows,
  type ChatSource,
  childNames,
  oversizedEntry,
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

  constructor(source: ChatSource, revert: Revert | undefined) {
    this.#source = source;
    this.#end = revert && this.#sequenceOf(revert.message);
    this.revert = this.#end === undefined ? undefined : revert?.tag;
  }

  forward(from: string | undefined, count: number): readonly Unit[] | undefined {
    const start = from === undefined ? FIRST : this.#sequenceOf(from);
    if (start === undefined) return undefined;
    const units = this.#units("session_id = ? AND seq >= ? ORDER BY seq LIMIT ?", start, count);
    return from !== undefined && units[0]?.id !== from ? undefined : units;
  }

  backward(to: string | undefined, count: number): readonly Unit[] | undefined {
    const end = to === undefined ? LAST : this.#sequenceOf(to);
    if (end === undefined) return undefined;
    return this.#units("session_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?", end, count).reverse();
  }

  named(ids: readonly string[]): readonly Unit[] {
    const units = this.#units("+session_id = ? AND id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
    const byId = new Map(units.map((unit) => [unit.id, unit]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  has(id: string): boolean {
    return this.#sequenceOf(id) !== undefined;
  }

  entries(units: readonly Unit[], mostBytes: number): Entry[] {
    const rows = this.#source.database.all(
      `SELECT id, type, seq, time_created, CASE WHEN octet_length(data) <= ? THEN data END AS data
       FROM session_message WHERE id IN (SELECT value FROM json_each(?))`,
      mostBytes,
      JSON.stringify(units.map((unit) => unit.id)),
    );
    const byId = new Map(rows.map((row) => [String(row.id), row]));
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

  #units(condition: string, ...parameters: SqliteValue[]): Unit[] {
    const { database, session, problems } = this.#source;
    const rows = database.all(
      `SELECT id, time_updated, octet_length(data) AS bytes FROM session_message
       WHERE seq < ? AND ${condition}`,
      this.#end ?? LAST,
      session,
      ...parameters,
    );
    return rows.flatMap(({ id, time_updated, bytes }): Unit[] => {
      if (isRowId(id)) return [{ id, kind: "row", updated: timeOf(time_updated), bytes: Number(bytes ?? 0) }];
      problems.add("a row with an id of another form", `session ${session}`);
      return [];
    });
  }
}
