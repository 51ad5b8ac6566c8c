import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { asNumber } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteRow, SqliteValue } from "../../sqlite/database.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { roundedUsd } from "../../transcript/usd.ts";
import type { Totals } from "../store.ts";
import { type DatabaseFile, type DatabaseState, isLasting, sameState } from "./database-file.ts";
import type { Problems } from "./problems.ts";
import { isSecondGeneration, type Tables } from "./tables.ts";
import { tokensOf } from "./text.ts";

/** Messages that one step reads. */
const STEP = 150;
/** Sessions whose totals are kept. */
const MOST_TOTALS = 200;

interface Counted {
  readonly state: DatabaseState;
  readonly totals: Totals;
}

/** Counts what sessions have used: the sum over the answers of a session and of the sessions below it, each once. */
export class TotalsCounter {
  readonly #clock: Clock;
  readonly #problems: Problems;
  readonly #counted = new Map<string, Counted>();

  constructor(clock: Clock, problems: Problems) {
    this.#clock = clock;
    this.#problems = problems;
  }

  async totals(database: DatabaseFile, session: SessionId): Promise<Totals> {
    const key = `${session} ${database.path}`;
    const state = database.state();
    const held = this.#counted.get(key);
    if (held !== undefined && sameState(held.state, state)) return held.totals;
    const sum = new Sum();
    const seen = new Set<SessionId>([session]);
    for (const id of seen) {
      await this.#add(database, id, sum);
      const { value: below } = await database.read((rows, tables) => childIds(rows, tables, id));
      for (const child of below) seen.add(child);
    }
    this.#counted.delete(key);
    if (isLasting(state, this.#clock.now())) this.#counted.set(key, { state, totals: sum.totals });
    const [oldest] = this.#counted.keys();
    if (this.#counted.size > MOST_TOTALS && oldest !== undefined) this.#counted.delete(oldest);
    return sum.totals;
  }

  async #add(database: DatabaseFile, session: SessionId, sum: Sum): Promise<void> {
    let next: Position | undefined;
    do {
      const from: Position | undefined = next;
      const { value } = await database.read((rows, tables): Step => {
        if (from !== undefined) return step(rows, session, from);
        if (isSecondGeneration(rows, tables, session)) return step(rows, session, SECOND);
        return tables.v1 ? step(rows, session, FIRST) : { used: [], next: undefined };
      });
      // Added here, since a step may run more than once.
      for (const { id, used } of value.used) {
        if (typeof used === "string") sum.add(JSON.parse(used));
        else this.#problems.add("a message whose tokens could not be counted", `message ${id}`);
      }
      next = value.next;
      if (next !== undefined) await turn();
    } while (next !== undefined);
  }
}

/** Where the reading of messages has come to, by columns that an index holds behind the session. */
interface Position {
  readonly table: "message" | "session_message";
  readonly keys: string;
  readonly after: readonly SqliteValue[];
}

const FIRST: Position = { table: "message", keys: "time_created, id", after: [Number.MIN_SAFE_INTEGER, ""] };
const SECOND: Position = { table: "session_message", keys: "seq", after: [Number.MIN_SAFE_INTEGER] };

/** What one step read; `next` is undefined when there are no more messages. */
interface Step {
  readonly used: readonly SqliteRow[];
  readonly next: Position | undefined;
}

function step(database: SqliteDatabase, session: SessionId, from: Position): Step {
  const { table, keys, after } = from;
  const used = database.all(
    `SELECT ${keys}, id, CASE WHEN octet_length(data) <= ${PAGE_BYTES} AND json_valid(data)
                              THEN json_array(json_extract(data, '$.tokens'), json_extract(data, '$.cost')) END AS used
     FROM ${table} WHERE session_id = ? AND (${keys}) > (${after.map(() => "?").join(", ")}) ORDER BY ${keys} LIMIT ${STEP}`,
    session,
    ...after,
  );
  const last = used.at(-1);
  if (used.length < STEP || last === undefined) return { used, next: undefined };
  return { used, next: { ...from, after: keys.split(", ").map((key) => last[key] ?? null) } };
}

function childIds(database: SqliteDatabase, tables: Tables, parent: SessionId): SessionId[] {
  return tables.sessions.flatMap((table) => {
    if (tables.column(table, "parent_id") === "NULL") return [];
    const rows = database.all(`SELECT s.id FROM ${table} s WHERE s.parent_id = ?`, parent);
    return rows.flatMap(({ id }) => sessionIdOf(id) ?? []);
  });
}

/** Adds up what answers state; a figure that none of them states stays absent. */
export class Sum {
  #tokens: Tokens = {};
  #cost: number | undefined;

  /** Adds `[tokens, cost]` as a message has them; a person's message has neither. */
  add([tokens, cost]: readonly unknown[]): void {
    this.addTokens(tokensOf(tokens) ?? {}, asNumber(cost));
  }

  /** Adds what one answer states. */
  addTokens(stated: Tokens, usd: number | undefined): void {
    const sum: Record<string, number> = { ...this.#tokens };
    for (const [name, count] of Object.entries(stated)) sum[name] = (sum[name] ?? 0) + count;
    this.#tokens = sum;
    if (usd !== undefined) this.#cost = (this.#cost ?? 0) + usd;
  }

  get totals(): Totals {
    return { tokens: this.#tokens, ...(this.#cost !== undefined && { costUsd: roundedUsd(this.#cost) }) };
  }
}
