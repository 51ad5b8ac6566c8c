import { setImmediate as turn } from "node:timers/promises";
import { Breather } from "../../platform/breather.ts";
import type { Clock } from "../../platform/clock.ts";
import type { SqliteDatabase, SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import type { SessionId } from "../../transcript/names.ts";
import { timeOf, type Unit } from "./chat-rows.ts";
import { isRowId } from "./cursor.ts";
import { type DatabaseFile, type DatabaseState, isLasting, sameState } from "./database-file.ts";
import type { ChatUpdates } from "./place.ts";
import { isSecondGeneration } from "./tables.ts";

/** Sessions whose last scan is kept. */
const MOST_SCANS = 64;

interface Scan {
  /** Counts the scans; which of two began first. */
  readonly begun: number;
  /** Of the files, from before the scan. */
  readonly state: DatabaseState;
  readonly since: number;
  readonly units: Promise<readonly Unit[]>;
  /** Undefined while it goes on; then whether equal stamps mean equal updates. */
  lasting: boolean | undefined;
  /** The earliest time that those ask for who wait for it to end. */
  wanted: number;
}

/**
 * Finds what was updated in a session. There is no index for that, so the times of all its rows are looked at: once per
 * state of the files, and one scan of a session at a time, however many ask; not at all when nothing was written since.
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
  async updates(database: DatabaseFile, session: SessionId, since: number): Promise<ChatUpdates> {
    const key = `${session} ${database.path}`;
    const before = this.#count;
    for (;;) {
      const state = database.state();
      if (state.modified > 0 && state.modified < since) return { units: [], uses: state.stamps };
      const held = this.#scans.get(key);
      const lasts = held?.lasting === true && sameState(held.state, state);
      if (held !== undefined && held.since <= since && (held.begun > before || lasts)) {
        const units = await held.units;
        return { units: units.filter((unit) => unit.updated >= since), uses: held.state.stamps };
      }
      if (held === undefined || held.lasting !== undefined) {
        this.#begin(key, database, session, Math.min(since, held?.wanted ?? since), state);
      } else {
        held.wanted = Math.min(held.wanted, since);
        await held.units.catch(() => undefined);
      }
    }
  }

  #begin(key: string, database: DatabaseFile, session: SessionId, since: number, state: DatabaseState): void {
    const lasting = isLasting(state, this.#clock.now());
    const units = scan(database, session, since);
    const begun = ++this.#count;
    const fresh: Scan = { begun, state, since, units, lasting: undefined, wanted: Number.POSITIVE_INFINITY };
    this.#scans.delete(key);
    this.#scans.set(key, fresh);
    const [oldest] = this.#scans.keys();
    if (this.#scans.size > MOST_SCANS && oldest !== undefined) this.#scans.delete(oldest);
    // What failed is not kept.
    units.then(
      () => {
        fresh.lasting = lasting;
      },
      () => {
        fresh.lasting = false;
      },
    );
  }
}

/** A table of rows that are looked at in the order of `keys`, which an index holds behind the session. */
interface Walk {
  readonly table: "part" | "message" | "session_message";
  readonly kind: Unit["kind"];
  readonly keys: readonly string[];
  /** Before the first row. */
  readonly start: readonly SqliteValue[];
}

const PARTS: Walk = { table: "part", kind: "part", keys: ["rowid"], start: [0] };
const ERRORS: Walk = {
  table: "message",
  kind: "message",
  keys: ["time_created", "id"],
  start: [Number.MIN_SAFE_INTEGER, ""],
};
const ROWS: Walk = { table: "session_message", kind: "row", keys: ["seq"], start: [Number.MIN_SAFE_INTEGER] };

/** Where a scan has come to. */
interface Position {
  readonly walk: Walk;
  /** The keys of the last row that was looked at. */
  readonly after: readonly SqliteValue[];
}

/** What one step found, and where the next one starts; undefined when there are no more rows. */
interface Step {
  readonly next: Position | undefined;
  readonly found: readonly Unit[];
}

async function scan(database: DatabaseFile, session: SessionId, since: number): Promise<Unit[]> {
  const units: Unit[] = [];
  let position: Position | undefined;
  do {
    const from: Position | undefined = position;
    const { value } = await database.read((rows, tables): Step => {
      if (from !== undefined) return step(rows, session, since, from);
      if (isSecondGeneration(rows, tables, session)) return step(rows, session, since, startOf(ROWS));
      return tables.v1 ? step(rows, session, since, startOf(ERRORS)) : { next: undefined, found: [] };
    });
    // A time beyond what is one can't be followed: such a row is told with the history alone.
    for (const unit of value.found) if (unit.updated >= since) units.push(unit);
    position = value.next;
    if (position !== undefined) await turn();
  } while (position !== undefined);
  return units.sort((a, b) => a.updated - b.updated || (a.id < b.id ? -1 : 1));
}

function startOf(walk: Walk): Position {
  return { walk, after: walk.start };
}

/** Looks at rows for as long as a step may hold others up. */
function step(database: SqliteDatabase, session: SessionId, since: number, from: Position): Step {
  const breather = new Breather();
  const found: Unit[] = [];
  let next: Position | undefined = from;
  do {
    const chunk: Step = chunkOf(database, session, since, next);
    found.push(...chunk.found);
    next = chunk.next;
  } while (next !== undefined && !breather.isDue);
  return { next, found };
}

/** Rows that one query looks at: where none of them is in memory, each may cost a read of the disk. */
const CHUNK_ROWS = 50;

function chunkOf(database: SqliteDatabase, session: SessionId, since: number, { walk, after }: Position): Step {
  const { table, kind, keys } = walk;
  const key = `(${keys.join(", ")})`;
  const place = `(${keys.map(() => "?").join(", ")})`;
  const last = database.first(
    `SELECT ${keys.map((name, index) => `${name} AS key${index}`).join(", ")} FROM ${table}
     WHERE session_id = ? AND ${key} > ${place} ORDER BY ${keys.join(", ")} LIMIT 1 OFFSET ${CHUNK_ROWS - 1}`,
    session,
    ...after,
  );
  const end = last && keys.map((_, index) => last[`key${index}`] ?? null);
  const rows = database.all(
    `SELECT id, time_updated, octet_length(data) AS bytes FROM ${table}
     WHERE session_id = ? AND ${key} > ${place} ${end === undefined ? "" : `AND ${key} <= ${place}`} AND time_updated >= ?`,
    session,
    ...after,
    ...(end ?? []),
    since,
  );
  const found = rows.flatMap((row) => unitOf(row, kind));
  if (end !== undefined) return { found, next: { walk, after: end } };
  return { found, next: walk === ERRORS ? startOf(PARTS) : undefined };
}

/** A message's own data is no page's content. */
function unitOf({ id, time_updated, bytes }: SqliteRow, kind: Unit["kind"]): Unit[] {
  if (!isRowId(id)) return [];
  return [{ id, kind, updated: timeOf(time_updated), bytes: kind === "message" ? 0 : Number(bytes ?? 0) }];
}
