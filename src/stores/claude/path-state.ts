import { type BigIntStats, lstatSync, realpathSync } from "node:fs";
import { isWithin } from "../../platform/files.ts";
import type { ListingWork } from "./session-file.ts";

/** What stands at a path: its own state, nothing, or something that may not be asked. */
export type PathState = BigIntStats | "gone" | "denied";

/** The state of `path` itself; a link is not followed. */
export function stateOf(path: string, work: ListingWork): PathState {
  work.stats++;
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? "gone";
  } catch {
    return "denied";
  }
}

/** Whether a folder stands there, and no link to one. */
export function isFolder(state: PathState): boolean {
  return typeof state !== "string" && state.isDirectory();
}

/** Where the link at `path` leads, when that lies in `root` (a real path) and is not the root itself. */
export function targetInside(root: string, path: string): string | undefined {
  try {
    const target = realpathSync.native(path);
    return isWithin(root, target) && target !== root ? target : undefined;
  } catch {
    return undefined;
  }
}
