import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode, Failure } from "./failure.ts";

/** Only its owner may look into a folder of ours. */
const FOLDER_MODE = 0o700;

/** Whether others than its owner may look into our own folder. `closed`: they could until just now. */
export type HomePrivacy = "private" | "closed" | "open";

/** Whether others may look into `home`; also private when it is not there, or no folder. */
export function homePrivacy(home: string): HomePrivacy {
  const stats = process.platform === "win32" ? undefined : statOf(home);
  return stats?.isDirectory() && (stats.mode & 0o077) !== 0 ? "open" : "private";
}

/**
 * Closes our own folder to others, when it is where it lies unless something else is said (`isUsual`), is a folder and no
 * link, and belongs to this user. A folder that was named may be meant for more than us (`/tmp`, somebody's home), so it
 * is left as it is.
 */
export function closeHome(home: string, isUsual: boolean): HomePrivacy {
  if (homePrivacy(home) === "private") return "private";
  const stats = lstatSync(home, { throwIfNoEntry: false });
  if (!isUsual || !stats?.isDirectory() || stats.uid !== process.getuid?.()) return "open";
  try {
    chmodSync(home, FOLDER_MODE);
    return "closed";
  } catch {
    return "open";
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** What `error` means when our own folder `home` is none or lies below a file; undefined when it is another error. */
export function notAFolder(home: string, error: unknown): Failure | undefined {
  if (errorCode(error) !== "ENOTDIR" && errorCode(error) !== "EEXIST") return undefined;
  return new Failure(
    "failed",
    `${home} is a file, or lies below one: give a folder with --home or AGENT_BRIDGE_HOME`,
    error,
  );
}

/**
 * Makes the folder at `path`, and those above it that are missing, for us alone; one that is there stays as it is. One
 * step at a time, since Node's own way of making all of them never returns where a file system makes none (`/proc`).
 * @throws the system's error, also when something that is no folder stands in the way
 */
export function makePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = dirname(path);
  if (above !== path) makePrivateFolder(above);
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (errorCode(error) !== "EEXIST" || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
