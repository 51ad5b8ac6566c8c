import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** A value as SQLite gives it; a whole number that JavaScript can't hold exactly stays a bigint. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** A row by column name. */
export type SqliteRow = { readonly [column: string]: SqliteValue };

/** A database that is open for reading, during one synchronous step. */
export interface SqliteDatabase {
  /** The columns that `table` has, none when there is no such table. What exists is asked, never told by a version. */
  columns(table: string): ReadonlySet<string>;
  /** Every row of a query. */
  all(sql: string, ...parameters: SQLInputValue[]): SqliteRow[];
  /** The first row of a query. */
  first(sql: string, ...parameters: SQLInputValue[]): SqliteRow | undefined;
}

/** Queries over a connection. */
export function openRows(connection: DatabaseSync): SqliteDatabase {
  const all = (sql: string, ...parameters: SQLInputValue[]): SqliteRow[] => {
    const statement = connection.prepare(sql);
    statement.setReadBigInts(true);
    return statement.all(...parameters).map((row) => plain(row as SqliteRow));
  };
  return {
    all,
    first: (sql, ...parameters) => all(sql, ...parameters)[0],
    columns: (table) => new Set(all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name))),
  };
}

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
