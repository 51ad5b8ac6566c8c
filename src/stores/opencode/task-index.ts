import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { asArray, asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteRow } from "../../sqlite/database.ts";
import { PAGE_BYTES, SETTLE_MS } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { ChildStatus } from "../store.ts";
import { parsed } from "./chat-rows.ts";
import { type DatabaseFile, type DatabaseState, isLasting, sameState } from "./database-file.ts";
import { childOfPart } from "./part-entries.ts";
import { childOfBlock } from "./row-entries.ts";
import { isSecondGeneration } from "./tables.ts";
import { childInOutput } from "./text.ts";

/** What a row of a parent proves of a child: how it ended, or nothing (it is at work, or works in the background). */
export type Verdict = Extract<ChildStatus, "done" | "failed" | "interrupted"> | undefined;

interface Evidence {
  readonly child: SessionId;
  readonly verdict: Verdict;
}

/** The rows of one parent that tell of children, by the order in which they were inserted. */
interface Index {
  readonly rows: Map<number, readonly Evidence[]>;
  /** Rows written at this time or later are still to be looked at. */
  since: number;
  state: DatabaseState | undefined;
}

/** Rows that one step looks at. */
const STEP_ROWS = 150;
/** Parents whose index is kept. */
const MOST_PARENTS = 32;

/**
 * What parents tell of their children: the newest row that names a child counts. The first time all rows of a parent are
 * looked at, in steps; after that only those that were written since.
 */
export class TaskIndexes {
  readonly #clock: Clock;
  readonly #indexes = new Map<string, Index>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the rows of `parent` prove of each child they name. */
  async verdicts(database: DatabaseFile, parent: SessionId): Promise<ReadonlyMap<SessionId, Verdict>> {
    const key = `${parent} ${database.path}`;
    const index: Index = this.#indexes.get(key) ?? { rows: new Map(), since: 0, state: undefined };
    this.#indexes.delete(key);
    this.#indexes.set(key, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > MOST_PARENTS && oldest !== undefined) this.#indexes.delete(oldest);
    const state = database.state();
    const now = this.#clock.now();
    if (index.state === undefined || !sameState(index.state, state)) {
      await update(index, database, parent);
      index.since = Math.max(index.since, Math.min(now, state.modified) - SETTLE_MS);
      index.state = isLasting(state, now) ? state : undefined;
    }
    const newest = new Map<SessionId, Verdict>();
    for (const row of [...index.rows.keys()].sort((a, b) => a - b)) {
      for (const { child, verdict } of index.rows.get(row) ?? []) newest.set(child, verdict);
    }
    return newest;
  }
}

async function update(index: Index, database: DatabaseFile, parent: SessionId): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    const { value } = await database.read((rows, tables): number | undefined => {
      if (isSecondGeneration(rows, tables, parent)) return indexMessages(index, rows, parent);
      return tables.v1 ? indexParts(index, rows, parent, from) : undefined;
    });
    after = value;
    if (after !== undefined) await turn();
  }
}

/** Gives back the last row of this step; undefined when there are no more. */
function indexParts(index: Index, database: SqliteDatabase, parent: SessionId, after: number): number | undefined {
  const border = database.first(
    `SELECT max(row) AS last, count(*) AS count
     FROM (SELECT rowid AS row FROM part WHERE session_id = ? AND rowid > ? ORDER BY rowid LIMIT ${STEP_ROWS})`,
    parent,
    after,
  );
  const last = border?.last;
  if (typeof last !== "number") return undefined;
  const rows = database.all(
    `SELECT rowid AS row, data FROM part WHERE session_id = ? AND rowid > ? AND rowid <= ? AND time_updated >= ?
     AND octet_length(data) <= ${PAGE_BYTES} AND (instr(data, '"task"') > 0 OR instr(data, '<task id=') > 0)`,
    parent,
    after,
    last,
    index.since,
  );
  take(index, rows, (data) => evidenceOfPart(data));
  return border?.count === STEP_ROWS ? last : undefined;
}

function indexMessages(index: Index, database: SqliteDatabase, parent: SessionId): undefined {
  const rows = database.all(
    `SELECT seq AS row, data FROM session_message WHERE session_id = ? AND time_updated >= ?
     AND type IN ('assistant', 'synthetic') AND octet_length(data) <= ${PAGE_BYTES}
     AND (instr(data, 'subagent') > 0 OR instr(data, '"task"') > 0)`,
    parent,
    index.since,
  );
  take(index, rows, (data) => evidenceOfMessage(data));
}

function take(index: Index, rows: readonly SqliteRow[], read: (data: JsonObject) => Evidence[]): void {
  for (const { row, data } of rows) {
    const object = parsed(data);
    const evidence = object === undefined ? [] : read(object);
    if (typeof row === "number" && evidence.length > 0) index.rows.set(row, evidence);
  }
}

/** A task that works in the background is completed at once; that it is done comes later, as a text of the user's. */
function evidenceOfPart(data: JsonObject): Evidence[] {
  if (data.type === "text") return data.synthetic === true ? completion(asText(data.text)) : [];
  const child = childOfPart(data);
  if (child === undefined) return [];
  const state = asObject(data.state);
  return [{ child, verdict: verdictOf(state?.status, asObject(state?.metadata)?.background === true) }];
}

function evidenceOfMessage(data: JsonObject): Evidence[] {
  const blocks = (asArray(data.content) ?? []).flatMap((value): Evidence[] => {
    const block = asObject(value);
    const child = childOfBlock(block);
    const state = asObject(block?.state);
    if (child === undefined) return [];
    const background = asObject(state?.input)?.background === true;
    return [{ child, verdict: verdictOf(state?.status, background) }];
  });
  return [...blocks, ...completion(asText(data.text))];
}

function verdictOf(status: unknown, background: boolean): Verdict {
  if (status === "error") return "failed";
  return status === "completed" && !background ? "done" : undefined;
}

/** `<task id="…" state="…">` (2.0: `<subagent …>`), which tells how a task in the background ended. */
function completion(text: string | undefined): Evidence[] {
  const head = text?.trimStart().slice(0, 500) ?? "";
  const child = sessionIdOf(childInOutput(head));
  const state = /^<(?:task|subagent) [^>]*?state="(\w+)"/.exec(head)?.[1];
  if (child === undefined || state === undefined) return [];
  const verdicts: { readonly [state: string]: Verdict } = {
    completed: "done",
    error: "failed",
    cancelled: "interrupted",
  };
  return [{ child, verdict: verdicts[state] }];
}
