import { closeSync, openSync, readSync } from "node:fs";
import { errorCode, Failure } from "../platform/failure.ts";
import { type FileStamp, stampOf } from "../platform/files.ts";

/** What a database and the files beside it are like just now. Stamps are absent where the file is. */
export interface DatabaseFolder {
  readonly main: FileStamp;
  readonly wal: FileStamp | undefined;
  readonly shm: FileStamp | undefined;
  readonly journal: FileStamp | undefined;
  /** The file format's write version: 1 a rollback journal, 2 a write-ahead log. */
  readonly writeVersion: 1 | 2;
}

/** How a database is opened so that nothing in its folder changes (tried on Node 22.15 to 26, SQLite 3.49 to 3.53). */
export type Access =
  /** Read-only, with the locks of a rollback journal. */
  | "rollback"
  /** Read-only, with the wal-index that the writers share, which we only map for reading. */
  | "shared"
  /** As a file that nobody changes: right as long as its stamps are the same afterwards. */
  | "immutable"
  /** A private copy, since the log can't be read in place without making a wal-index. */
  | "copy"
  /** As `immutable`, with what stands only in the log missing. */
  | "stale";

const MAGIC = "SQLite format 3\0";
const WRITE_VERSION_AT = 18;

/**
 * Looks at a database's files without opening it as a database.
 * @throws Failure not-found when there is none, unreadable when it can't be read or is none.
 */
export function lookAt(path: string): DatabaseFolder {
  const header = headerOf(path);
  const main = stampOf(path);
  if (main === undefined) throw missing();
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw new Failure("unreadable", "not a SQLite database");
  return {
    main,
    wal: stampOf(`${path}-wal`),
    shm: stampOf(`${path}-shm`),
    journal: stampOf(`${path}-journal`),
    writeVersion: header[WRITE_VERSION_AT] === 2 ? 2 : 1,
  };
}

/** How to open it; a copy is made of at most `copyBytes` bytes. */
export function accessOf(folder: DatabaseFolder, copyBytes: number): Access {
  const logged = folder.wal?.size ?? 0;
  if (folder.writeVersion === 1) return "rollback";
  if (logged > 0 && folder.shm !== undefined) return "shared";
  if (logged === 0) return "immutable";
  return folder.main.size + logged <= copyBytes ? "copy" : "stale";
}

/** The name that SQLite opens for a way of access; characters that mean something in a URI are escaped. */
export function databaseName(path: string, access: Exclude<Access, "copy">): string {
  const escaped = path.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
  const file = `file:${escaped.startsWith("/") ? "" : "/"}${escaped}`;
  if (access === "rollback") return `${file}?mode=ro`;
  return access === "shared" ? `${file}?mode=ro&readonly_shm=1` : `${file}?immutable=1`;
}

function headerOf(path: string): Buffer {
  const header = Buffer.alloc(WRITE_VERSION_AT + 2);
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") throw missing(error);
    throw new Failure("unreadable", "the database can't be read: permission denied", error);
  }
  try {
    readSync(descriptor, header, 0, header.length, 0);
    return header;
  } catch (error) {
    const isFolder = errorCode(error) === "EISDIR";
    throw new Failure("unreadable", isFolder ? "a folder, and no database" : "the database can't be read", error);
  } finally {
    closeSync(descriptor);
  }
}

function missing(cause?: unknown): Failure {
  return new Failure("not-found", "there is no such database", cause);
}
