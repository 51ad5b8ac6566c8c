import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteValue } from "../../sqlite/database.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { ChildNames, isPlaceholder } from "./child-names.ts";
import { positionOf, revertTag } from "./cursor.ts";
import type { Problems } from "./problems.ts";
import type { Tables } from "./tables.ts";

/** A row of a chat that pages are made of: a part, a whole message (v2), or what a v1 message itself says. */
export interface Unit {
  readonly id: string;
  readonly kind: "part" | "message" | "row";
  /** When the row was written last: ms since the epoch. */
  readonly updated: number;
  /** Bytes of its data; 0 for a v1 message, whose data is no page's content. */
  readonly bytes: number;
}

/** What a page holds at most. */
export interface PageNeed {
  readonly parts: number;
  readonly bytes: number;
  /** A row of more bytes than this is not read, and weighs nothing. */
  readonly mostBytes: number;
}

/** Tells when rows fill a page, so that the last of them stands behind it. */
export class Filling {
  readonly #need: PageNeed;
  #count = 0;
  #bytes = 0;

  constructor(need: PageNeed) {
    this.#need = need;
  }

  /** Takes further rows: whether there are now more than a page holds, which is at least one. */
  add(units: readonly Unit[]): boolean {
    const { parts, bytes, mostBytes } = this.#need;
    this.#count += units.length;
    for (const unit of units) if (unit.bytes <= mostBytes) this.#bytes += unit.bytes;
    return this.#count > 1 && (this.#count > parts || this.#bytes > bytes);
  }
}

/** The rows of one chat, in conversation order, without what `session.revert` takes back; good for one step. */
export interface ChatRows {
  /** Names what is taken back at present; undefined when nothing is. */
  readonly revert: string | undefined;
  /**
   * The rows from `from` on (the first one when undefined), enough for a page and the row behind it if there are so many;
   * undefined: no such row.
   */
  forward(from: string | undefined, need: PageNeed): readonly Unit[] | undefined;
  /** The rows before `to` (up to the last one when undefined), likewise, the oldest first. */
  backward(to: string | undefined, need: PageNeed): readonly Unit[] | undefined;
  /** The rows of these ids that are shown, in conversation order. */
  named(ids: readonly string[]): readonly Unit[];
  /** Whether the chat has such a row, shown or taken back. */
  has(id: string): boolean;
  /** What rows say; one over `mostBytes` only that it is oversized. */
  entries(units: readonly Unit[], mostBytes: number): Entry[];
}

/** What a chat is read from. */
export interface ChatSource {
  readonly database: SqliteDatabase;
  readonly tables: Tables;
  readonly session: SessionId;
  readonly problems: Problems;
}

/** Bytes of a `revert` that are read; it can hold a diff. */
const REVERT_BYTES = PAGE_BYTES;

/** What `session.revert` takes back. */
export interface Revert {
  readonly message: string;
  readonly part: string | undefined;
  readonly tag: string;
}

/** A session's row; undefined when there is none. The newer generation wins. */
export function sessionRow(
  { database, tables, session }: Omit<ChatSource, "problems">,
  columns: (column: (name: "parent_id" | "title" | "time_created" | "time_updated" | "revert") => string) => string,
): { readonly [column: string]: SqliteValue } | undefined {
  for (const table of tables.sessions) {
    const list = columns((name) => tables.column(table, name));
    const row = database.first(`SELECT ${list} FROM ${table} s WHERE s.id = ?`, session);
    if (row !== undefined) return row;
  }
  return undefined;
}

/** What is taken back at present: false when the session is not there at all. */
export function revertOf(source: ChatSource): Revert | undefined | false {
  const row = sessionRow(source, (column) => {
    const revert = column("revert");
    return `CASE WHEN octet_length(${revert}) <= ${REVERT_BYTES} THEN ${revert} END AS revert`;
  });
  if (row === undefined) return false;
  if (typeof row.revert !== "string") return undefined;
  const revert = parsed(row.revert);
  const message = revert?.messageID;
  if (typeof message !== "string") return undefined;
  const part = typeof revert?.partID === "string" ? revert.partID : undefined;
  return { message, part, tag: revertTag(message, part) };
}

/** `text` as a JSON object, or undefined. */
export function parsed(text: SqliteValue | undefined): JsonObject | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A time column as ms since the epoch; 0 when it holds none. */
export function timeOf(value: SqliteValue | undefined): EpochMs {
  return epochMsOf(typeof value === "bigint" ? Number(value) : value) ?? (0 as EpochMs);
}

/** The entry of a row that is too large to be read. */
export function oversizedEntry(unit: Unit, at: EpochMs): Entry {
  const summary = `a record of ${unit.bytes} bytes is not read`;
  return { kind: "marker", marker: "oversized", at, pos: positionOf(unit.id), id: unit.id, summary };
}

/** The names of the sessions `ids`, as far as they are there. */
export function childNames({ database, tables }: ChatSource, ids: readonly SessionId[]): ChildNames {
  if (ids.length === 0) return new ChildNames([]);
  const list = JSON.stringify(ids);
  // The newer generation is asked last, so that it wins.
  const rows = [...tables.sessions].reverse().flatMap((table) =>
    database.all(
      `SELECT s.id, ${tables.column(table, "title")} AS title, ${tables.column(table, "time_created")} AS created
       FROM ${table} s WHERE s.id IN (SELECT value FROM json_each(?))`,
      list,
    ),
  );
  return new ChildNames(
    rows.flatMap(({ id, title, created }) => {
      const child = sessionIdOf(id);
      if (child === undefined) return [];
      const named = typeof title === "string" && title !== "" && !isPlaceholder(title) ? title : undefined;
      return [{ id: child, title: named, created: timeOf(created) }];
    }),
  );
}
