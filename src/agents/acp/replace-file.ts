import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, lstat, open, readlink, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../platform/failure.ts";
import { isWithin } from "../../platform/files.ts";
import { CODES, outside, Refusal } from "./refusal.ts";

/**
 * Writes the file at the real path `path`, whole: who reads it finds the old one or the new one. Its folder must lie in
 * `realRoot` and is held open while that is checked and used, so that a swap in between gains nothing. An existing file
 * keeps its mode and owner.
 * @throws Refusal: it leads out, or is no regular file · the system's error
 */
export async function replaceWithin(realRoot: string, path: string, content: string): Promise<void> {
  const folder = dirname(path);
  const held =
    process.platform === "linux" ? await open(folder, constants.O_RDONLY | constants.O_DIRECTORY) : undefined;
  try {
    // On Linux a way through the open folder, which nobody can turn elsewhere; else its path, asked as late as possible.
    const way = held === undefined ? undefined : `/proc/self/fd/${held.fd}`;
    const real = way === undefined ? await realpath(folder) : await readlink(way);
    if (!isWithin(realRoot, real)) throw outside();
    await replace(way ?? real, basename(path), content);
  } finally {
    await held?.close();
  }
}

async function replace(folder: string, name: string, content: string): Promise<void> {
  const target = join(folder, name);
  const existing = await existingFile(target);
  // A file that nobody may write would be replaced all the same: that takes a right on its folder alone.
  if (existing !== undefined) await access(target, constants.W_OK);
  const temporary = join(folder, `.agent-bridge-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeNew(temporary, content, existing);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function existingFile(target: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(target);
    if (stats.isFile()) return stats;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  throw new Refusal(CODES.invalidParams, "This is no regular file");
}

async function writeNew(path: string, content: string, like: Stats | undefined): Promise<void> {
  const file = await open(path, "wx", 0o666);
  try {
    await file.writeFile(content);
    if (like !== undefined) await takeAfter(file, like);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function takeAfter(file: FileHandle, like: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== like.uid || own.gid !== like.gid) {
    // Only root gives files away; anyone else keeps what he made.
    await file.chown(like.uid, like.gid).catch((error) => {
      if (errorCode(error) !== "EPERM") throw error;
    });
  }
  await file.chmod(like.mode & 0o7777);
}
