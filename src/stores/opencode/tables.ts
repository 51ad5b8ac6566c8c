import { isRefusedSql, type SqliteDatabase } from "../../sqlite/database.ts";
import type { SessionId } from "../../transcript/names.ts";

/** The columns that are read, by table; no other column and no other table ever is. */
const COLUMNS = {
  session: [
    "id",
    "project_id",
    "parent_id",
    "directory",
    "title",
    "version",
    "model",
    "revert",
    "time_created",
    "time_updated",
  ],
  message: ["id", "session_id", "time_created", "time_updated", "data"],
  part: ["id", "message_id", "session_id", "time_created", "time_updated", "data"],
  session_message: ["id", "session_id", "type", "seq", "time_created", "time_updated", "data"],
} as const;

/** The tables that hold sessions; v2 keeps them in a table of its own beside the older one. */
export const SESSION_TABLES = ["session_v2", "session"] as const;
/** A table that holds sessions. */
export type SessionTable = (typeof SESSION_TABLES)[number];

const MESSAGE_TABLES = ["message", "part", "session_message"] as const;
type MessageTable = (typeof MESSAGE_TABLES)[number];

/** What a database has of what is read. */
export interface Tables {
  /** The tables of sessions that are there, the newer generation first. */
  readonly sessions: readonly SessionTable[];
  /** Messages and parts are there (1.2 to 1.18). */
  readonly v1: boolean;
  /** `session_message` is there; 1.18 has it too, empty. */
  readonly v2: boolean;
  /** The tables of messages that are there in a form that is not known, and so are not read. */
  readonly unknown: readonly string[];
  /** SQL for a session column, NULL where the table has none of that name. */
  column(table: SessionTable, name: (typeof COLUMNS.session)[number]): string;
  /** SQL for the work tree of a session's project, for sessions that do not say their folder. */
  worktree(table: SessionTable): string;
}

/** Asks a database what it has. */
export function tablesOf(database: SqliteDatabase): Tables {
  const held = new Map(SESSION_TABLES.map((table) => [table, database.columns(table)]));
  const forms = MESSAGE_TABLES.map((table) => [table, formOf(database, table)] as const);
  const has = (table: MessageTable): boolean => forms.some(([name, form]) => name === table && form === "known");
  const project = database.columns("project");
  return {
    sessions: SESSION_TABLES.filter((table) => held.get(table)?.has("id")),
    v1: has("message") && has("part"),
    v2: has("session_message"),
    unknown: forms.flatMap(([table, form]) => (form === "unknown" ? table : [])),
    column: (table, name) => (held.get(table)?.has(name) ? `s.${name}` : "NULL"),
    worktree: (table) =>
      project.has("worktree") && project.has("id") && held.get(table)?.has("project_id")
        ? "(SELECT worktree FROM project WHERE id = s.project_id)"
        : "NULL",
  };
}

/** Parts are walked by their row ids, which neither a view nor a table `WITHOUT ROWID` has. */
function formOf(database: SqliteDatabase, table: MessageTable): "known" | "unknown" | undefined {
  const columns = database.columns(table);
  if (columns.size === 0) return undefined;
  const isWhole = COLUMNS[table].every((name) => columns.has(name));
  return isWhole && (table !== "part" || hasRowIds(database)) ? "known" : "unknown";
}

function hasRowIds(database: SqliteDatabase): boolean {
  try {
    database.first("SELECT rowid FROM part WHERE rowid = 0");
    return true;
  } catch (error) {
    if (isRefusedSql(error)) return false;
    throw error;
  }
}

/** Whether a session is read from `session_message`: 1.18 has that table too, empty for all but its preview's sessions. */
export function isSecondGeneration(database: SqliteDatabase, tables: Tables, session: SessionId): boolean {
  if (!tables.v2) return false;
  return database.first("SELECT 1 AS one FROM session_message WHERE session_id = ? LIMIT 1", session) !== undefined;
}
