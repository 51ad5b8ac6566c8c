import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { errorCode } from "../platform/failure.ts";
import { asObject } from "../platform/read.ts";

/** A value as SQLite gives it; a whole number that JavaScript can't hold exactly stays a bigint. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** A row by column name. */
export type SqliteRow = { readonly [column: string]: SqliteValue };

/** A database that is open for reading, during one synchronous step, which sees one state of it. */
export interface SqliteDatabase {
  /** The columns that `table` has, none when there is no such table. What exists is asked, never told by a version. */
  columns(table: string): ReadonlySet<string>;
  /** Every row of a query. */
  all(sql: string, ...parameters: SQLInputValue[]): SqliteRow[];
  /** The rows of a query, read one by one: who stops early leaves the others unread. */
  each(sql: string, ...parameters: SQLInputValue[]): Iterable<SqliteRow>;
  /** The first row of a query. */
  first(sql: string, ...parameters: SQLInputValue[]): SqliteRow | undefined;
}

/** Queries over a connection; each is prepared once. */
export function openRows(connection: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const held = statements.get(sql);
    if (held !== undefined) return held;
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  /** Big integers cost time in every row, and hardly any database holds one: they are asked for when one is met. */
  const exact = (sql: string): StatementSync => {
    const statement = connection.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  const all = (sql: string, ...parameters: SQLInputValue[]): SqliteRow[] => {
    try {
      return prepared(sql).all(...parameters) as SqliteRow[];
    } catch (error) {
      if (errorCode(error) !== OUT_OF_RANGE) throw error;
      return exact(sql)
        .all(...parameters)
        .map((row) => plain(row as SqliteRow));
    }
  };
  /** Statements that are read row by row: in Node 22 nothing else keeps one from being collected meanwhile. */
  const reading = new Set<StatementSync>();
  function* rowsOf(statement: StatementSync, parameters: SQLInputValue[]): Generator<SqliteRow> {
    reading.add(statement);
    try {
      yield* statement.iterate(...parameters) as Iterable<SqliteRow>;
    } finally {
      reading.delete(statement);
    }
  }
  function* each(sql: string, ...parameters: SQLInputValue[]): Generator<SqliteRow> {
    let told = 0;
    try {
      // A statement of its own, since who reads may ask the same of another place meanwhile.
      for (const row of rowsOf(connection.prepare(sql), parameters)) {
        told++;
        yield row;
      }
    } catch (error) {
      if (errorCode(error) !== OUT_OF_RANGE) throw error;
      for (const row of rowsOf(exact(sql), parameters)) if (told-- <= 0) yield plain(row);
    }
  }
  return {
    all,
    each,
    first: (sql, ...parameters) => all(sql, ...parameters)[0],
    columns: (table) => new Set(all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name))),
  };
}

/** Whether SQLite threw because the database has not what a statement names. */
export function isRefusedSql(error: unknown): boolean {
  return asObject(error)?.errcode === SQL_ERROR;
}

/** SQLITE_ERROR (https://sqlite.org/rescode.html). */
const SQL_ERROR = 1;

/** What Node says of a whole number that JavaScript can't hold. */
const OUT_OF_RANGE = "ERR_OUT_OF_RANGE";

/** Text that may hold NUL is read as bytes (`CAST(… AS BLOB)`, since Node 22 cuts it there); this makes it text again. */
export function textOfBlob(value: SqliteValue | undefined): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    : undefined;
}

function plain(row: SqliteRow): SqliteRow {
  const values: { [column: string]: SqliteValue } = {};
  for (const column in row) {
    const value = row[column] ?? null;
    const exact = typeof value === "bigint" && Number.isSafeInteger(Number(value));
    values[column] = exact ? Number(value) : value;
  }
  return values;
}
