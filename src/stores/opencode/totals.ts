import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../platform/clock.ts";
import { asNumber } from "../../platform/read.ts";
import type { SqliteDatabase, SqliteValue } from "../../sqlite/database.ts";
import type { Tokens } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { roundedUsd } from "../../transcript/usd.ts";
import type { Totals } from "../store.ts";
import { isSecondGeneration } from "./database-chat.ts";
import { type DatabaseFile, type DatabaseState, isLasting, sameState } from "./database-file.ts";
import type { Problems } from "./problems.ts";
import type { Tables } from "./tables.ts";
import { tokensOf } from "./text.ts";

/** Messages that one step reads. */
const STEP = 300;
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
    for (let after: Key | undefined = FIRST; after !== undefined; ) {
      const from: Key = after;
      const { value } = await database.read((rows, tables): Key | undefined => {
        if (isSecondGeneration(rows, tables, session)) return this.#step(rows, "session_message", session, from, sum);
        return tables.v1 ? this.#step(rows, "message", session, from, sum) : undefined;
      });
      after = value;
      if (after !== undefined) await turn();
    }
  }

  /** Gives back the last message of this step; undefined when there are no more. */
  #step(
    database: SqliteDatabase,
    table: "message" | "session_message",
    session: SessionId,
    after: Key,
    sum: Sum,
  ): Key | undefined {
    const rows = database.all(
      `SELECT time_created AS time, id,
              CASE WHEN octet_length(data) <= ${PAGE_BYTES} AND json_valid(data)
                   THEN json_array(json_extract(data, '$.tokens'), json_extract(data, '$.cost')) END AS used
       FROM ${table} WHERE session_id = ? AND (time_created, id) > (?, ?) ORDER BY time_created, id LIMIT ${STEP}`,
      session,
      after.time,
      after.id,
    );
    for (const { id, used } of rows) {
      if (typeof used === "string") sum.add(JSON.parse(used));
      else this.#problems.add("a message whose tokens could not be counted", `message ${id}`);
    }
    const last = rows[rows.length - 1];
    return rows.length === STEP && last !== undefined ? { time: last.time ?? null, id: String(last.id) } : undefined;
  }
}

/** Where the reading of messages has come to. */
interface Key {
  readonly time: SqliteValue;
  readonly id: string;
}

const FIRST: Key = { time: Number.MIN_SAFE_INTEGER, id: "" };

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
