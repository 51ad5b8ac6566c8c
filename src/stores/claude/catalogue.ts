import { basename, dirname, sep } from "node:path";
import { Breather } from "../../platform/breather.ts";
import type { Clock } from "../../platform/clock.ts";
import { type FileStamp, isWithin, sameStamp, stampFrom, stampOf, writtenAt } from "../../platform/files.ts";
import { pushTo } from "../../platform/push-to.ts";
import type { SessionId } from "../../transcript/names.ts";
import { Looks } from "../looks.ts";
import type { ListEffort } from "../store.ts";
import { isFolder, stateOf, targetInside } from "./path-state.ts";
import type { ClaudePlace } from "./place.ts";
import { type FileEntry, type LeftOut, type ProjectFolder, ProjectFolders } from "./project-folders.ts";
import type { ClaudeRoot } from "./roots.ts";
import type { SessionFacts } from "./session-facts.ts";
import { type ListingWork, SessionFileReader } from "./session-file.ts";

/** Folders whose names are read beside each other. */
const FOLDERS_AT_ONCE = 16;

/** A session that the catalogue holds. */
export interface KnownSession {
  readonly id: SessionId;
  readonly place: ClaudePlace;
  /** The name of its project folder. */
  readonly project: string;
  readonly stamp: FileStamp;
  readonly facts: SessionFacts;
}

/** Where a session lies whose transcript is `<folder>/<id>.jsonl`. */
export function placeIn(root: string, folder: string, id: SessionId): ClaudePlace {
  const sideFolder = folder + sep + id;
  const file = `${sideFolder}.jsonl`;
  return { root, file, session: id, mainFile: file, sideFolder };
}

/**
 * Every transcript in the project folders of the roots with what its ends say, kept by the files' stamps: what has not
 * changed is not opened again. It holds one entry a file that is there, and forgets those that went.
 */
export class Catalogue {
  readonly #findRoots: () => Promise<readonly ClaudeRoot[]>;
  readonly #work: ListingWork;
  readonly #reader: SessionFileReader;
  readonly #projects: ProjectFolders;
  readonly #touched = new Set<string>();
  readonly #afterLook = new Set<() => void>();
  readonly #looks = new Looks<readonly KnownSession[]>((effort) => this.#look(effort));
  #roots: readonly ClaudeRoot[] | undefined;
  #folders = new Map<string, ProjectFolder>();
  #sessions = new Map<SessionId, KnownSession>();
  /** Of the sessions that lie in several folders, where. */
  #copies: ReadonlyMap<SessionId, readonly ClaudePlace[]> = new Map();
  /** The side folders that sessions left behind when they were moved. */
  #leftBehind: ReadonlyMap<SessionId, readonly string[]> = new Map();
  #leftOut: readonly LeftOut[] = [];

  constructor(findRoots: () => Promise<readonly ClaudeRoot[]>, clock: Clock, work: ListingWork) {
    this.#findRoots = findRoots;
    this.#work = work;
    this.#reader = new SessionFileReader(work);
    this.#projects = new ProjectFolders(clock, work);
  }

  /** The roots as they were last looked at; undefined before the first look. */
  get roots(): readonly ClaudeRoot[] | undefined {
    return this.#roots;
  }

  /** The real paths of the project folders as they were last looked at. */
  get folders(): readonly string[] {
    return [...this.#folders.keys()];
  }

  /** What is there and not listed. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** The session with this id, as it was last listed. */
  known(id: SessionId): KnownSession | undefined {
    return this.#sessions.get(id);
  }

  /** Watching told of `path`, a file or a project folder: the next quick look asks it, or everything in it. */
  touch(path: string): void {
    this.#touched.add(path);
  }

  /** Calls `then` after every look; what is returned ends that. */
  afterLook(then: () => void): () => void {
    this.#afterLook.add(then);
    return () => this.#afterLook.delete(then);
  }

  /**
   * The sessions that are there now, each id once (where a session lies in two folders, the one written last). A sweep
   * asks every file for its state; a quick look asks the folders, and the files that are new or were touched. Looks come one
   * after another; who asks while one waits for its turn shares it.
   */
  look(effort: ListEffort): Promise<readonly KnownSession[]> {
    return this.#looks.take(effort);
  }

  /**
   * The sessions written last of those whose ids begin with `start`, at most `most`, the newest first. Of all others only names
   * and times are looked at; what is listed stays what it is.
   */
  async newest(start: string, most: number): Promise<readonly KnownSession[]> {
    const roots = await this.#rootsNow();
    const folders = (await Promise.all(roots.map((root) => this.#foldersOf(root, [])))).flat();
    await this.#refreshNames(folders, new Breather());
    const written: { readonly folder: ProjectFolder; readonly entry: FileEntry; readonly at: number }[] = [];
    for (const folder of folders) {
      for (const entry of folder.files.values()) {
        if (entry.id.startsWith(start)) written.push({ folder, entry, at: writtenAt(entry.path) });
      }
    }
    const found = new Map<SessionId, KnownSession>();
    for (const { folder, entry } of written.sort((a, b) => b.at - a.at)) {
      const { id } = entry;
      if (found.size === most) break;
      const path = found.has(id) ? undefined : entry.regular ? entry.path : targetInside(folder.root, entry.path);
      const reading = path === undefined ? undefined : this.#reader.read(path);
      if (reading?.kind !== "session") continue;
      const { stamp, facts } = reading;
      found.set(id, { id, place: placeIn(folder.root, folder.path, id), project: basename(folder.path), stamp, facts });
    }
    return [...found.values()];
  }

  /**
   * Where the session lies now: as listed when that file is still there (of several, the one written last by now), else looked
   * for by name in every project folder, also when lists leave it out. The one written last wins.
   */
  async find(id: SessionId): Promise<ClaudePlace | undefined> {
    const known = this.#sessions.get(id)?.place;
    const there = this.#newest(this.#copies.get(id) ?? (known === undefined ? [] : [known]));
    if (there !== undefined) return withLeftBehind(there, this.#leftBehind.get(id) ?? []);
    const places: ClaudePlace[] = [];
    for (const root of await this.#rootsNow()) {
      if (root.real === undefined) continue;
      for (const path of await this.#projects.pathsIn(root.real, [])) {
        const folder = this.#projects.realFolder(root.real, path, []);
        if (folder !== undefined) places.push(placeIn(root.real, folder, id));
      }
    }
    const found = this.#newest(places);
    const others = places.filter(({ file }) => found !== undefined && stateOf(file, this.#work) === "gone");
    const sides = others.map(({ sideFolder }) => sideFolder).filter((path) => isFolder(stateOf(path, this.#work)));
    return found && withLeftBehind(found, sides);
  }

  /** What can be said of the session at `place`, which lists leave out: nothing in it is shown yet. */
  unlisted({ root, file, session }: ClaudePlace): KnownSession | undefined {
    const target = targetInside(root, file);
    const reading = target === undefined ? undefined : this.#reader.readUnlisted(target);
    if (reading?.kind !== "session") return undefined;
    const folder = dirname(file);
    const { stamp, facts } = reading;
    return { id: session, place: placeIn(root, folder, session), project: basename(folder), stamp, facts };
  }

  /** The transcripts of the session, when it lies in several folders. */
  copiesOf(id: SessionId): readonly string[] {
    return (this.#copies.get(id) ?? []).map(({ file }) => file);
  }

  /** The place whose transcript was written last, of those where one is. */
  #newest(places: readonly ClaudePlace[]): ClaudePlace | undefined {
    let newest: { readonly place: ClaudePlace; readonly mtimeNs: bigint } | undefined;
    for (const place of places) {
      const mtimeNs = this.#modified(place);
      if (mtimeNs !== undefined && (newest === undefined || mtimeNs > newest.mtimeNs)) newest = { place, mtimeNs };
    }
    return newest?.place;
  }

  async #look(effort: ListEffort): Promise<readonly KnownSession[]> {
    const sweep = effort === "sweep" || this.#roots === undefined;
    const roots = sweep ? await this.#findRoots() : await this.#rootsNow();
    this.#roots = roots;
    const touched = new Set(this.#touched);
    this.#touched.clear();
    const breather = new Breather();
    const leftOut: LeftOut[] = [];
    const folders = new Map<string, ProjectFolder>();
    for (const root of roots) {
      for (const folder of await this.#foldersOf(root, leftOut)) folders.set(folder.path, folder);
    }
    await this.#refreshNames([...folders.values()], breather);
    for (const folder of folders.values()) {
      const all = sweep || touched.has(folder.path);
      for (const entry of folder.files.values()) {
        if (!all && entry.reading !== undefined && !touched.has(entry.path)) continue;
        this.#refresh(folder, entry);
        if (breather.isDue) await breather.pause();
      }
    }
    this.#folders = folders;
    this.#sessions = newestOfEach(folders.values(), this.#sessions, leftOut);
    this.#copies = copiesIn(folders.values());
    this.#leftBehind = leftBehindIn(folders.values());
    this.#leftOut = leftOut;
    for (const then of this.#afterLook) then();
    return [...this.#sessions.values()];
  }

  /** The roots as they were last found; looked for anew when one that was missing is there. */
  async #rootsNow(): Promise<readonly ClaudeRoot[]> {
    const roots = this.#roots;
    const known = roots?.every(({ projects, real }) => real !== undefined || stampOf(projects) === undefined);
    return roots !== undefined && known ? roots : await this.#findRoots();
  }

  async #foldersOf(root: ClaudeRoot, leftOut: LeftOut[]): Promise<ProjectFolder[]> {
    const projects = root.real;
    if (projects === undefined) return [];
    return (await this.#projects.pathsIn(projects, leftOut)).flatMap((named) => {
      const path = this.#projects.realFolder(projects, named, leftOut);
      if (path === undefined) return [];
      return this.#folders.get(path) ?? newFolder(projects, path);
    });
  }

  /** Brings the names in the folders up to date, some folders at a time. */
  async #refreshNames(folders: readonly ProjectFolder[], breather: Breather): Promise<void> {
    for (let at = 0; at < folders.length; at += FOLDERS_AT_ONCE) {
      const some = folders.slice(at, at + FOLDERS_AT_ONCE);
      await Promise.all(some.map((folder) => this.#projects.refresh(folder)));
      await breather.pause();
    }
  }

  /** Brings one file up to date: one stat, and its ends only when it changed. */
  #refresh(folder: ProjectFolder, entry: FileEntry): void {
    if (entry.reading === undefined && entry.regular) {
      this.#readEnds(entry);
      return;
    }
    const state = stateOf(entry.path, this.#work);
    if (typeof state === "string") {
      entry.stamp = undefined;
      entry.reading = state === "gone" ? { kind: "gone" } : { kind: "skipped", reason: "could not be read" };
    } else if (state.isSymbolicLink()) {
      // A link's own state says nothing of what it leads to, so that is read every time.
      const target = targetInside(folder.root, entry.path);
      const reason = "a link that leads out of the store" as const;
      entry.stamp = undefined;
      entry.reading = target === undefined ? { kind: "skipped", reason } : this.#reader.read(target);
    } else if (entry.stamp === undefined || !sameStamp(entry.stamp, stampFrom(entry.path, state))) {
      this.#readEnds(entry);
    }
  }

  #readEnds(entry: FileEntry): void {
    entry.reading = this.#reader.read(entry.path);
    // What could not be read has no stamp: it may be readable the next time without having changed.
    entry.stamp = entry.reading.kind === "gone" ? undefined : entry.reading.stamp;
  }

  /** When the transcript at `place` was written, if it is there: a regular file, or a link to something in the store. */
  #modified(place: ClaudePlace): bigint | undefined {
    const state = stateOf(place.file, this.#work);
    if (typeof state === "string") return undefined;
    if (state.isFile()) return state.mtimeNs;
    const target = state.isSymbolicLink() ? targetInside(place.root, place.file) : undefined;
    const there = target === undefined ? "gone" : stateOf(target, this.#work);
    return typeof there !== "string" && there.isFile() ? there.mtimeNs : undefined;
  }
}

function newFolder(root: string, path: string): ProjectFolder {
  return { root, path, stamp: undefined, files: new Map(), sides: new Set(), leftOut: [] };
}

/** `place` with those of the session's other side folders that lie in its root. */
function withLeftBehind(place: ClaudePlace, sides: readonly string[]): ClaudePlace {
  const leftBehind = sides.filter((path) => isWithin(place.root, path));
  return leftBehind.length === 0 ? place : { ...place, leftBehind };
}

/** The side folders that lie in a folder without their session's transcript. */
function leftBehindIn(folders: Iterable<ProjectFolder>): Map<SessionId, string[]> {
  const left = new Map<SessionId, string[]>();
  for (const { path, files, sides } of folders) {
    for (const id of sides) if (!files.has(id)) pushTo(left, id, path + sep + id);
  }
  return left;
}

/** The sessions that lie in several folders, with every place. */
function copiesIn(folders: Iterable<ProjectFolder>): Map<SessionId, ClaudePlace[]> {
  const first = new Map<SessionId, ProjectFolder>();
  const copies = new Map<SessionId, ClaudePlace[]>();
  for (const folder of folders) {
    for (const { id, reading } of folder.files.values()) {
      if (reading?.kind !== "session") continue;
      const other = first.get(id);
      if (other === undefined) first.set(id, folder);
      else if (copies.has(id)) copies.get(id)?.push(placeIn(folder.root, folder.path, id));
      else
        copies.set(
          id,
          [other, folder].map(({ root, path }) => placeIn(root, path, id)),
        );
    }
  }
  return copies;
}

/** Each session once; what has not changed since `before` stays the same object. What is not listed goes to `leftOut`. */
function newestOfEach(
  folders: Iterable<ProjectFolder>,
  before: ReadonlyMap<SessionId, KnownSession>,
  leftOut: LeftOut[],
): Map<SessionId, KnownSession> {
  const sessions = new Map<SessionId, KnownSession>();
  for (const folder of folders) {
    const project = basename(folder.path);
    leftOut.push(...folder.leftOut);
    for (const { id, path, reading } of folder.files.values()) {
      if (reading?.kind === "skipped") leftOut.push({ path, reason: reading.reason });
      if (reading?.kind !== "session") continue;
      const other = sessions.get(id);
      const older = other !== undefined && other.stamp.mtimeNs >= reading.stamp.mtimeNs;
      const reason = "an older copy of a session in another folder" as const;
      if (other !== undefined) leftOut.push({ path: older ? path : other.place.file, reason });
      if (older) continue;
      const same = before.get(id);
      const { stamp, facts } = reading;
      const kept = same?.facts === facts && same.place.file === path ? same : undefined;
      sessions.set(id, kept ?? { id, place: placeIn(folder.root, folder.path, id), project, stamp, facts });
    }
  }
  return sessions;
}
