import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode, Failure } from "./failure.ts";
import { makePrivateFolder } from "./private-folder.ts";

const FILE_MODE = 0o600;

/** A small file of our own, read whole. */
export interface PrivateFile {
  readonly bytes: Buffer;
  /** The file can be read or written by others than its owner. */
  readonly tooOpen: boolean;
}

/** Something that is no regular file stands where a file of ours belongs. */
export class NotAFile extends Failure {
  constructor(path: string, isFolder: boolean, cause?: unknown) {
    const what = isFolder ? "a folder" : "a pipe, a device or the like, and no file";
    super("failed", `${basename(path)} is ${what}: move it away`, cause);
  }
}

/** That the file `name` of our own folder can't be read or written; for who runs the program, so its folder is named. */
export function notWritable(name: string, folder: string, error: unknown): Failure {
  if (error instanceof Failure) return error;
  const advice = "see to its permissions and the space on its disk";
  return new Failure(
    "failed",
    `${name} in ${folder} can't be used (${errorCode(error) ?? "unknown error"}): ${advice}`,
    error,
  );
}

/**
 * Writes `data` to `path` so that a reader finds the old file or the new one, whole, also after a crash. Makes missing
 * folders (0700); the file is 0600.
 * @throws NotAFile: a folder stands there · the system's error; the old file is then still there
 */
export async function writePrivate(path: string, data: string | Uint8Array): Promise<void> {
  const temporary = await writeBeside(path, data);
  try {
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw FOLDER_IN_THE_WAY.has(errorCode(error) ?? "") ? new NotAFile(path, true, error) : error;
  }
  await syncFolder(dirname(path));
}

/** What systems say to a file that is to take a folder's place. */
const FOLDER_IN_THE_WAY = new Set(["EISDIR", "ENOTEMPTY"]);

/**
 * Writes `data` to `path` if nothing is there yet; whether it did. Of several that try at once, one does, and the others
 * find its file whole.
 * @throws the system's error
 */
export async function createPrivate(path: string, data: string | Uint8Array): Promise<boolean> {
  const temporary = await writeBeside(path, data);
  try {
    await link(temporary, path);
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    if (!NO_LINKS.has(errorCode(error) ?? "")) throw error;
    return await createInPlace(path, data);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

/**
 * The file at `path`, or undefined when there is none.
 * @throws Failure failed: it is over `limit` bytes · NotAFile · the system's error
 */
export function readPrivate(path: string, limit: number): PrivateFile | undefined {
  const descriptor = openIfThere(path);
  if (descriptor === undefined) return undefined;
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new NotAFile(path, stats.isDirectory());
    const buffer = Buffer.alloc(limit + 1);
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = readSync(descriptor, buffer, length, buffer.length - length, length);
    }
    if (length > limit) throw new Failure("failed", `${basename(path)} is over ${limit} bytes`);
    const tooOpen = process.platform !== "win32" && (stats.mode & 0o077) !== 0;
    return { bytes: buffer.subarray(0, length), tooOpen };
  } finally {
    closeSync(descriptor);
  }
}

/** What file systems without hard links (FAT, some network and phone ones) answer. */
export const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function writeBeside(path: string, data: string | Uint8Array): Promise<string> {
  makePrivateFolder(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeNew(temporary, data);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return temporary;
}

async function createInPlace(path: string, data: string | Uint8Array): Promise<boolean> {
  try {
    await writeNew(path, data);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

async function writeNew(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx", FILE_MODE);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in `folder` last as they are now; not every system lets a folder be synced. @throws the system's error */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "EPERM", "EBADF"].includes(errorCode(error) ?? "")) throw error;
  } finally {
    await handle.close();
  }
}

function openIfThere(path: string): number | undefined {
  try {
    // Without O_NONBLOCK a pipe of that name would hold up the whole program.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
