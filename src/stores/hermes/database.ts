import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { readDatabase } from "../../sqlite/read.ts";

/** What was read of a database, and of which state of its files. */
export interface HermesRead<T> {
  readonly value: T;
  /** Its newest rows may be missing. */
  readonly stale: boolean;
  readonly uses: readonly FileStamp[];
}

/** Reads the database at `path` in one step that leaves no trace. @throws Failure as `readDatabase` does */
export async function readHermes<T>(path: string, use: (database: SqliteDatabase) => T): Promise<HermesRead<T>> {
  const { value, stale, uses } = await readDatabase(path, { scratch: tmpdir() }, use);
  // While there is no log, the next write makes one: only its folder tells.
  const folder = uses.length > 1 ? undefined : stampOf(dirname(path));
  return { value, stale, uses: folder === undefined ? uses : [...uses, folder] };
}

/** Whether the files of a database are as they were. */
export function isUnchanged(uses: readonly FileStamp[]): boolean {
  return uses.every((stamp) => {
    const now = stampOf(stamp.path);
    return now !== undefined && sameStamp(stamp, now);
  });
}
