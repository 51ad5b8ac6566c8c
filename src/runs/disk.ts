import { lstat, opendir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Breather } from "../platform/breather.ts";
import { errorCode } from "../platform/failure.ts";
import { type FileStamp, isWithin, type OpenFile, stampOf, withFile } from "../platform/files.ts";

/** The names in a folder, as of one moment. */
export interface Listing {
  /** The folder's real path: nothing outside it is read. */
  readonly root: string;
  /** Regular files, and links to such inside the folder. */
  readonly files: readonly string[];
  /** Everything else. */
  readonly others: readonly NoFile[];
}

/** Something in a folder that is no file to be read. */
export interface NoFile {
  readonly name: string;
  readonly what: "folder" | "pipe, socket or device" | "link that leads nowhere" | "link that leads out of its folder";
}

/** The way to our own folder's files; a test puts its own there to count the work. */
export interface RunDisk {
  /** Undefined when there is no such folder. @throws the system's error when it can't be listed. */
  list(folder: string, breather: Breather): Promise<Listing | undefined>;
  stamp(path: string): FileStamp | undefined;
  /** As `withFile`. */
  open<T>(root: string, path: string, use: (file: OpenFile) => T): Promise<T>;
}

/** The machine's disk. */
export const systemDisk: RunDisk = { list: listFolder, stamp: stampOf, open: withFile };

/** Names that are asked of the system at once. */
const NAMES_AT_ONCE = 256;

async function listFolder(folder: string, breather: Breather): Promise<Listing | undefined> {
  try {
    const root = await realpath(folder);
    const files: string[] = [];
    const others: NoFile[] = [];
    for await (const entry of await opendir(root, { bufferSize: NAMES_AT_ONCE })) {
      const what = entry.isFile() ? "file" : entry.isDirectory() ? "folder" : await kindOf(root, entry.name);
      if (what === "file") files.push(entry.name);
      else others.push({ name: entry.name, what });
      if (breather.isDue) await breather.pause();
    }
    return { root, files, others };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** What a link, or something whose kind the list does not tell, is in the end. */
async function kindOf(root: string, name: string): Promise<"file" | NoFile["what"]> {
  try {
    const real = await realpath(join(root, name));
    if (!isWithin(root, real)) return "link that leads out of its folder";
    const stats = await lstat(real);
    if (stats.isFile()) return "file";
    return stats.isDirectory() ? "folder" : "pipe, socket or device";
  } catch {
    return "link that leads nowhere";
  }
}
