import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./failure.ts";

/** Only its owner may look into a folder of ours. */
const FOLDER_MODE = 0o700;

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
