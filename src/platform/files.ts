import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import { errorCode, Failure } from "./failure.ts";

/** What identifies a file and its state; two equal stamps mean nothing was written in between. */
export interface FileStamp {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
  /** Bytes. */
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** An open regular file: its stamp at opening, and its bytes. */
export interface OpenFile {
  readonly stamp: FileStamp;
  readonly size: number;
  /** Copies bytes from `position` on into `target`; how many, which is fewer only at the end of the file. */
  read(target: Uint8Array, position: number): number;
}

/** The stamp of the file or folder at `path` (links followed), or undefined when there is none or it can't be asked. */
export function stampOf(path: string): FileStamp | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && stampFrom(path, stats);
  } catch {
    return undefined;
  }
}

/** Whether two stamps say the same state of the same file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino && a.dev === b.dev;
}

/**
 * Opens the regular file at `path`, calls `use`, closes it. What was opened must lie in `realRoot` (a real path):
 * it is opened first and checked then, so swapping it for a link in between gains nothing. Pipes and devices never block.
 * @throws Failure not-found when it is missing, unreadable, no regular file, or outside the root.
 */
export async function withFile<T>(realRoot: string, path: string, use: (file: OpenFile) => T | Promise<T>): Promise<T> {
  const descriptor = open(path);
  try {
    return await use(contained(realRoot, path, descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the real path `path` is `root` or lies below it. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    throw notReadable(error);
  }
}

function contained(realRoot: string, path: string, descriptor: number): OpenFile {
  const stats = fstatSync(descriptor, { bigint: true });
  if (!stats.isFile()) throw notReadable();
  const real = realPathOf(path);
  if (real === undefined || !isWithin(realRoot, real)) throw notReadable();
  const there = statSync(real, { bigint: true, throwIfNoEntry: false });
  if (there === undefined || there.ino !== stats.ino || there.dev !== stats.dev) throw notReadable();
  const stamp = stampFrom(path, stats);
  return { stamp, size: stamp.size, read: (target, position) => readFully(descriptor, target, position) };
}

function readFully(descriptor: number, target: Uint8Array, position: number): number {
  let done = 0;
  while (done < target.length) {
    const count = readSync(descriptor, target, done, target.length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function stampFrom(path: string, stats: BigIntStats): FileStamp {
  const { dev, ino, size, mtimeNs } = stats;
  // Whenever root opens a database, SQLite sets the owner of its log anew: that moves the ctime and changes nothing.
  const ctimeNs = path.endsWith("-wal") ? 0n : stats.ctimeNs;
  return { path, dev, ino, size: Number(size), mtimeNs, ctimeNs };
}

function notReadable(cause?: unknown): Failure {
  const reason =
    errorCode(cause) === "EACCES" ? "the transcript can't be read: permission denied" : "no such transcript";
  return new Failure("not-found", reason, cause);
}
