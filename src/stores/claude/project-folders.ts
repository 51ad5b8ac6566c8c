import { readdir } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, sameStamp, stampFrom } from "../../platform/files.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { stateOf, targetInside } from "./path-state.ts";
import type { ListingWork, SessionReading, SkipReason } from "./session-file.ts";

/** Something in the store that is not listed, and why. */
export interface LeftOut {
  readonly path: string;
  readonly reason: SkipReason | "a folder that could not be read" | "an older copy of a session in another folder";
}

/** A transcript in a project folder, and what is known of it. */
export interface FileEntry {
  readonly id: SessionId;
  readonly path: string;
  /** Its folder said that it is a regular file. */
  readonly regular: boolean;
  /** Its state when it was last read; undefined when it has to be read again in any case. */
  stamp: FileStamp | undefined;
  /** What that read gave; undefined before the first. */
  reading: SessionReading | undefined;
}

/** A project folder that lies in the store. */
export interface ProjectFolder {
  /** The real path of its `projects` folder. */
  readonly root: string;
  /** Its own real path. */
  readonly path: string;
  /** Its state when its names were read; undefined when they have to be read again in any case. */
  stamp: FileStamp | undefined;
  /** Its transcripts by id. */
  files: Map<SessionId, FileEntry>;
  /** The sessions that have a side folder in it. */
  sides: ReadonlySet<SessionId>;
  /** Names in it that look like transcripts and are none. */
  leftOut: readonly LeftOut[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TRANSCRIPT = ".jsonl";

/** A folder that changed this shortly before its names were read may change again without a new time: ms. */
const FOLDER_TICK_MS = 100;

/** Whether `id` has the form of a Claude Code session's id; nothing else names a session (as in the official reader). */
export function isClaudeSession(id: string): boolean {
  return UUID.test(id);
}

/** The id of the session whose transcript is called `name`. */
export function sessionOfName(name: string): SessionId | undefined {
  const stem = name.endsWith(TRANSCRIPT) ? name.slice(0, -TRANSCRIPT.length) : "";
  return isClaudeSession(stem) ? sessionIdOf(stem) : undefined;
}

/** Reads which project folders there are and which transcripts are in them; again only where a folder changed. */
export class ProjectFolders {
  readonly #clock: Clock;
  readonly #work: ListingWork;
  #names = new Map<string, { readonly stamp: FileStamp; readonly names: readonly string[] }>();

  constructor(clock: Clock, work: ListingWork) {
    this.#clock = clock;
    this.#work = work;
  }

  /** The paths in `projects` (a real path) that may be project folders. */
  async pathsIn(projects: string, leftOut: LeftOut[]): Promise<readonly string[]> {
    const stamp = this.#stamp(projects);
    const held = this.#names.get(projects);
    if (held !== undefined && stamp !== undefined && sameStamp(held.stamp, stamp)) return held.names;
    this.#names.delete(projects);
    try {
      this.#work.folders++;
      const entries = await readdir(projects, { withFileTypes: true });
      const names = entries
        .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
        .map((entry) => join(projects, entry.name));
      if (this.#isSettled(stamp)) this.#names.set(projects, { stamp, names });
      return names;
    } catch (error) {
      leftOut.push(...unreadable(projects, error));
      return [];
    }
  }

  /** The real path of the project folder at `path`. A link is followed inside the store (`root`) alone. */
  realFolder(root: string, path: string, leftOut: LeftOut[]): string | undefined {
    const state = stateOf(path, this.#work);
    if (state === "gone") return undefined;
    if (state === "denied") leftOut.push({ path, reason: "a folder that could not be read" });
    else if (state.isDirectory()) return path;
    else if (state.isSymbolicLink()) {
      const target = targetInside(root, path);
      if (target === undefined) leftOut.push({ path, reason: "a link that leads out of the store" });
      return target;
    }
    return undefined;
  }

  /** Brings the names in `folder` up to date; what is known of files that are still there stays. */
  async refresh(folder: ProjectFolder): Promise<void> {
    const stamp = this.#stamp(folder.path);
    if (stamp !== undefined && folder.stamp !== undefined && sameStamp(folder.stamp, stamp)) return;
    const files = new Map<SessionId, FileEntry>();
    const sides = new Set<SessionId>();
    const others: LeftOut[] = [];
    try {
      this.#work.folders++;
      for (const entry of await readdir(folder.path, { withFileTypes: true })) {
        const { name } = entry;
        if (entry.isDirectory() && isClaudeSession(name)) sides.add(name as SessionId);
        if (!name.endsWith(TRANSCRIPT)) continue;
        const path = folder.path + sep + name;
        const id = sessionOfName(name);
        if (id !== undefined) {
          const regular = entry.isFile();
          files.set(id, folder.files.get(id) ?? { id, path, regular, stamp: undefined, reading: undefined });
        } else if (!name.startsWith("agent-")) others.push({ path, reason: "not named by a session id" });
      }
    } catch (error) {
      // Kept with the folder: it is not read again before it changes, and is left out until then.
      others.push(...unreadable(folder.path, error));
    }
    folder.files = files;
    folder.sides = sides;
    folder.leftOut = others;
    folder.stamp = this.#isSettled(stamp) ? stamp : undefined;
  }

  /** Whether a folder's time is old enough for the next change to get another. */
  #isSettled(stamp: FileStamp | undefined): stamp is FileStamp {
    return stamp !== undefined && this.#clock.now() - Number(stamp.mtimeNs / 1_000_000n) > FOLDER_TICK_MS;
  }

  #stamp(path: string): FileStamp | undefined {
    const state = stateOf(path, this.#work);
    return typeof state === "string" ? undefined : stampFrom(path, state);
  }
}

function unreadable(path: string, error: unknown): LeftOut[] {
  const gone = ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
  return gone ? [] : [{ path, reason: "a folder that could not be read" }];
}
