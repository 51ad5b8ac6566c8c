import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Breather } from "../../platform/breather.ts";
import type { Clock } from "../../platform/clock.ts";
import { errorCode } from "../../platform/failure.ts";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import { bySegmentAge, type RolloutName, rolloutNameOf } from "./rollout-name.ts";
import type { Work } from "./work.ts";

/** A rollout, where it lies. */
export interface RolloutFile extends RolloutName {
  readonly path: string;
  /** The real path of the folder (`sessions` or `archived_sessions`) that it must lie in. */
  readonly root: string;
  readonly archived: boolean;
  /** The Codex home it is part of; of equal copies the one in an earlier home is read. */
  readonly home: string;
  readonly homeRank: number;
}

/** A folder as it was listed. */
interface Folder {
  readonly stamp: FileStamp;
  /** Names of the folders in it that can hold rollouts, ascending. */
  readonly folders: readonly string[];
  readonly files: readonly RolloutFile[];
  /** What looks like a transcript there and is none, with why. */
  readonly foreign: readonly { readonly name: string; readonly reason: string }[];
}

/** A folder changed within this time of being listed may change again without another time stamp. */
const RACY_NS = 50_000_000n;
/** Live writers add files to the newest of these; older folders only change by hand. */
const NEWEST_FOLDERS = 3;

const A_LINK = "a link, which Codex does not follow either";
const NO_FILE = "named like a rollout and no regular file";
const NO_ROLLOUT = "not named or placed like a rollout";

/**
 * Every rollout of the given homes: which files there are, found by listing folders, never by opening a file. A folder
 * is listed again only when its stamp changed; links and folders that are no numbers are passed over, as Codex does.
 */
export class Catalog {
  readonly #homes: readonly string[];
  readonly #clock: Clock;
  readonly #work: Work;
  readonly #folders = new Map<string, Folder>();
  readonly #byThread = new Map<string, RolloutFile[]>();
  /** Those whose segment is not their thread's first. */
  readonly #bySegment = new Map<string, RolloutFile[]>();
  readonly #unreadable = new Map<string, string>();
  #swept = false;

  constructor(homes: readonly string[], clock: Clock, work: Work) {
    this.#homes = homes;
    this.#clock = clock;
    this.#work = work;
  }

  /** Looks again at every folder (`sweep`), or at the newest few of each home (`quick`; the first look is a sweep). */
  async refresh(effort: "quick" | "sweep"): Promise<void> {
    const quick = effort === "quick" && this.#swept;
    if (!quick) this.#unreadable.clear();
    const seen = new Set<string>();
    const breather = new Breather();
    for (const [homeRank, home] of this.#homes.entries()) {
      for (const [name, depth] of [
        ["sessions", 3],
        ["archived_sessions", 0],
      ] as const) {
        const path = join(home, name);
        const root = realPathOf(path);
        if (root === undefined) continue;
        const place = { home, homeRank, root, archived: depth === 0 };
        await this.#look(path, depth, place, quick ? NEWEST_FOLDERS : Number.MAX_SAFE_INTEGER, seen, breather);
      }
    }
    if (quick) return;
    for (const path of [...this.#folders.keys()]) if (!seen.has(path)) this.#put(path, undefined);
    this.#swept = true;
  }

  /** The files of a thread; empty when there is none. */
  ofThread(id: string): readonly RolloutFile[] {
    return this.#byThread.get(id) ?? [];
  }

  /** The files (copies) of a segment. */
  ofSegment(id: string): readonly RolloutFile[] {
    const own = this.#byThread.get(id)?.filter(({ segment }) => segment === id) ?? [];
    return [...own, ...(this.#bySegment.get(id) ?? [])];
  }

  /** Every thread with its files, in no order. */
  threads(): ReadonlyMap<string, readonly RolloutFile[]> {
    return this.#byThread;
  }

  /** The newest day folders of a home's `sessions`, newest first. */
  newestFolders(home: string, most: number = NEWEST_FOLDERS): string[] {
    const found: string[] = [];
    const walk = (path: string, depth: number): void => {
      const folder = this.#folders.get(path);
      if (folder === undefined || found.length >= most) return;
      if (depth === 0) found.push(path);
      else for (const name of [...folder.folders].reverse()) walk(join(path, name), depth - 1);
    };
    walk(join(home, "sessions"), 3);
    return found;
  }

  /** The rollouts in one folder. */
  filesIn(folder: string): readonly RolloutFile[] {
    return this.#folders.get(folder)?.files ?? [];
  }

  /** Whether a home has any of the folders that hold rollouts. */
  holds(home: string): boolean {
    return this.#folders.has(join(home, "sessions")) || this.#folders.has(join(home, "archived_sessions"));
  }

  /** The stamps that change when a new rollout is added: of the newest day folder of each home and what it lies in. */
  growthStamps(): FileStamp[] {
    return this.#homes.flatMap((home) => {
      const [day] = this.newestFolders(home, 1);
      const paths =
        day === undefined
          ? [join(home, "sessions")]
          : [day, join(day, ".."), join(day, "../.."), join(home, "sessions")];
      return paths.flatMap((path) => this.#folders.get(path)?.stamp ?? []);
    });
  }

  /** What was passed over, each with why: folders that could not be read, and what is no rollout. */
  problems(): { readonly reason: string; readonly example: string }[] {
    const foreign = [...this.#folders].flatMap(([path, folder]) =>
      folder.foreign.map(({ name, reason }) => ({ reason, example: join(path, name) })),
    );
    const unreadable = Array.from(this.#unreadable, ([path, code]) => ({
      reason: `folder can't be read: ${code}`,
      example: path,
    }));
    return [...unreadable, ...foreign];
  }

  async #look(
    path: string,
    depth: number,
    place: Pick<RolloutFile, "home" | "homeRank" | "root" | "archived">,
    most: number,
    seen: Set<string>,
    breather: Breather,
  ): Promise<number> {
    await breather.pause();
    seen.add(path);
    const known = this.#folders.get(path);
    const stamp = stampOf(path);
    let folder = known;
    if (stamp === undefined) folder = undefined;
    else if (known === undefined || !sameStamp(known.stamp, stamp)) folder = this.#list(path, depth, stamp, place);
    if (folder !== known) this.#put(path, folder);
    if (folder === undefined) return 0;
    if (depth === 0) return 1;
    let left = most;
    for (const name of [...folder.folders].reverse()) {
      if (left <= 0) break;
      left -= await this.#look(join(path, name), depth - 1, place, left, seen, breather);
    }
    return most - left;
  }

  #list(
    path: string,
    depth: number,
    stamp: FileStamp,
    place: Omit<RolloutFile, keyof RolloutName | "path">,
  ): Folder | undefined {
    this.#work.count("folder");
    let entries: Dirent[];
    try {
      entries = readdirSync(path, { withFileTypes: true });
    } catch (error) {
      if (errorCode(error) !== "ENOENT") this.#unreadable.set(path, errorCode(error) ?? "unreadable");
      return undefined;
    }
    const racy = BigInt(this.#clock.now()) * 1_000_000n - stamp.mtimeNs < RACY_NS;
    const folders = depth === 0 ? [] : entries.filter((entry) => entry.isDirectory() && /^\d{1,5}$/.test(entry.name));
    const files: RolloutFile[] = [];
    const foreign: Folder["foreign"][number][] = [];
    for (const entry of entries) {
      const { name } = entry;
      const file = join(path, name);
      const parsed = depth === 0 ? rolloutNameOf(file) : undefined;
      if (parsed !== undefined && entry.isFile()) files.push({ ...parsed, ...place, path: file });
      else if (parsed !== undefined) foreign.push({ name, reason: entry.isSymbolicLink() ? A_LINK : NO_FILE });
      else if (entry.isFile() && /\.jsonl?(\.zst)?$/.test(name)) foreign.push({ name, reason: NO_ROLLOUT });
    }
    return {
      stamp: racy ? { ...stamp, mtimeNs: -1n } : stamp,
      folders: folders.map((entry) => entry.name).sort(),
      files,
      foreign,
    };
  }

  #put(path: string, folder: Folder | undefined): void {
    const gone = this.#folders.get(path)?.files ?? [];
    for (const file of gone) {
      remove(this.#byThread, file.thread, file);
      if (file.segment !== file.thread) remove(this.#bySegment, file.segment, file);
    }
    if (folder === undefined) this.#folders.delete(path);
    else this.#folders.set(path, folder);
    for (const file of folder?.files ?? []) {
      add(this.#byThread, file.thread, file);
      if (file.segment !== file.thread) add(this.#bySegment, file.segment, file);
    }
  }
}

/**
 * The files of a thread, the newest segment first, and of copies of a segment the one that is read first: plain before
 * compressed, then the longer (a rollout only grows, so it is the newer), live before archived, an earlier home first.
 */
export function inReadingOrder(files: readonly RolloutFile[]): RolloutFile[] {
  if (files.length < 2) return [...files];
  const segments = new Map<string, number>();
  for (const { segment } of files) segments.set(segment, (segments.get(segment) ?? 0) + 1);
  const sizes = new Map<RolloutFile, number>();
  for (const file of files) {
    if ((segments.get(file.segment) ?? 0) > 1) sizes.set(file, stampOf(file.path)?.size ?? -1);
  }
  return [...files].sort(
    (a, b) =>
      bySegmentAge(b, a) ||
      Number(a.compressed) - Number(b.compressed) ||
      (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) ||
      Number(a.archived) - Number(b.archived) ||
      a.homeRank - b.homeRank,
  );
}

function add(map: Map<string, RolloutFile[]>, key: string, file: RolloutFile): void {
  const files = map.get(key);
  if (files === undefined) map.set(key, [file]);
  else files.push(file);
}

function remove(map: Map<string, RolloutFile[]>, key: string, file: RolloutFile): void {
  const rest = map.get(key)?.filter((other) => other.path !== file.path) ?? [];
  if (rest.length === 0) map.delete(key);
  else map.set(key, rest);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
