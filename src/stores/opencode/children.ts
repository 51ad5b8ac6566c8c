import { setImmediate as turn } from "node:timers/promises";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { asObject, asText } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteRow } from "../../sqlite/database.ts";
import { CHILDREN, PAGE_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChildEntry, ChildList, ChildStatus } from "../store.ts";
import { parsed, timeOf } from "./chat-rows.ts";
import { titleOf } from "./child-names.ts";
import type { DatabaseFile } from "./database-file.ts";
import type { FindHolders, Holder } from "./holders.ts";
import { factsOf, factsSql, type MessageFacts, unreadFacts } from "./message-facts.ts";
import { isSecondGeneration, type Tables } from "./tables.ts";
import type { TaskIndexes, Verdict } from "./task-index.ts";
import { errorFacts, isAbort } from "./text.ts";

/** What statuses are judged with. */
export interface ChildTools {
  readonly tasks: TaskIndexes;
  readonly holders: FindHolders;
  readonly clock: Clock;
}

/** How a child's own rows end. */
interface Ending {
  readonly verdict: Verdict;
  /** When its newest message was begun; whatever process works on it ran then. */
  readonly begun: number;
  /** When its newest row was written. */
  readonly updated: number;
}

interface Child {
  readonly id: SessionId;
  readonly title: string;
  readonly created: EpochMs;
  readonly updated: EpochMs;
}

/** SQLite's LIMIT for no limit. */
const EVERY_ROW = -1;
/** Children that one step looks at. */
const STEP = 25;
/** A text is written once, at its end, so quiet is not dead; but so long a quiet proves nothing any more: ms. */
const QUIET_MS = 10 * 60_000;
/** By how much a process's start may be misjudged: ms. */
const START_SLACK_MS = 2_000;

/** The direct children of a session in a database, newest first, at most `most`. @throws Failure not-found: no such session */
export async function childrenOf(
  database: DatabaseFile,
  parent: SessionId,
  tools: ChildTools,
  most = CHILDREN,
): Promise<ChildList> {
  const { value: children, uses } = await database.read((rows, tables) => {
    if (!isThere(rows, tables, parent)) throw new Failure("not-found", "no such transcript");
    return childRows(rows, tables, parent, most);
  });
  if (children.length === 0) return { children: [], uses, settled: true };
  const verdicts = await tools.tasks.verdicts(database, parent);
  const entries: ChildEntry[] = [];
  let settled = true;
  for (let start = 0; start < children.length; start += STEP) {
    const step = children.slice(start, start + STEP);
    const { value: endings } = await database.read((rows, tables) => step.map(({ id }) => endingOf(rows, tables, id)));
    for (const [index, child] of step.entries()) {
      const ending = endings[index] ?? NOTHING;
      const proved = verdicts.get(child.id) ?? ending.verdict;
      // Who holds the database open stands in no file.
      if (proved === undefined) settled = false;
      const status = proved ?? unfinished(child, ending, await tools.holders(database.path), tools.clock.now());
      const updatedAt = Math.max(child.updated, ending.updated) as EpochMs;
      entries.push({ id: child.id, title: child.title, status, startedAt: child.created, updatedAt });
    }
    await turn();
  }
  return { children: entries, uses, settled };
}

/** Whether a database has the session. */
export function isThere(database: SqliteDatabase, tables: Tables, session: SessionId): boolean {
  return tables.sessions.some(
    (table) => database.first(`SELECT 1 AS one FROM ${table} WHERE id = ?`, session) !== undefined,
  );
}

/** Whether `child` is a direct child of `parent`; a session that names itself as its parent is no child. */
export function isChild(database: SqliteDatabase, tables: Tables, parent: SessionId, child: SessionId): boolean {
  if (child === parent) return false;
  for (const table of tables.sessions) {
    const row = database.first(
      `SELECT ${tables.column(table, "parent_id")} AS parent FROM ${table} s WHERE s.id = ?`,
      child,
    );
    if (row !== undefined) return row.parent === parent;
  }
  return false;
}

function childRows(database: SqliteDatabase, tables: Tables, parent: SessionId, most: number): Child[] {
  const children = new Map<SessionId, Child>();
  for (const table of tables.sessions) {
    if (tables.column(table, "parent_id") === "NULL") continue;
    const created = tables.column(table, "time_created");
    const rows = database.all(
      `SELECT s.id, substr(${tables.column(table, "title")}, 1, 4000) AS title, ${created} AS created,
              ${tables.column(table, "time_updated")} AS updated
       FROM ${table} s WHERE s.parent_id = ? ORDER BY ${created} DESC, s.id LIMIT ?`,
      parent,
      Number.isFinite(most) ? most * 2 : EVERY_ROW,
    );
    for (const row of rows) {
      const id = sessionIdOf(row.id);
      if (id === undefined || id === parent || children.has(id)) continue;
      children.set(id, {
        id,
        title: titleOf(asText(row.title) ?? "subagent"),
        created: timeOf(row.created),
        updated: timeOf(row.updated),
      });
    }
  }
  return [...children.values()].sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1)).slice(0, most);
}

const NOTHING: Ending = { verdict: undefined, begun: 0, updated: 0 };

function endingOf(database: SqliteDatabase, tables: Tables, child: SessionId): Ending {
  if (isSecondGeneration(database, tables, child)) return endingOfMessages(database, child);
  return tables.v1 ? endingOfParts(database, child) : NOTHING;
}

function endingOfParts(database: SqliteDatabase, child: SessionId): Ending {
  const row = database.first(
    `SELECT id, time_created, time_updated, ${factsSql("data")} AS facts,
            (SELECT max(time_updated) FROM part WHERE message_id = message.id) AS part_updated
     FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 1`,
    child,
  );
  if (row === undefined) return NOTHING;
  const facts = factsOf(String(row.id), row.time_created, row.facts) ?? unreadFacts(String(row.id), row.time_created);
  const updated = Math.max(timeOf(row.time_updated), timeOf(row.part_updated));
  return { verdict: verdictOfMessage(facts), begun: facts.at, updated };
}

/** How a message says that its session ended: a finished step that does not call for another one is its end. */
export function verdictOfMessage({ role, error, completed, finish }: MessageFacts): Verdict {
  if (error !== undefined) return isAbort(error) ? "interrupted" : "failed";
  const ended = role === "assistant" && completed !== undefined && finish !== "tool-calls";
  return ended ? "done" : undefined;
}

function endingOfMessages(database: SqliteDatabase, child: SessionId): Ending {
  const row: SqliteRow | undefined = database.first(
    `SELECT type, time_created, time_updated, CASE WHEN octet_length(data) <= ${PAGE_BYTES} THEN data END AS data
     FROM session_message WHERE session_id = ? AND type IN ('user', 'assistant', 'idle') ORDER BY seq DESC LIMIT 1`,
    child,
  );
  if (row === undefined) return NOTHING;
  const data = parsed(row.data) ?? {};
  const begun = timeOf(row.time_created);
  const updated = timeOf(row.time_updated);
  if (row.type === "idle") {
    const outcomes: { readonly [outcome: string]: Verdict } = {
      succeeded: "done",
      failed: "failed",
      interrupted: "interrupted",
    };
    return { verdict: outcomes[String(data.outcome)], begun, updated };
  }
  if (row.type !== "assistant") return { verdict: undefined, begun, updated };
  const error = errorFacts(data.error);
  const ended = asObject(data.time)?.completed !== undefined && data.finish !== "tool-calls";
  const verdict = error === undefined ? (ended ? "done" : undefined) : isAbort(error) ? "interrupted" : "failed";
  return { verdict, begun, updated };
}

/**
 * What to say of a child that did not end: only a process that has had the database open since before the child's newest
 * message can be at work on it. Where such a one is but nothing was written for long, nothing is proved.
 */
function unfinished(
  child: Child,
  { begun, updated }: Ending,
  holders: readonly Holder[] | undefined,
  now: number,
): ChildStatus {
  if (holders === undefined) return "unknown";
  const last = Math.max(child.created, begun);
  const able = holders.some(({ startedAt }) => startedAt === undefined || startedAt <= last + START_SLACK_MS);
  if (!able) return "interrupted";
  return now - Math.max(child.updated, updated) <= QUIET_MS ? "running" : "unknown";
}
