import { closeSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { sqlite } from "./builtins.ts";
import { errorCode, Failure } from "./failure.ts";
import { NotAFile } from "./private-file.ts";
import { makePrivateFolder, notAFolder } from "./private-folder.ts";

/** How long to wait for the lock, and how often to try: ms. */
export interface LockWait {
  readonly waitMs?: number;
  readonly tryEveryMs?: number;
}

/**
 * Calls `use` while nobody else, in this process or another, holds the lock of our home `bridgeHome`. The lock is an
 * exclusive transaction on `lock.db`, so the system frees it at once when its holder dies. `use` must not ask for it again,
 * and nothing else may open the file: closing any descriptor of it would free the lock.
 * @throws Failure failed: held by another for longer than the wait (5 s), or the home can't be written.
 */
export async function withLock<T>(bridgeHome: string, use: () => T | Promise<T>, wait: LockWait = {}): Promise<T> {
  const database = open(bridgeHome);
  try {
    await begin(database, wait);
    return await use();
  } finally {
    // Ends the transaction too.
    database.close();
  }
}

type Database = InstanceType<ReturnType<typeof sqlite>["DatabaseSync"]>;

function open(bridgeHome: string): Database {
  const path = join(bridgeHome, "lock.db");
  try {
    makePrivateFolder(bridgeHome);
    create(path);
    const stats = statSync(path);
    if (!stats.isFile()) throw new NotAFile(path, stats.isDirectory());
    return new (sqlite().DatabaseSync)(path);
  } catch (error) {
    throw notAFolder(bridgeHome, error) ?? notWritable(error);
  }
}

/** Makes the file, for us alone. One that is there is not opened: that could free the lock of another part of this process. */
function create(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

async function begin(database: Database, { waitMs = 5_000, tryEveryMs = 20 }: LockWait): Promise<void> {
  for (let left = Math.ceil(waitMs / tryEveryMs); ; left--) {
    try {
      // Nothing is ever written, so no journal need lie beside it.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      return;
    } catch (error) {
      if (!isBusy(error)) throw notWritable(error);
      if (left <= 0) throw new Failure("failed", "another agent-bridge is writing; try again in a moment", error);
    }
    // Who always came at the same time after others would always come too late.
    await pause(tryEveryMs * (0.5 + Math.random()));
  }
}

const SQLITE_BUSY = 5;

/** The lower byte of an error is its kind, the rest says more of it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  return (error.errcode & 0xff) === SQLITE_BUSY;
}

function notWritable(cause: unknown): Failure {
  if (cause instanceof Failure) return cause;
  return new Failure("failed", "agent-bridge's own folder can't be written: see --home and AGENT_BRIDGE_HOME", cause);
}
