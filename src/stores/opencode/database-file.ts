import { dirname } from "node:path";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { readDatabase, type SqliteRead } from "../../sqlite/read.ts";
import { type Tables, tablesOf } from "./tables.ts";

/** A file that changed so recently may change again without another stamp: ms. */
const YOUNG_MS = 50;

/** What a database and its log are like now; every commit changes it. */
export interface DatabaseState {
  /** The main file, then its log; where there is none, the folder, which changes when one appears. */
  readonly stamps: readonly FileStamp[];
  /** When it was written last: ms since the epoch, 0 when it is not there. */
  readonly modified: number;
}

/** An OpenCode database. It is opened for each read, in one step, and leaves no trace (see `readDatabase`). */
export class DatabaseFile {
  /** Real path. */
  readonly path: string;
  readonly #scratch: string;
  #known: { readonly schema: string; readonly tables: Tables } | undefined;

  /** `scratch`: a folder for private copies, made when one is needed. */
  constructor(path: string, scratch: string) {
    this.path = path;
    this.#scratch = scratch;
  }

  /** What it is like now: two stats, or three. */
  state(): DatabaseState {
    const main = stampOf(this.path);
    const log = stampOf(`${this.path}-wal`);
    const beside = log ?? stampOf(dirname(this.path));
    const modified = Math.max(0, ...[main, log].map((stamp) => Number((stamp?.mtimeNs ?? 0n) / 1_000_000n)));
    return { stamps: [main, beside].filter((stamp) => stamp !== undefined), modified };
  }

  /**
   * Reads it in one synchronous step. `uses` is the state from before the step.
   * @throws Failure not-found when it is gone; unreadable when it can't be read
   */
  async read<T>(
    use: (database: SqliteDatabase, tables: Tables) => T,
  ): Promise<SqliteRead<T> & { state: DatabaseState }> {
    const state = this.state();
    const read = await readDatabase(this.path, { scratch: this.#scratch }, (database) =>
      use(database, this.#tables(database, state)),
    );
    return { ...read, uses: state.stamps, state };
  }

  /** What the database has is asked again only when its schema is another one: SQLite counts its changes. */
  #tables(database: SqliteDatabase, { stamps: [main] }: DatabaseState): Tables {
    const schema = `${main?.ino} ${database.first("PRAGMA schema_version")?.schema_version}`;
    if (this.#known === undefined || this.#known.schema !== schema)
      this.#known = { schema, tables: tablesOf(database) };
    return this.#known.tables;
  }
}

/** Whether nothing was written between two states; `false` too when the older one was too young to tell. */
export function sameState(before: DatabaseState, now: DatabaseState): boolean {
  return (
    before.stamps.length === now.stamps.length &&
    before.stamps.every((stamp, index) => {
      const other = now.stamps[index];
      return other !== undefined && stamp.path === other.path && sameStamp(stamp, other);
    })
  );
}

/** Whether a state read at the time `now` stands for one set of contents: nothing was written just before. */
export function isLasting({ modified }: DatabaseState, now: number): boolean {
  return now - modified > YOUNG_MS;
}
