import { stampOf } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { EntryPage } from "../store.ts";
import type { OpenCodePlace } from "./place.ts";

/** Ends of pages that are remembered. */
const MOST_ENDS = 4096;

/**
 * Of which file the pages were that ended at a cursor: a cursor says nothing of that, and in a database that took the place
 * of another (a restored copy) rows may differ without having been updated since. After a restart that is not known.
 */
export class PageEnds {
  readonly #inodes = new Recent<string, bigint>(MOST_ENDS);

  /** Whether the cursor `from` was given for another file than the one that is there now. */
  isOther(place: OpenCodePlace, from: Cursor): boolean {
    if (place.kind === "files") return false;
    const given = this.#inodes.get(keyOf(place, from));
    if (given === undefined) return false;
    const inode = stampOf(place.database.path)?.ino;
    return inode !== undefined && inode !== given;
  }

  /** Remembers where a page ended. */
  note(place: OpenCodePlace, { next, uses }: Pick<EntryPage, "next" | "uses">): void {
    if (place.kind === "files") return;
    const main = uses.find(({ path }) => path === place.database.path);
    if (main !== undefined) this.#inodes.set(keyOf(place, next), main.ino);
  }
}

function keyOf({ session }: OpenCodePlace, cursor: Cursor): string {
  return `${session}\0${cursor}`;
}
