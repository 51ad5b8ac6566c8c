import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { sep } from "node:path";
import { type EpochMs, epochMsOf } from "./clock.ts";
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
  /** When it was made, where the file system knows that (Node takes its last change elsewhere): ms since the epoch. */
  readonly bornAt: EpochMs;
  /** Copies bytes from `position` on into `target`; how many, which is fewer only at `size` (or where it was cut since). */
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

/** When the file at `path` was written last: ms, to be compared alone; 0 when that can't be told. For thousands at once. */
export function writtenAt(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

/** Whether two stamps say the same state of the same file. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs && a.ino === b.ino && a.dev === b.dev;
}

/** Where an open file lies: its real path, or undefined when `path` has come to mean another file since. */
export type Whereabouts = (descriptor: number, path: string) => string | undefined;

/**
 * Opens the regular file at `path`, calls `use`, closes it. What was opened must lie in `realRoot` (a real path):
 * it is opened first and checked then, so swapping it for a link in between gains nothing. Pipes and devices never block.
 * `use` sees the file as long as it was at opening.
 * @throws Failure not-found when it is missing, unreadable, no regular file, or outside the root; failed when the
 * process has too many files open.
 */
export async function withFile<T>(
  realRoot: string,
  path: string,
  use: (file: OpenFile) => T | Promise<T>,
  whereabouts: Whereabouts = placeOfDescriptor,
): Promise<T> {
  const { descriptor, stats } = openWithin(realRoot, path, whereabouts);
  try {
    return await use(openFile(path, descriptor, stats));
  } finally {
    closeSync(descriptor);
  }
}

/** As `withFile`, in one synchronous step. @throws as `withFile` */
export function withFileNow<T>(realRoot: string, path: string, use: (file: OpenFile) => T): T {
  const { descriptor, stats } = openWithin(realRoot, path, placeOfDescriptor);
  try {
    return use(openFile(path, descriptor, stats));
  } finally {
    closeSync(descriptor);
  }
}

function openFile(path: string, descriptor: number, stats: BigIntStats): OpenFile {
  const stamp = stampFrom(path, stats);
  const { size } = stamp;
  const read = (target: Uint8Array, position: number): number => readFully(descriptor, target, position, size);
  return { stamp, size, bornAt: bornAt(stats), read };
}

/** Where an open file lies, as Linux tells it by its descriptor: no swap can deceive it. Elsewhere by its path. */
function placeOfDescriptor(descriptor: number, path: string): string | undefined {
  if (process.platform !== "linux") return placeByPath(descriptor, path);
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return placeByPath(descriptor, path);
  }
}

/** Where an open file lies, by asking where its path leads to now and whether that is the same file. */
export function placeByPath(descriptor: number, path: string): string | undefined {
  try {
    const real = realpathSync.native(path);
    const there = lstatSync(real, { bigint: true });
    const opened = fstatSync(descriptor, { bigint: true });
    return there.ino === opened.ino && there.dev === opened.dev ? real : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the real path `path` is `root` or lies below it. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A file that is replaced again and again between opening and checking is given up after so many tries. */
const OPEN_TRIES = 3;

function openWithin(
  realRoot: string,
  path: string,
  whereabouts: Whereabouts,
): { readonly descriptor: number; readonly stats: BigIntStats } {
  for (let tries = 1; ; tries++) {
    const descriptor = open(path);
    const stats = fstatSync(descriptor, { bigint: true });
    const place = stats.isFile() ? whereabouts(descriptor, path) : "";
    if (place !== undefined && place !== "" && isWithin(realRoot, place)) return { descriptor, stats };
    closeSync(descriptor);
    if (place !== undefined || tries === OPEN_TRIES) throw notReadable();
  }
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (error) {
    throw notReadable(error);
  }
}

function bornAt({ birthtimeMs, mtimeMs }: BigIntStats): EpochMs {
  return epochMsOf(Number(birthtimeMs > 0n ? birthtimeMs : mtimeMs)) ?? (0 as EpochMs);
}

function readFully(descriptor: number, target: Uint8Array, position: number, size: number): number {
  const wanted = Math.min(target.length, size - position);
  let done = 0;
  while (done < wanted) {
    const count = readSync(descriptor, target, done, wanted - done, position + done);
    if (count === 0) break;
    done += count;
  }
  return done;
}

/** The stamp that `stats` (of `path`) make. */
export function stampFrom(path: string, stats: BigIntStats): FileStamp {
  const { dev, ino, size, mtimeNs } = stats;
  // Whenever root opens a database, SQLite sets the owner of its log anew: that moves the ctime and changes nothing.
  const ctimeNs = path.endsWith("-wal") ? 0n : stats.ctimeNs;
  return { path, dev, ino, size: Number(size), mtimeNs, ctimeNs };
}

function notReadable(cause?: unknown): Failure {
  switch (errorCode(cause)) {
    case "EMFILE":
    case "ENFILE":
      return new Failure("failed", "too many files are open; try again in a moment", cause);
    case "EACCES":
    case "EPERM":
      return new Failure("not-found", "the transcript can't be read: permission denied", cause);
    default:
      return new Failure("not-found", "no such transcript", cause);
  }
}
