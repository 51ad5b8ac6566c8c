import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sqlite } from "../platform/builtins.ts";
import { errorCode, Failure } from "../platform/failure.ts";
import { type FileStamp, sameStamp, stampOf } from "../platform/files.ts";
import { makePrivateFolder } from "../platform/private-folder.ts";
import { asNumber, asObject } from "../platform/read.ts";
import { openRows, type SqliteDatabase } from "./database.ts";
import { type Access, accessOf, type DatabaseFolder, databaseName, lookAt } from "./folder.ts";

/** What was read, and of which state of the files. */
export interface SqliteRead<T> {
  readonly value: T;
  /** The newest writes may be missing: they stand in a log that can't be read without changing the folder. */
  readonly stale: boolean;
  /** The main file and, where there is one, the write-ahead log. */
  readonly uses: readonly FileStamp[];
}

/** How a database is read. */
export interface SqliteOptions {
  /** A folder for private copies, made when one is needed. */
  readonly scratch: string;
  /** The largest database (with its log) that is copied, in bytes. */
  readonly copyBytes?: number;
  /** How long a locked or checkpointing database is tried again, in ms. */
  readonly patienceMs?: number;
}

const COPY_BYTES = 64 * 1024 * 1024;
const PATIENCE_MS = 2_000;
const RETRY_MS = 15;

/**
 * Opens the database at `path`, calls `use`, closes it, in one synchronous step, and leaves no trace in its folder: no
 * byte, time or file changes. While another process writes, a step that can't be done now is tried again.
 * A process must not have the same file open otherwise meanwhile: closing any descriptor of it drops SQLite's locks.
 * @throws Failure not-found when there is none; unreadable, saying why, when it can't be read.
 */
export async function readDatabase<T>(
  path: string,
  options: SqliteOptions,
  use: (database: SqliteDatabase) => T,
): Promise<SqliteRead<T>> {
  const deadline = performance.now() + (options.patienceMs ?? PATIENCE_MS);
  for (;;) {
    try {
      const read = readOnce(path, options, use);
      if (read !== undefined) return read;
    } catch (error) {
      if (!isTransient(error) || performance.now() >= deadline) throw explained(error);
    }
    if (performance.now() >= deadline)
      throw new Failure("unreadable", "the database changes too fast to be read: try again");
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** One try; undefined when the files changed under a way of access that does not allow it. */
function readOnce<T>(
  path: string,
  options: SqliteOptions,
  use: (database: SqliteDatabase) => T,
): SqliteRead<T> | undefined {
  const folder = lookAt(path);
  const access = accessOf(folder, options.copyBytes ?? COPY_BYTES);
  const value =
    access === "copy" ? readCopy(path, "-wal", options.scratch, use) : readInPlace(path, access, folder, options, use);
  if (value === undefined) return undefined;
  const guarded = (access === "shared" || access === "rollback") && !value.copied;
  if (!guarded && !isUnchanged(path, folder)) return undefined;
  return {
    value: value.value,
    stale: access === "stale" || value.stale,
    uses: folder.wal === undefined ? [folder.main] : [folder.main, folder.wal],
  };
}

/** What one way of access gave; a copy is worth something only when the files did not change under it. */
interface InStep<T> {
  readonly value: T;
  readonly stale: boolean;
  readonly copied: boolean;
}

/** Reads in place; a rollback journal that a dead writer left can be rolled back in a copy alone, else the rest is stale. */
function readInPlace<T>(
  path: string,
  access: Exclude<Access, "copy">,
  folder: DatabaseFolder,
  options: SqliteOptions,
  use: (database: SqliteDatabase) => T,
): InStep<T> | undefined {
  try {
    return { value: withDatabase(databaseName(path, access), use), stale: false, copied: false };
  } catch (error) {
    const abandoned = access === "rollback" && (folder.journal?.size ?? 0) > 0 && primaryCode(error) === READONLY;
    if (!abandoned) throw error;
    const bytes = folder.main.size + (folder.journal?.size ?? 0);
    if (bytes <= (options.copyBytes ?? COPY_BYTES)) return readCopy(path, "-journal", options.scratch, use);
    return { value: withDatabase(databaseName(path, "stale"), use), stale: true, copied: false };
  }
}

/**
 * Reads a private copy of the database with one of the files beside it, where SQLite may put right what that says. Undefined when
 * one of them is gone meanwhile, as when a writer closes the database.
 */
function readCopy<T>(
  path: string,
  beside: "-wal" | "-journal",
  scratch: string,
  use: (database: SqliteDatabase) => T,
): InStep<T> | undefined {
  makePrivateFolder(scratch);
  const folder = mkdtempSync(join(scratch, "copy-"));
  try {
    const copy = join(folder, "copy.db");
    if (!copied(path, copy) || !copied(`${path}${beside}`, `${copy}${beside}`)) return undefined;
    return { value: withDatabase(copy, use), stale: false, copied: true };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies a file, if it is there. @throws the system's error otherwise */
function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return false;
  }
}

function withDatabase<T>(name: string, use: (database: SqliteDatabase) => T): T {
  const { DatabaseSync } = sqlite();
  const connection = new DatabaseSync(name, { readOnly: name.startsWith("file:"), allowExtension: false });
  try {
    // One transaction, so that all queries of the step see the same state, and locks are taken once.
    connection.exec("PRAGMA query_only = 1; BEGIN");
    return use(openRows(connection));
  } finally {
    connection.close();
  }
}

function isUnchanged(path: string, { main, wal }: DatabaseFolder): boolean {
  const pairs = [
    [main, stampOf(path)],
    [wal, stampOf(`${path}-wal`)],
  ] as const;
  return pairs.every(([a, b]) => (a === undefined || b === undefined ? a === b : sameStamp(a, b)));
}

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const SQL_ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const PROTOCOL = 15;
const NOT_A_DATABASE = 26;

/** What passes when a writer is done: locks, and reads that a checkpoint or a change of files got in the way of. */
const TRANSIENT: readonly (number | undefined)[] = [BUSY, LOCKED, READONLY, IO_ERROR, CORRUPT, CANNOT_OPEN, PROTOCOL];

function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(primaryCode(error));
}

function primaryCode(error: unknown): number | undefined {
  const code = asNumber(asObject(error)?.errcode);
  return code === undefined ? undefined : code & 0xff;
}

function explained(error: unknown): unknown {
  switch (primaryCode(error)) {
    case undefined:
    case SQL_ERROR:
      return error;
    case BUSY:
    case LOCKED:
      return new Failure("unreadable", "the database is locked by another program: try again", error);
    case CORRUPT:
    case NOT_A_DATABASE:
      return new Failure("unreadable", "the database is damaged", error);
    case CANNOT_OPEN:
    case READONLY:
      return new Failure("unreadable", "the database can't be opened without changing its folder", error);
    default:
      return new Failure("unreadable", "the database can't be read", error);
  }
}
