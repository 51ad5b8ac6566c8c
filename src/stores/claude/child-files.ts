import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, isWithin, sameStamp, stampOf } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { isHelper } from "./child-facts.ts";
import { type ClaudePlace, sideFoldersOf } from "./place.ts";
import type { Trouble } from "./trouble.ts";

/** A subagent's transcript. */
export interface ChildFile {
  readonly id: SessionId;
  readonly file: string;
  /** `agent-<id>.meta.json` beside it; it may not exist. */
  readonly meta: string;
  /** Beside the sessions (2.1.1 and older): only its records tell whose it is. */
  readonly shared: boolean;
  /** The Workflow run whose folder it is in. */
  readonly run?: string;
}

/** The files that may be a session's subagents, and the folders that say so. */
export interface ChildFiles {
  readonly files: readonly ChildFile[];
  readonly folders: readonly FileStamp[];
}

const TRANSCRIPT = /^agent-(.+)\.jsonl$/;

/** How deep below `subagents/` is looked (Workflow runs lie two deep), and how many entries in all. */
const DEPTH = 6;
const MOST_FILES = 10_000;
const FOLDERS = 512;

interface Folder {
  readonly stamp: FileStamp;
  readonly files: ReadonlyMap<SessionId, ChildFile>;
  readonly folders: readonly string[];
}

/** What is found on the way through a session's folders: the files of each, how many in all, and the folders. */
interface Found {
  readonly lists: ReadonlyMap<SessionId, ChildFile>[];
  files: number;
  readonly stamps: FileStamp[];
}

/** Lists subagents' files; a folder is read again only when it has changed. */
export class ChildFinder {
  readonly #folders = new Recent<string, Folder>(FOLDERS);
  readonly #trouble: Trouble;

  constructor(trouble: Trouble) {
    this.#trouble = trouble;
  }

  /** The subagents' files of the session at `place`: in its own folders, and beside it those of any session. */
  list(place: ClaudePlace): ChildFiles {
    const found = this.#look(place);
    return { files: found.lists.flatMap((list) => [...list.values()]), folders: found.stamps };
  }

  /** Those of them that may be the subagent `id`, in the same order. */
  named(place: ClaudePlace, id: SessionId): ChildFile[] {
    return this.#look(place).lists.flatMap((list) => list.get(id) ?? []);
  }

  #look(place: ClaudePlace): Found {
    const found: Found = { lists: [], files: 0, stamps: [] };
    const beside = this.#folder(dirname(place.mainFile), true);
    if (beside !== undefined) add(found, beside);
    // The one beside the transcript comes last: of two files with one id it is asked for the later.
    for (const sideFolder of [...sideFoldersOf(place)].reverse()) {
      const side = stampOf(sideFolder);
      if (side !== undefined) found.stamps.push(side);
      const own = realPath(sideFolder);
      // A folder that is a link to another place is not this session's own.
      if (own !== undefined && own === realOwnFolder(sideFolder) && isWithin(place.root, own)) {
        this.#walk(join(sideFolder, "subagents"), join(own, "subagents"), DEPTH, found);
      }
    }
    return found;
  }

  #walk(path: string, real: string, depth: number, found: Found): void {
    if (depth === 0 || found.files > MOST_FILES || realPath(path) !== real) return;
    const folder = this.#folder(path, false);
    if (folder === undefined) return;
    add(found, folder);
    for (const name of folder.folders) this.#walk(join(path, name), join(real, name), depth - 1, found);
  }

  #folder(path: string, shared: boolean): Folder | undefined {
    const stamp = stampOf(path);
    if (stamp === undefined) return undefined;
    const known = this.#folders.get(path);
    if (known !== undefined && sameStamp(known.stamp, stamp)) return known;
    const entries = this.#entriesOf(path);
    const folder: Folder = {
      stamp,
      files: new Map(entries.flatMap((entry) => childFile(path, entry, shared) ?? []).map((file) => [file.id, file])),
      folders: shared ? [] : entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    };
    this.#folders.set(path, folder);
    return folder;
  }

  #entriesOf(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      const gone = ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
      if (!gone) this.#trouble.note("a folder of subagents can't be read", path);
      return [];
    }
  }
}

function add(found: Found, { files, stamp }: Folder): void {
  found.lists.push(files);
  found.files += files.size;
  found.stamps.push(stamp);
}

function childFile(path: string, entry: Dirent, shared: boolean): ChildFile | undefined {
  const id = entry.isFile() ? sessionIdOf(TRANSCRIPT.exec(entry.name)?.[1]) : undefined;
  if (id === undefined || isHelper(id)) return undefined;
  const run = basename(dirname(path)) === "workflows" ? basename(path) : undefined;
  return {
    id,
    file: join(path, entry.name),
    meta: join(path, `agent-${id}.meta.json`),
    shared,
    ...(run !== undefined && { run }),
  };
}

function realOwnFolder(sideFolder: string): string | undefined {
  const project = realPath(dirname(sideFolder));
  return project && join(project, basename(sideFolder));
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
