import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import type { SqliteDatabase, SqliteRow } from "../../sqlite/database.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type ChatRows, type ChatSource, revertOf, timeOf, type Unit } from "./chat-rows.ts";
import { isRowId } from "./cursor.ts";
import { type DatabaseFile, type DatabaseState, isLasting, sameState } from "./database-file.ts";
import { MessageRows } from "./message-rows.ts";
import { PartRows } from "./part-rows.ts";
import type { ChatFile, ChatRead } from "./place.ts";
import type { Problems } from "./problems.ts";
import type { Tables } from "./tables.ts";

/** Whether a session is read from `session_message`: 1.18 has that table too, empty for all but its preview's sessions. */
export function isSecondGeneration(database: SqliteDatabase, tables: Tables, session: SessionId): boolean {
  if (!tables.v2) return false;
  return database.first("SELECT 1 AS one FROM session_message WHERE session_id = ? LIMIT 1", session) !== undefined;
}

/** A chat in a database. */
export class DatabaseChat implements ChatFile {
  readonly session: SessionId;
  readonly #database: DatabaseFile;
  readonly #scans: UpdateScans;
  readonly #problems: Problems;

  constructor(database: DatabaseFile, session: SessionId, scans: UpdateScans, problems: Problems) {
    this.#database = database;
    this.session = session;
    this.#scans = scans;
    this.#problems = problems;
  }

  async read<T>(use: (rows: ChatRows) => T): Promise<ChatRead<T>> {
    const { value, uses, state } = await this.#database.read((database, tables) =>
      use(rowsOf({ database, tables, session: this.session, problems: this.#problems })),
    );
    return { value, uses, modified: state.modified };
  }

  updates(since: number): Promise<readonly Unit[]> {
    return this.#scans.updates(this.#database, this.session, since);
  }
}

function rowsOf(source: ChatSource): ChatRows {
  const { database, tables, session } = source;
  const revert = revertOf(source);
  if (revert === false) throw new Failure("not-found", "no such transcript");
  if (isSecondGeneration(database, tables, session)) return new MessageRows(source, revert);
  if (tables.v1) return new PartRows(source, revert);
  if (tables.v2) return new MessageRows(source, revert);
  throw new Failure("failed", "this OpenCode database has no messages in a form that is known");
}

/** Rows that one step looks at: some milliseconds. */
const STEP_ROWS = 1_000;
/** Sessions whose last scan is kept. */
const MOST_SCANS = 64;

interface Scan {
  readonly state: DatabaseState;
  readonly since: number;
  readonly units: Promise<readonly Unit[]>;
  lasting: boolean;
}

/**
 * Finds what was updated in a session. There is no index for that, so the times of all its rows are looked at: once per
 * state of the files, however many ask.
 */
export class UpdateScans {
  readonly #clock: Clock;
  readonly #scans = new Map<string, Scan>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Scans so far, for tests that count work. */
  get count(): number {
    return this.#count;
  }

  /** The rows of a session written at `since` or later, in the order of their times, then ids. */
  async updates(database: DatabaseFile, session: SessionId, since: number): Promise<readonly Unit[]> {
    const key = `${session} ${database.path}`;
    const state = database.state();
    const held = this.#scans.get(key);
    if (held?.lasting && held.since <= since && sameState(held.state, state)) {
      return (await held.units).filter((unit) => unit.updated >= since);
    }
    this.#count++;
    const units = scan(database, session, since);
    const lasting = isLasting(state, this.#clock.now());
    const fresh: Scan = { state, since, units, lasting };
    this.#scans.delete(key);
    this.#scans.set(key, fresh);
    const [oldest] = this.#scans.keys();
    if (this.#scans.size > MOST_SCANS && oldest !== undefined) this.#scans.delete(oldest);
    // What failed is not kept.
    units.catch(() => {
      fresh.lasting = false;
    });
    return units;
  }
}

type RowNumber = number | bigint;

/** What one step found, and the last row it looked at; undefined when there are no more. */
interface Step {
  readonly last: RowNumber | undefined;
  readonly found: readonly Unit[];
}

async function scan(database: DatabaseFile, session: SessionId, since: number): Promise<Unit[]> {
  const units: Unit[] = [];
  for (let after: RowNumber | undefined = 0; after !== undefined; ) {
    const from: RowNumber = after;
    const { value } = await database.read((rows, tables): Step => {
      if (isSecondGeneration(rows, tables, session))
        return { last: undefined, found: messageUpdates(rows, session, since) };
      if (!tables.v1) return { last: undefined, found: [] };
      const first = from === 0 ? errorUpdates(rows, session, since) : [];
      const { last, found } = partUpdates(rows, session, since, from);
      return { last, found: [...first, ...found] };
    });
    // A time beyond what is one can't be followed: such a row is told with the history alone.
    for (const unit of value.found) if (unit.updated >= since) units.push(unit);
    after = value.last;
    if (after !== undefined) await turn();
  }
  return units.sort((a, b) => a.updated - b.updated || (a.id < b.id ? -1 : 1));
}

function messageUpdates(database: SqliteDatabase, session: SessionId, since: number): Unit[] {
  const rows = database.all(
    `SELECT id, time_updated, octet_length(data) AS bytes FROM session_message
     WHERE session_id = ? AND time_updated >= ?`,
    session,
    since,
  );
  return rows.flatMap((row) => unitOf(row, "row"));
}

function errorUpdates(database: SqliteDatabase, session: SessionId, since: number): Unit[] {
  const rows = database.all(
    "SELECT id, time_updated, 0 AS bytes FROM message WHERE session_id = ? AND time_updated >= ?",
    session,
    since,
  );
  return rows.flatMap((row) => unitOf(row, "message"));
}

/** Among the next rows behind `after`, in the order in which they were inserted. */
function partUpdates(database: SqliteDatabase, session: SessionId, since: number, after: RowNumber): Step {
  const border = database.first(
    `SELECT max(row) AS last, count(*) AS count
     FROM (SELECT rowid AS row FROM part WHERE session_id = ? AND rowid > ? ORDER BY rowid LIMIT ${STEP_ROWS})`,
    session,
    after,
  );
  const last = border?.last;
  if (typeof last !== "number" && typeof last !== "bigint") return { last: undefined, found: [] };
  const rows = database.all(
    `SELECT id, time_updated, octet_length(data) AS bytes FROM part
     WHERE session_id = ? AND rowid > ? AND rowid <= ? AND time_updated >= ?`,
    session,
    after,
    last,
    since,
  );
  const found = rows.flatMap((row) => unitOf(row, "part"));
  return { last: border?.count === STEP_ROWS ? last : undefined, found };
}

function unitOf({ id, time_updated, bytes }: SqliteRow, kind: Unit["kind"]): Unit[] {
  return isRowId(id) ? [{ id, kind, updated: timeOf(time_updated), bytes: Number(bytes ?? 0) }] : [];
}
