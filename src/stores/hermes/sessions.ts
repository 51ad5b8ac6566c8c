import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { asCount, asNumber, asObject, asText } from "../../platform/read.ts";
import { type SqliteDatabase, type SqliteRow, textOfBlob } from "../../sqlite/database.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import type { Totals } from "../store.ts";
import { contentText, parsedJson } from "./content.ts";

/** A row of `sessions`, as far as it is looked at. */
export interface SessionRow {
  readonly id: string;
  readonly source: string | undefined;
  readonly parent: string | undefined;
  /** The session that started this one as a subagent. */
  readonly delegatedBy: string | undefined;
  /** It began as a copy of another, or in its place: another conversation all the same. */
  readonly setApart: boolean;
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs | undefined;
  readonly endReason: string | undefined;
  /** The later of the session's own mark and its newest message. */
  readonly updatedAt: EpochMs;
  readonly title: string | undefined;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
  readonly branch: string | undefined;
  readonly totals: Totals;
  /** Whether it surely has no message; false where that can't be told cheaply. */
  readonly isEmpty: boolean;
}

/** Columns that are read when they are there: none but `id` is counted on. */
const COLUMNS = [
  "source",
  "parent_session_id",
  "started_at",
  "ended_at",
  "end_reason",
  "last_activity_at",
  "title",
  "model",
  "cwd",
  "git_branch",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
  "estimated_cost_usd",
  "actual_cost_usd",
  "cost_status",
] as const;

/** Whether a table has an index that begins with `column`, so that asking by it costs little. */
function isIndexed(database: SqliteDatabase, table: string, column: string): boolean {
  return (
    database.first(
      "SELECT 1 AS found FROM pragma_index_list(?) AS l, pragma_index_info(l.name) AS i WHERE i.seqno = 0 AND i.name = ? AND l.partial = 0",
      table,
      column,
    ) !== undefined
  );
}

/**
 * Every session of a database. Asking for the newest message of each is left out where only how they hang together matters.
 * @throws Failure unreadable when it holds none
 */
export function readSessions(database: SqliteDatabase, withNewest: boolean): SessionRow[] {
  const columns = database.columns("sessions");
  const messages = database.columns("messages");
  if (!columns.has("id")) throw new Failure("unreadable", "this database holds no sessions of Hermes");
  const picked = COLUMNS.map((name) => (columns.has(name) ? `s.${name}` : `NULL AS ${name}`));
  const config = columns.has("model_config")
    ? "CASE WHEN instr(s.model_config, '_from') > 0 THEN s.model_config END"
    : "NULL";
  const canAsk = withNewest && messages.has("timestamp") && isIndexed(database, "messages", "session_id");
  const newest = canAsk ? "(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id)" : "NULL";
  const rows = database.all(
    `SELECT s.id AS id, ${picked.join(", ")}, ${config} AS config, ${newest} AS newest FROM sessions s`,
  );
  return rows.flatMap((row) => sessionOf(row, canAsk) ?? []);
}

function sessionOf(row: SqliteRow, isAsked: boolean): SessionRow | undefined {
  const id = asText(row.id);
  if (id === undefined) return undefined;
  const tags = asObject(parsedJson(asText(row.config) ?? ""));
  const startedAt = secondsToMs(row.started_at) ?? (0 as EpochMs);
  const newest = secondsToMs(row.newest);
  const marks = [startedAt, secondsToMs(row.last_activity_at), newest, isAsked ? undefined : secondsToMs(row.ended_at)];
  return {
    id,
    source: asText(row.source),
    parent: asText(row.parent_session_id),
    delegatedBy: asText(tags?._delegate_from),
    setApart: tags?._branched_from !== undefined || tags?._reset_from !== undefined,
    startedAt,
    endedAt: secondsToMs(row.ended_at),
    endReason: asText(row.end_reason),
    updatedAt: Math.max(...marks.map((mark) => mark ?? 0)) as EpochMs,
    title: titleOf(asText(row.title)),
    model: asText(row.model),
    cwd: asText(row.cwd),
    branch: asText(row.git_branch),
    totals: totalsOf(row),
    isEmpty: isAsked && newest === undefined,
  };
}

/** Hermes keeps times as seconds since the epoch with a fraction. */
export function secondsToMs(value: unknown): EpochMs | undefined {
  const seconds = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const number = asNumber(typeof seconds === "bigint" ? Number(seconds) : seconds);
  return number === undefined || number <= 0 ? undefined : epochMsOf(Math.round(number * 1000));
}

/** `text` as a title. */
export function titleOf(text: string | undefined): string | undefined {
  const title = oneLine((text ?? "").slice(0, TITLE_CHARACTERS * 16));
  return title === "" ? undefined : clip(title, TITLE_CHARACTERS).text;
}

/** The start of what the user first said in a session, as a title for one that has none. */
export function firstPrompt(database: SqliteDatabase, session: string): string | undefined {
  const row = database.first(
    "SELECT CAST(content AS BLOB) AS content FROM messages WHERE session_id = ? AND role = 'user' AND octet_length(content) < 1000000 ORDER BY timestamp LIMIT 1",
    session,
  );
  return titleOf(contentText(textOfBlob(row?.content)));
}

/** Whether asking for single messages of a session costs little. */
export function canAskMessages(database: SqliteDatabase): boolean {
  const columns = database.columns("messages");
  const needed = ["content", "session_id", "role", "timestamp"].every((name) => columns.has(name));
  return needed && isIndexed(database, "messages", "session_id");
}

const COUNTS = [
  ["input", "input_tokens"],
  ["output", "output_tokens"],
  ["cacheRead", "cache_read_tokens"],
  ["cacheWrite", "cache_write_tokens"],
  ["reasoning", "reasoning_tokens"],
] as const;

/** Tokens and cost as the row states them. Its columns begin at 0, so a 0 in them is no figure. */
function totalsOf(row: SqliteRow): Totals {
  const tokens: { -readonly [name in keyof Tokens]: number } = {};
  for (const [name, column] of COUNTS) {
    const count = asCount(row[column]);
    if (count !== undefined && count > 0) tokens[name] = count;
  }
  const cost = asNumber(row.actual_cost_usd) ?? asNumber(row.estimated_cost_usd);
  const isKnown = cost !== undefined && cost >= 0 && (cost > 0 || row.cost_status !== "unknown");
  return { tokens, ...(isKnown && { costUsd: cost }) };
}

/** The figures of several sessions together; one that none of them gives stays absent. */
export function sumOf(all: readonly Totals[]): Totals {
  const tokens: { -readonly [name in keyof Tokens]: number } = {};
  let costUsd: number | undefined;
  for (const one of all) {
    for (const [name] of COUNTS) {
      const count = one.tokens[name];
      if (count !== undefined) tokens[name] = (tokens[name] ?? 0) + count;
    }
    if (one.costUsd !== undefined) costUsd = (costUsd ?? 0) + one.costUsd;
  }
  return { tokens, ...(costUsd !== undefined && { costUsd }) };
}
