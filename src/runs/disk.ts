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
  /** Everything else but folders: links that lead out, pipes, devices. */
  readonly others: readonly string[];
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
    const others: string[] = [];
    for await (const entry of await opendir(root, { bufferSize: NAMES_AT_ONCE })) {
      if (entry.isFile()) files.push(entry.name);
      else if (!entry.isDirectory()) {
        if (await leadsToFile(root, entry.name)) files.push(entry.name);
        else others.push(entry.name);
      }
      if (breather.isDue) await breather.pause();
    }
    return { root, files, others };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether a link (or what the file system does not tell the kind of) is a regular file inside `root`. */
async function leadsToFile(root: string, name: string): Promise<boolean> {
  try {
    const real = await realpath(join(root, name));
    return isWithin(root, real) && (await lstat(real)).isFile();
  } catch {
    return false;
  }
}
