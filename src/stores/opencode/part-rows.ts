import type { SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import type { Entry } from "../../transcript/entry.ts";
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
import { inIdOrder } from "./id-order.ts";
import { factsOf, factsSql, type MessageFacts, unreadFacts } from "./message-facts.ts";
import {
  asksForParent,
  childOfPart,
  messageEntries,
  type Part,
  type PartContext,
  partEntries,
  SHELL_NOTE,
} from "./part-entries.ts";

/** Messages that one query takes with their parts. */
const MESSAGES = 40;
/** What is looked at of a parent message for what it stands for: parts, and bytes of each. */
const PARENT_PARTS = 20;
const PARENT_BYTES = 64 * 1024;

/** A message's place in the conversation. */
interface Place {
  readonly time: SqliteValue;
  readonly id: string;
}

/** A message with its parts in their order. */
interface Message extends Place {
  readonly units: readonly Unit[];
}

/** The chat of a session in v1 tables: messages by (time_created, id), each with its parts by id, then what it itself says. */
export class PartRows implements ChatRows {
  readonly revert: string | undefined;
  readonly #source: ChatSource;
  readonly #end: { readonly message: Place; readonly part: string | undefined } | undefined;

  constructor(source: ChatSource, revert: Revert | undefined) {
    this.#source = source;
    const message = revert && this.#placeOf(revert.message);
    this.#end = message && { message, part: revert.part };
    this.revert = message && revert.tag;
  }

  forward(from: string | undefined, count: number): readonly Unit[] | undefined {
    const start = from === undefined ? undefined : this.#messageOf(from);
    if (from !== undefined && start === undefined) return undefined;
    const units: Unit[] = [];
    let bound = start === undefined ? undefined : { comparison: ">=", place: start };
    for (let skip = from; ; skip = undefined) {
      const messages = this.#messages(bound, "ASC");
      const visible = messages.flatMap((message) => this.#visible(message));
      const index = skip === undefined ? 0 : visible.findIndex((unit) => unit.id === skip);
      if (index < 0) return undefined;
      units.push(...visible.slice(index));
      const last = messages[messages.length - 1];
      if (last === undefined || units.length >= count || messages.length < MESSAGES) return units;
      bound = { comparison: ">", place: last };
    }
  }

  backward(to: string | undefined, count: number): readonly Unit[] | undefined {
    const end = to === undefined ? this.#end?.message : this.#messageOf(to);
    if (to !== undefined && end === undefined) return undefined;
    let units: Unit[] = [];
    let bound = end === undefined ? undefined : { comparison: "<=", place: end };
    for (let skip = to; ; skip = undefined) {
      const messages = this.#messages(bound, "DESC").reverse();
      const visible = messages.flatMap((message) => this.#visible(message));
      const index = skip === undefined ? visible.length : visible.findIndex((unit) => unit.id === skip);
      if (index < 0) return undefined;
      units = [...visible.slice(0, index), ...units];
      const oldest = messages[0];
      if (oldest === undefined || units.length >= count || messages.length < MESSAGES) return units;
      bound = { comparison: "<", place: oldest };
    }
  }

  named(ids: readonly string[]): readonly Unit[] {
    const units = this.#end === undefined ? this.#keysOf(ids) : this.#visibleOf(ids);
    const byId = new Map(units.map((unit) => [unit.id, unit]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  has(id: string): boolean {
    return this.#messageOf(id) !== undefined;
  }

  entries(units: readonly Unit[], mostBytes: number): Entry[] {
    const parts = this.#parts(units, mostBytes);
    const facts = this.#facts([
      ...units.filter((unit) => unit.kind === "message").map((unit) => unit.id),
      ...[...parts.values()].map((row) => String(row.message_id)),
    ]);
    const read = new Map<string, Part>();
    for (const [id, row] of parts) {
      const data = parsed(row.data);
      const message = facts.get(String(row.message_id));
      if (data === undefined) {
        if (Number(row.bytes ?? 0) <= mostBytes)
          this.#source.problems.add("a part that is no JSON object", `part ${id}`);
      } else if (message !== undefined) read.set(id, { id, at: timeOf(row.time_created), data, message });
    }
    const context = this.#context([...read.values()]);
    return units.flatMap((unit): Entry[] => {
      if (unit.kind === "message") {
        const message = facts.get(unit.id);
        return message === undefined ? [] : messageEntries(message);
      }
      if (unit.bytes > mostBytes) return [oversizedEntry(unit, timeOf(parts.get(unit.id)?.time_created))];
      const part = read.get(unit.id);
      return part === undefined ? [] : partEntries(part, context);
    });
  }

  /** The message that a part or the message itself is of; undefined when there is no such row in this session. */
  #messageOf(id: string): Place | undefined {
    const { database, session } = this.#source;
    const part = database.first("SELECT message_id FROM part WHERE id = ? AND +session_id = ?", id, session);
    return this.#placeOf(part === undefined ? id : String(part.message_id));
  }

  #placeOf(id: string): Place | undefined {
    const { database, session } = this.#source;
    const row = database.first("SELECT time_created FROM message WHERE id = ? AND +session_id = ?", id, session);
    return row && { time: row.time_created ?? null, id };
  }

  /** The next messages in one direction, with their parts. */
  #messages(
    bound: { readonly comparison: string; readonly place: Place } | undefined,
    direction: "ASC" | "DESC",
  ): Message[] {
    const { session } = this.#source;
    const where = bound === undefined ? "" : `AND (time_created, id) ${bound.comparison} (?, ?)`;
    const order = `ORDER BY time_created ${direction}, id ${direction} LIMIT ${MESSAGES}`;
    const place = bound === undefined ? [] : [bound.place.time, bound.place.id];
    return this.#withParts(`session_id = ? ${where} ${order}`, session, ...place);
  }

  /** The rows of these ids, whether they are shown or not. */
  #keysOf(ids: readonly string[]): Unit[] {
    const { database, session } = this.#source;
    const list = JSON.stringify(ids);
    const named = "id IN (SELECT value FROM json_each(?)) AND +session_id = ?";
    const parts = database.all(
      `SELECT id, time_updated AS part_updated, octet_length(data) AS bytes FROM part WHERE ${named}`,
      list,
      session,
    );
    const messages = database.all(`SELECT id, time_updated AS updated FROM message WHERE ${named}`, list, session);
    return [
      ...parts.map((row) => partUnit(String(row.id), row)),
      ...messages.map((row) => messageUnit(String(row.id), row)),
    ];
  }

  /** The rows of these ids that are shown: where a turn is taken back, their place among their message's decides. */
  #visibleOf(ids: readonly string[]): Unit[] {
    const { session } = this.#source;
    const list = JSON.stringify(ids);
    const messages = this.#withParts(
      `+session_id = ? AND id IN
       (SELECT message_id FROM part WHERE id IN (SELECT value FROM json_each(?)) UNION SELECT value FROM json_each(?))`,
      session,
      list,
      list,
    );
    return messages.flatMap((message) => this.#visible(message));
  }

  /**
   * The messages that `condition` picks, in its order, with the keys of their parts: no data is read. The `+` before
   * `session_id`, here and elsewhere, keeps SQLite from going through all rows of the session where an id names the few.
   */
  #withParts(condition: string, ...parameters: SqliteValue[]): Message[] {
    const { database, session } = this.#source;
    const rows = database.all(
      `SELECT m.id AS message, m.time_created AS created, m.time_updated AS updated,
              p.id AS part, p.time_updated AS part_updated, octet_length(p.data) AS bytes
       FROM (SELECT id, time_created, time_updated FROM message WHERE ${condition}) m
       LEFT JOIN part p ON p.message_id = m.id AND +p.session_id = ?`,
      ...parameters,
      session,
    );
    const groups = new Map<string, SqliteRow[]>();
    for (const row of rows) {
      const id = String(row.message);
      const group = groups.get(id);
      if (group === undefined) groups.set(id, [row]);
      else group.push(row);
    }
    return [...groups].map(([id, group]) => ({
      id,
      time: group[0]?.created ?? null,
      units: this.#unitsOf(id, group),
    }));
  }

  #unitsOf(id: string, rows: readonly SqliteRow[]): Unit[] {
    const parts = rows.flatMap((row): Unit[] => {
      const { part } = row;
      if (part === null) return [];
      if (isRowId(part)) return [partUnit(part, row)];
      this.#source.problems.add("a row with an id of another form", `message ${id}`);
      return [];
    });
    const [own = {}] = rows;
    const ordered = inIdOrder(parts, timeOf(own.created));
    return isRowId(id) ? [...ordered, messageUnit(id, own)] : ordered;
  }

  /** What is left of a message when what is taken back is hidden. */
  #visible({ time, id, units }: Message): readonly Unit[] {
    const end = this.#end;
    if (end === undefined || isBefore({ time, id }, end.message)) return units;
    if (id !== end.message.id || end.part === undefined) return [];
    const index = units.findIndex((unit) => unit.id === end.part);
    return index < 0 ? [] : units.slice(0, index);
  }

  #parts(units: readonly Unit[], mostBytes: number): Map<string, SqliteRow> {
    const ids = units.filter((unit) => unit.kind === "part").map((unit) => unit.id);
    const rows = this.#source.database.all(
      `SELECT id, message_id, time_created, octet_length(data) AS bytes,
              CASE WHEN octet_length(data) <= ? THEN data END AS data
       FROM part WHERE id IN (SELECT value FROM json_each(?))`,
      mostBytes,
      JSON.stringify(ids),
    );
    return new Map(rows.map((row) => [String(row.id), row]));
  }

  #facts(ids: readonly string[]): Map<string, MessageFacts> {
    const rows = this.#source.database.all(
      `SELECT id, time_created, ${factsSql("data")} AS facts FROM message WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...new Set(ids)]),
    );
    return new Map(
      rows.map(({ id, time_created, facts }) => {
        const read = factsOf(String(id), time_created, facts);
        if (read === undefined) this.#source.problems.add("a message that is too large or no JSON", `message ${id}`);
        return [String(id), read ?? unreadFacts(String(id), time_created)];
      }),
    );
  }

  #context(parts: readonly Part[]): PartContext {
    const children = parts.flatMap((part) => childOfPart(part.data) ?? []);
    const parents = parts.filter(asksForParent).flatMap((part) => part.message.parent ?? []);
    const { shells, compactions } = this.#parents([...new Set(parents)]);
    return {
      children: childNames(this.#source, children),
      isShell: (message) => shells.has(message),
      isCompaction: (message) => compactions.has(message),
    };
  }

  /** What the parents of some messages stand for. */
  #parents(ids: readonly string[]): { readonly shells: Set<string>; readonly compactions: Set<string> } {
    const shells = new Set<string>();
    const compactions = new Set<string>();
    for (const id of ids) {
      const rows = this.#source.database.all(
        `SELECT data FROM part WHERE message_id = ? AND octet_length(data) <= ${PARENT_BYTES} LIMIT ${PARENT_PARTS}`,
        id,
      );
      for (const { data } of rows) {
        const part = parsed(data);
        if (part?.type === "compaction") compactions.add(id);
        if (part?.synthetic === true && String(part.text).startsWith(SHELL_NOTE)) shells.add(id);
      }
    }
    return { shells, compactions };
  }
}

function partUnit(id: string, { part_updated, bytes }: SqliteRow): Unit {
  return { id, kind: "part", updated: timeOf(part_updated), bytes: Number(bytes ?? 0) };
}

function messageUnit(id: string, { updated }: SqliteRow): Unit {
  return { id, kind: "message", updated: timeOf(updated), bytes: 0 };
}

/** By time, then id, as SQLite orders them. */
function isBefore(a: Place, b: Place): boolean {
  const times = Number(a.time ?? 0) - Number(b.time ?? 0);
  return times === 0 ? a.id < b.id : times < 0;
}
