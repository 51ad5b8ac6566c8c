import { Failure } from "../../platform/failure.ts";
import { asNumber, asText } from "../../platform/read.ts";
import { type SqliteDatabase, type SqliteRow, type SqliteValue, textOfBlob } from "../../sqlite/database.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";

/** A row of `messages`, as far as it is looked at. */
export interface MessageRow {
  readonly id: number;
  readonly session: string;
  readonly role: string;
  /** Bytes of its texts. */
  readonly bytes: number;
  readonly timestamp: SqliteValue | undefined;
  /** Whether it is a compaction's summary of what came before it. */
  readonly isSummary: boolean;
  /** Never to be shown: hidden by Hermes itself, or what it says is nobody's words. */
  readonly isHidden: boolean;
  /** A copy, made when the conversation was compacted in place, of a row that stands before it. */
  readonly isCopy: boolean;
  /** Undefined while the row is hidden, a copy, or too large to be read. */
  readonly texts: MessageTexts | undefined;
}

/** The texts of a row. */
export interface MessageTexts {
  readonly content: string | undefined;
  readonly toolCallId: string | undefined;
  readonly toolCalls: string | undefined;
  readonly toolName: string | undefined;
  readonly reasoning: string | undefined;
  readonly reasoningContent: string | undefined;
  readonly reasoningDetails: string | undefined;
  readonly codexItems: string | undefined;
  readonly codexReasoning: string | undefined;
}

/** Columns that may be large, or may hold a NUL. */
const TEXTS = [
  "content",
  "tool_calls",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "codex_message_items",
] as const;

/** The highest row id that a cursor can name the place behind of; Hermes counts from 1. A row beyond is no row of a chat. */
const HIGHEST = Number.MAX_SAFE_INTEGER - 1;

/** Ids that are walked at once for the rows of a conversation. */
const STRETCH = 2_000;

/**
 * The messages of one conversation in one open database. Which columns there are is asked, and the full-text index is never
 * touched. Rows that were taken back (`active` 0 and not `compacted`) do not exist here.
 *
 * Rows are read in the order of their ids, which is the order they were written in: those of the sessions that compression
 * left behind come before those of the next, and a row that is added later has a larger id (`AUTOINCREMENT`).
 */
export class Messages {
  readonly #database: SqliteDatabase;
  readonly #columns: ReadonlySet<string>;
  readonly #sessions: readonly string[];
  readonly #shown: (alias: string) => string;
  readonly #within: string;
  #highest: number | undefined;

  constructor(database: SqliteDatabase, sessions: readonly string[]) {
    this.#database = database;
    this.#columns = database.columns("messages");
    if (!["id", "session_id", "role", "timestamp"].every((name) => this.#columns.has(name))) {
      throw new Failure("unreadable", "this database's messages are of a form that is not known");
    }
    this.#sessions = sessions;
    this.#within = `session_id IN (${sessions.map(() => "?").join(", ")})`;
    const [hasActive, hasCompacted] = [this.#columns.has("active"), this.#columns.has("compacted")];
    this.#shown = (alias) => {
      const named = `+${alias}id BETWEEN 1 AND ${HIGHEST}`;
      if (!hasActive) return named;
      const compacted = hasCompacted ? ` OR ${alias}compacted = 1` : "";
      return `(${named} AND (${alias}active IS NULL OR ${alias}active <> 0${compacted}))`;
    };
  }

  /** The rows from id `from` on, at most `most` of them, without their texts. */
  from(from: number, most: number): MessageRow[] {
    const end = from + STRETCH;
    const near = this.#rowsNear("ASC", from, end, most);
    if (near.length === most || end > this.highest()) return near;
    return this.#rows(`+id >= ? AND ${this.#shown("")} ORDER BY +id LIMIT ?`, from, most);
  }

  /** The rows before id `before`, the last first, at most `most` of them, without their texts. */
  before(before: number, most: number): MessageRow[] {
    const end = Math.min(before, this.highest() + 1);
    const start = end - STRETCH;
    const near = this.#rowsNear("DESC", start, end, most);
    if (near.length === most || start <= 0) return near;
    return this.#rows(`+id < ? AND ${this.#shown("")} ORDER BY +id DESC LIMIT ?`, end, most);
  }

  /** The row with this id, when it belongs to the conversation and was not taken back. */
  row(id: number): MessageRow | undefined {
    return this.#rows(`id = ? AND ${this.#shown("")} LIMIT ?`, id, 1)[0];
  }

  /** A number that no row's id is above, nor ever was when this was first asked. */
  highest(): number {
    this.#highest ??= this.#askHighest();
    return this.#highest;
  }

  /** `rows` with what is only told of some: whether they are copies, and the texts of those that are shown. */
  withTexts(rows: readonly MessageRow[], mostBytes: number): MessageRow[] {
    const candidates = rows.filter(({ isHidden }) => !isHidden).map(({ id }) => id);
    const copies = this.#copies(candidates);
    const wanted = rows.filter(({ id, isHidden, bytes }) => !isHidden && !copies.has(id) && bytes <= mostBytes);
    const texts = this.#texts(wanted.map(({ id }) => id));
    return rows.map((row) => ({ ...row, isCopy: copies.has(row.id), texts: texts.get(row.id) }));
  }

  /** Whether no row of `session` stands before id `id`. */
  isFirst(session: string, id: number): boolean {
    return !this.#any("session_id = ? AND +id < ?", session, id);
  }

  /** Whether no row of `session` stands behind id `id`. */
  isLast(session: string, id: number): boolean {
    const end = id + STRETCH;
    if (this.#any("+session_id = ? AND id > ? AND id <= ?", session, id, end)) return false;
    return end >= this.highest() || !this.#any("session_id = ? AND +id > ?", session, id);
  }

  /** Whether a summary stands in `session` before id `id`. */
  hasSummaryBefore(session: string, id: number): boolean {
    if (!this.#columns.has("_compressed_summary")) return false;
    return this.#any("session_id = ? AND +id < ? AND _compressed_summary = 1", session, id);
  }

  /** The rows that call for a subagent, or give what one answered, by id. */
  delegations(): { readonly id: number; readonly timestamp: SqliteValue | undefined; readonly isCall: boolean }[] {
    const [calls, name] = [this.#columns.has("tool_calls"), this.#columns.has("tool_name")];
    const call = calls ? "role = 'assistant' AND instr(tool_calls, '\"delegate') > 0" : "0";
    const result = name ? "role = 'tool' AND tool_name LIKE 'delegate%'" : "0";
    return this.#database
      .all(
        `SELECT id, role, timestamp FROM messages WHERE ${this.#within} AND ${this.#shown("")} AND (${call} OR ${result}) ORDER BY +id`,
        ...this.#sessions,
      )
      .map((row) => ({ id: Number(row.id), timestamp: row.timestamp, isCall: row.role === "assistant" }));
  }

  /** The first row that is not older than `seconds`. */
  firstSince(seconds: number): number | undefined {
    const row = this.#database.first(
      `SELECT MIN(id) AS id FROM messages WHERE ${this.#within} AND timestamp >= ? AND ${this.#shown("")}`,
      ...this.#sessions,
      seconds,
    );
    return asNumber(row?.id);
  }

  #askHighest(): number {
    const id = asNumber(this.#database.first(`SELECT MAX(id) AS id FROM messages WHERE id <= ${HIGHEST}`)?.id) ?? 0;
    const counts = this.#database.columns("sqlite_sequence").size > 0;
    if (!counts) return id;
    const counted = this.#database.first("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")?.seq;
    return Math.max(id, Math.min(HIGHEST, Number(asNumber(counted) ?? (typeof counted === "bigint" ? counted : 0))));
  }

  /**
   * The rows with ids from `start` to before `end`, found by walking that stretch of the table: what a chat holds mostly lies
   * close together, and the index over sessions would have to be gone through from its start for every page.
   */
  #rowsNear(order: "ASC" | "DESC", start: number, end: number, most: number): MessageRow[] {
    const condition = `id >= ? AND id < ? AND ${this.#shown("")} ORDER BY id ${order} LIMIT ?`;
    return this.#rowsWhere(`+${this.#within} AND ${condition}`, start, end, most);
  }

  /** The rows that the index over sessions leads to: all of them are looked at, however many are wanted. */
  #rows(condition: string, ...parameters: number[]): MessageRow[] {
    return this.#rowsWhere(`${this.#within} AND ${condition}`, ...parameters);
  }

  #rowsWhere(condition: string, ...parameters: number[]): MessageRow[] {
    const size = TEXTS.map((name) => (this.#columns.has(name) ? `COALESCE(octet_length(${name}), 0)` : "0")).join(
      " + ",
    );
    const kind = this.#columns.has("display_kind") ? "display_kind" : "NULL";
    const summary = this.#columns.has("_compressed_summary") ? "_compressed_summary" : "0";
    const rows = this.#database.all(
      `SELECT id, session_id, role, timestamp, ${size} AS bytes, ${kind} AS kind, ${summary} AS summary FROM messages WHERE ${condition}`,
      ...this.#sessions,
      ...parameters,
    );
    return rows.map(rowOf);
  }

  /** Which of the rows say, at the same time, what another one before them says (Hermes' display identity). */
  #copies(ids: readonly number[]): ReadonlySet<number> {
    const same = ["content", "tool_call_id", "tool_calls"]
      .filter((name) => this.#columns.has(name))
      .map((name) => `e.${name} IS m.${name}`);
    const identity = this.#columns.has("display_identity") ? " OR e.display_identity = m.display_identity" : "";
    const kind = this.#columns.has("display_kind") ? " AND e.display_kind IS NOT 'hidden'" : "";
    const rows = this.#database.all(
      `SELECT m.id AS id FROM messages m WHERE m.id IN (${listed(ids)}) AND EXISTS (SELECT 1 FROM messages e WHERE e.${this.#within} AND e.timestamp = m.timestamp AND +e.id < m.id AND e.role = m.role AND ((${same.join(" AND ")})${identity}) AND ${this.#shown("e.")}${kind})`,
      ...this.#sessions,
    );
    return new Set(rows.map(({ id }) => Number(id)));
  }

  #texts(ids: readonly number[]): ReadonlyMap<number, MessageTexts> {
    // Texts may hold a NUL, where an older Node would cut them.
    const picked = TEXTS.map((name) =>
      this.#columns.has(name) ? `CAST(${name} AS BLOB) AS ${name}` : `NULL AS ${name}`,
    );
    // Mostly encrypted, and no part of what a page is measured by.
    const thought = "codex_reasoning_items";
    if (this.#columns.has(thought)) {
      picked.push(
        `CASE WHEN octet_length(${thought}) <= ${PAGE_BYTES} THEN CAST(${thought} AS BLOB) END AS ${thought}`,
      );
    }
    const small = ["tool_call_id", "tool_name"].map((name) => (this.#columns.has(name) ? name : `NULL AS ${name}`));
    const rows = this.#database.all(
      `SELECT id, ${[...picked, ...small].join(", ")} FROM messages WHERE id IN (${listed(ids)})`,
    );
    return new Map(rows.map((row) => [Number(row.id), textsOf(row)]));
  }

  #any(condition: string, ...parameters: (string | number)[]): boolean {
    const row = this.#database.first(
      `SELECT 1 AS found FROM messages WHERE ${condition} AND ${this.#shown("")} LIMIT 1`,
      ...parameters,
    );
    return row !== undefined;
  }
}

/** Numbers that came from the database itself, as a list in SQL. */
function listed(ids: readonly number[]): string {
  return ids.map((id) => String(Math.trunc(id))).join(", ");
}

function rowOf(row: SqliteRow): MessageRow {
  const role = asText(row.role) ?? "";
  return {
    id: Number(row.id),
    session: String(row.session_id),
    role,
    bytes: asNumber(row.bytes) ?? 0,
    timestamp: row.timestamp,
    isSummary: row.summary === 1,
    isHidden: row.kind === "hidden" || !/^(?:user|assistant|tool)$/.test(role),
    isCopy: false,
    texts: undefined,
  };
}

function textsOf(row: SqliteRow): MessageTexts {
  const text = (name: string): string | undefined => textOfBlob(row[name]);
  return {
    content: text("content"),
    toolCallId: asText(row.tool_call_id),
    toolCalls: text("tool_calls"),
    toolName: asText(row.tool_name),
    reasoning: text("reasoning"),
    reasoningContent: text("reasoning_content"),
    reasoningDetails: text("reasoning_details"),
    codexItems: text("codex_message_items"),
    codexReasoning: text("codex_reasoning_items"),
  };
}
