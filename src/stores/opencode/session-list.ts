import { setImmediate as turn } from "node:timers/promises";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asObject, asText } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteRow } from "../../sqlite/database.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { parsed, timeOf } from "./chat-rows.ts";
import { isPlaceholder, titleOf } from "./child-names.ts";
import type { DatabaseFile, DatabaseState } from "./database-file.ts";
import { SHELL_NOTE } from "./part-entries.ts";
import type { Problems } from "./problems.ts";
import type { SessionTable, Tables } from "./tables.ts";

/** What a list tells of a session in a database. */
export interface SessionFacts {
  readonly id: SessionId;
  readonly title: string;
  readonly cwd: string;
  readonly startedAt: EpochMs;
  /** The later of the session's own update and its newest message. */
  readonly updatedAt: EpochMs;
  readonly parent: SessionId | undefined;
  readonly model: string | undefined;
  readonly version: string | undefined;
  readonly generation: "v1" | "v2" | "json";
}

/** The sessions of one database, in one state of its files. */
export interface SessionList {
  readonly state: DatabaseState;
  readonly sessions: ReadonlyMap<SessionId, SessionFacts>;
  /** The newest writes may be missing: see `SqliteRead.stale`. */
  readonly stale: boolean;
}

/** Sessions that one query reads. */
const STEP = 25;
/** Bytes of a message or part that is read for a title or a model. */
const MOST_BYTES = 64 * 1024;
/** Parts of a first message that are looked at for its text. */
const FIRST_PARTS = 10;

/**
 * Reads every session of a database, in steps between which others have their turn. What was read `before` of a session
 * that has not changed is kept, the very same object.
 */
export async function readSessions(
  database: DatabaseFile,
  before: SessionList | undefined,
  problems: Problems,
): Promise<SessionList> {
  const state = database.state();
  const sessions = new Map<SessionId, SessionFacts>();
  let stale = false;
  let unknown: readonly string[] = [];
  let table = 0;
  let after: string | undefined;
  for (;;) {
    const read = await database.read((rows, tables) => {
      unknown = tables.unknown;
      const name = tables.sessions[table];
      if (name === undefined) return undefined;
      return stepsOf(rows, tables, name, after, before?.sessions ?? new Map());
    });
    stale ||= read.stale;
    if (read.value === undefined) break;
    const { facts, last, misfits } = read.value;
    // The newer generation comes first, and wins.
    for (const session of facts) if (!sessions.has(session.id)) sessions.set(session.id, session);
    for (const id of misfits) problems.add("a session whose id can't be one", `${database.path}: ${id}`);
    after = last;
    if (last === undefined) table++;
    await turn();
  }
  if (table === 0) problems.add("a database without a table of sessions", database.path);
  for (const name of unknown) problems.add(`a table "${name}" of a form that is not known`, database.path);
  return { state, sessions, stale };
}

/** What one step read. */
interface StepResult {
  readonly facts: SessionFacts[];
  /** The last id of this step; undefined when there are no more. */
  readonly last: string | undefined;
  readonly misfits: string[];
}

/** Reads sessions for as long as it may hold others up. */
function stepsOf(...[database, tables, table, after, before]: Parameters<typeof stepOf>): StepResult {
  const breather = new Breather();
  const facts: SessionFacts[] = [];
  const misfits: string[] = [];
  let last = after;
  do {
    const step = stepOf(database, tables, table, last, before);
    facts.push(...step.facts);
    misfits.push(...step.misfits);
    last = step.last;
  } while (last !== undefined && !breather.isDue);
  return { facts, last, misfits };
}

function stepOf(
  database: SqliteDatabase,
  tables: Tables,
  table: SessionTable,
  after: string | undefined,
  before: ReadonlyMap<SessionId, SessionFacts>,
): StepResult {
  const column = (name: Parameters<Tables["column"]>[1]): string => `${tables.column(table, name)} AS ${name}`;
  const rows = database.all(
    `SELECT s.id, ${column("parent_id")}, ${column("directory")}, ${column("version")},
            ${column("time_created")}, ${column("time_updated")}, ${tables.worktree(table)} AS worktree,
            substr(${tables.column(table, "title")}, 1, 4000) AS title,
            CASE WHEN octet_length(${tables.column(table, "model")}) <= 4000 THEN ${tables.column(table, "model")} END AS model,
            ${tables.v1 ? newest("message", "time_created DESC, id DESC") : "NULL"} AS newest_v1,
            ${tables.v2 ? newest("session_message", "seq DESC") : "NULL"} AS newest_v2
     FROM ${table} s WHERE s.id > ? ORDER BY s.id LIMIT ${STEP}`,
    after ?? "",
  );
  const misfits: string[] = [];
  const facts = rows.flatMap((row): SessionFacts[] => {
    const id = sessionIdOf(row.id);
    if (id !== undefined) return [factsOf(database, row, id, tables, before.get(id))];
    misfits.push(String(row.id));
    return [];
  });
  const lastId = rows[rows.length - 1]?.id;
  return { facts, last: rows.length === STEP && typeof lastId === "string" ? lastId : undefined, misfits };
}

/** SQL for when a session's newest message was written; the order is that of an index. */
function newest(table: "message" | "session_message", order: string): string {
  return `(SELECT time_updated FROM ${table} WHERE session_id = s.id ORDER BY ${order} LIMIT 1)`;
}

function factsOf(
  database: SqliteDatabase,
  row: SqliteRow,
  id: SessionId,
  tables: Tables,
  before: SessionFacts | undefined,
): SessionFacts {
  const generation = row.newest_v2 === null ? "v1" : "v2";
  const startedAt = timeOf(row.time_created);
  const updatedAt = Math.max(startedAt, timeOf(row.time_updated), timeOf(row.newest_v2 ?? row.newest_v1)) as EpochMs;
  const stored = typeof row.title === "string" ? row.title : "";
  const unnamed = stored.trim() === "" || isPlaceholder(stored);
  // An unnamed session's title is asked for once it has a message; it keeps the one found then.
  const same = before !== undefined && before.updatedAt === updatedAt;
  const prompt = !unnamed ? undefined : same ? before.title : firstPrompt(database, tables, id, generation);
  const model = asText(parsed(row.model)?.id) ?? (same ? before.model : newestModel(database, tables, id, generation));
  const facts: SessionFacts = {
    id,
    title: titleOf(unnamed ? (prompt ?? (placeholderName(stored) || "New session")) : stored),
    cwd: folderOf(row),
    startedAt,
    updatedAt,
    parent: sessionIdOf(row.parent_id),
    model,
    version: asText(row.version),
    generation,
  };
  return before !== undefined && isSame(before, facts) ? before : facts;
}

/** `New session` of `New session - <time>`. */
function placeholderName(stored: string): string {
  return stored.replace(/ - \d{4}-.*$/s, "").trim();
}

/** A project that is no git work tree is called `/`, which is no session's folder. */
function folderOf({ directory, worktree }: SqliteRow): string {
  return asText(directory) ?? (worktree === "/" ? "" : (asText(worktree) ?? ""));
}

function firstPrompt(
  database: SqliteDatabase,
  tables: Tables,
  id: SessionId,
  generation: SessionFacts["generation"],
): string | undefined {
  if (generation === "v2") {
    const row = database.first(
      `SELECT CASE WHEN octet_length(data) <= ${MOST_BYTES} THEN data END AS data FROM session_message
       WHERE session_id = ? AND type = 'user' ORDER BY seq LIMIT 1`,
      id,
    );
    return asText(parsed(row?.data)?.text);
  }
  if (!tables.v1) return undefined;
  const rows = database.all(
    `SELECT CASE WHEN octet_length(data) <= ${MOST_BYTES} THEN data END AS data FROM part WHERE message_id =
       (SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1) ORDER BY rowid LIMIT ${FIRST_PARTS}`,
    id,
  );
  for (const row of rows) {
    const part = parsed(row.data);
    const hidden = part?.synthetic === true || part?.ignored === true;
    const text = part?.type === "text" && !hidden ? asText(part.text) : undefined;
    if (text !== undefined && !text.startsWith(SHELL_NOTE)) return text;
  }
  return undefined;
}

/** Where the session does not say its model: that of its newest message. */
function newestModel(
  database: SqliteDatabase,
  tables: Tables,
  id: SessionId,
  generation: SessionFacts["generation"],
): string | undefined {
  const [table, order] =
    generation === "v2" ? ["session_message", "seq DESC"] : tables.v1 ? ["message", "time_created DESC, id DESC"] : [];
  if (table === undefined) return undefined;
  const row = database.first(
    `SELECT CASE WHEN octet_length(data) <= ${MOST_BYTES} THEN data END AS data FROM ${table}
     WHERE session_id = ? ORDER BY ${order} LIMIT 1`,
    id,
  );
  const data = parsed(row?.data);
  const model = asObject(data?.model);
  return asText(data?.modelID) ?? asText(model?.modelID) ?? asText(model?.id);
}

function isSame(a: SessionFacts, b: SessionFacts): boolean {
  return (Object.keys(b) as (keyof SessionFacts)[]).every((key) => a[key] === b[key]);
}
