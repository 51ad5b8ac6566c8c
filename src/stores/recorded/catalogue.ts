import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Breather } from "../../platform/breather.ts";
import type { Clock } from "../../platform/clock.ts";
import { errorCode, Failure } from "../../platform/failure.ts";
import { type FileStamp, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { Looks } from "../looks.ts";
import type { ListEffort, Listed } from "../store.ts";
import type { RecordedPlace } from "./chats.ts";
import { factsOf, type Reading, type RecordedFacts } from "./facts.ts";
import { type KnownSession, type KnownSessions, sameKnown } from "./known.ts";
import type { RecordedRoot } from "./roots.ts";

const EVENTS = "events.jsonl";

/** A folder may change twice within its time stamp's grain, so one that changed this lately is listed again: ms. */
const YOUNG_MS = 50;

/** What listing costs, counted. */
export interface ListingWork {
  folders: number;
  stats: number;
  reads: number;
}

/** Something that lies in a store and is not listed. */
export interface LeftOut {
  readonly reason: string;
  readonly path: string;
}

interface Known {
  readonly place: RecordedPlace;
  stamp: FileStamp | undefined;
  reading: Reading | undefined;
  /** What the recording alone says. */
  bare: Listed | undefined;
  /** What is known besides, as it went into the row. */
  known: KnownSession | undefined;
  row: Listed | undefined;
}

interface Folder {
  stamp: FileStamp | undefined;
  names: readonly string[];
  leftOut: readonly LeftOut[];
}

/** The recordings in the roots with what their two ends say, kept by the files' stamps. */
export class Catalogue {
  readonly #findRoots: () => readonly RecordedRoot[];
  readonly #clock: Clock;
  readonly #work: ListingWork;
  readonly #others: KnownSessions | undefined;
  readonly #folders = new Map<string, Folder>();
  readonly #touched = new Set<string>();
  readonly #afterLook = new Set<() => void>();
  #roots: readonly RecordedRoot[] = [];
  #known = new Map<string, Known>();
  /** By id, the recording that is listed. */
  #listed: ReadonlyMap<string, Known> = new Map();
  #looked = false;
  #leftOut: readonly LeftOut[] = [];
  #rows: readonly Listed[] = [];
  readonly #looks = new Looks<readonly Listed[]>((effort) => this.#look(effort));

  constructor(findRoots: () => readonly RecordedRoot[], clock: Clock, work: ListingWork, known?: KnownSessions) {
    this.#findRoots = findRoots;
    this.#clock = clock;
    this.#work = work;
    this.#others = known;
  }

  get roots(): readonly RecordedRoot[] {
    return this.#roots;
  }

  /** What is there and not listed. */
  get leftOut(): readonly LeftOut[] {
    return this.#leftOut;
  }

  /** The session folders that are worth watching: those without a recording as yet, and the newest. */
  watchWorthy(most: number): readonly string[] {
    const fresh = [...this.#known.values()].filter(({ row, stamp }) => row === undefined && stamp === undefined);
    const newest = [...this.#known.values()]
      .filter(({ row }) => row !== undefined)
      .sort((a, b) => Number((b.stamp?.mtimeNs ?? 0n) - (a.stamp?.mtimeNs ?? 0n)));
    return [...fresh.slice(-most), ...newest.slice(0, most)].map(({ place }) => join(place.file, ".."));
  }

  /** Watching told of this session: the next quick look asks its file. */
  touch(name: string): void {
    this.#touched.add(name);
  }

  /** Calls `then` after every look; what is returned ends that. */
  afterLook(then: () => void): () => void {
    this.#afterLook.add(then);
    return () => this.#afterLook.delete(then);
  }

  /** The sessions; a sweep asks every file for its state, a quick look those that are new or were touched. */
  look(effort: ListEffort): Promise<readonly Listed[]> {
    return this.#looks.take(effort);
  }

  /** Where the recording of `id` lies: a file of that name in a folder of that name, and an agent's. */
  async find(id: SessionId): Promise<RecordedPlace | undefined> {
    const listed = this.#listed.get(id)?.place;
    if (listed !== undefined && this.#isThere(listed)) return listed;
    for (const { real } of this.#rootsNow()) {
      if (real === undefined) continue;
      const place = { root: real, file: join(real, id, EVENTS) };
      if (!this.#isThere(place)) continue;
      const held = this.#known.get(place.file);
      // What was listed stays a session; anything else may have become one since.
      const reading = held?.row === undefined ? (await this.#read(place)).reading : held.reading;
      // What is blank can be followed, though it is not listed.
      if (reading?.kind !== "skipped") return place;
    }
    return undefined;
  }

  async #look(effort: ListEffort): Promise<readonly Listed[]> {
    const sweep = effort === "sweep" || !this.#looked;
    this.#roots = sweep ? this.#findRoots() : this.#rootsNow();
    const touched = new Set(this.#touched);
    this.#touched.clear();
    const breather = new Breather();
    const knownNow = this.#others?.look();
    const leftOut: LeftOut[] = [];
    const known = new Map<string, Known>();
    const listed = new Map<string, Known>();
    for (const { real } of this.#roots) {
      if (real === undefined) continue;
      for (const name of await this.#names(real, sweep, leftOut)) {
        const file = join(real, name, EVENTS);
        const entry: Known = this.#known.get(file) ?? {
          place: { root: real, file },
          stamp: undefined,
          reading: undefined,
          bare: undefined,
          known: undefined,
          row: undefined,
        };
        known.set(file, entry);
        if (sweep || entry.reading === undefined || touched.has(name)) await this.#refresh(entry, name);
        if (entry.bare !== undefined) complete(entry, entry.bare, knownNow?.(entry.bare.id));
        const { reading } = entry;
        if (reading !== undefined && reading.kind !== "session") leftOut.push({ reason: reading.reason, path: file });
        if (entry.row !== undefined) keepNewest(listed, name, entry, leftOut);
        await breather.pause();
      }
    }
    this.#known = known;
    this.#listed = listed;
    this.#leftOut = leftOut;
    this.#looked = true;
    const rows = [...listed.values()].flatMap(({ row }) => row ?? []);
    const same = rows.length === this.#rows.length && rows.every((row, index) => row === this.#rows[index]);
    if (!same) this.#rows = rows;
    for (const then of this.#afterLook) then();
    return this.#rows;
  }

  #isThere(place: RecordedPlace): boolean {
    this.#work.stats++;
    return stampOf(place.file) !== undefined;
  }

  /** The roots as they were last found; looked for anew when one that was missing is there. */
  #rootsNow(): readonly RecordedRoot[] {
    const known = this.#roots.every(({ sessions, real }) => real !== undefined || stampOf(sessions) === undefined);
    return this.#looked && known ? this.#roots : this.#findRoots();
  }

  /** The names of the session folders; read again only when the folder changed, and in every sweep. */
  async #names(root: string, sweep: boolean, leftOut: LeftOut[]): Promise<readonly string[]> {
    const held = this.#folders.get(root);
    this.#work.stats++;
    const stamp = stampOf(root);
    if (!sweep && held?.stamp !== undefined && stamp !== undefined && sameStamp(held.stamp, stamp)) {
      leftOut.push(...held.leftOut);
      return held.names;
    }
    const folder = await this.#readFolder(root);
    const young = stamp === undefined || this.#clock.now() - Number(stamp.mtimeNs / 1_000_000n) <= YOUNG_MS;
    this.#folders.set(root, { ...folder, stamp: young ? undefined : stamp });
    leftOut.push(...folder.leftOut);
    return folder.names;
  }

  async #readFolder(root: string): Promise<Omit<Folder, "stamp">> {
    this.#work.folders++;
    try {
      const names: string[] = [];
      const leftOut: LeftOut[] = [];
      for (const entry of await readdir(root, { withFileTypes: true })) {
        const path = join(root, entry.name);
        if (entry.isSymbolicLink()) leftOut.push({ reason: "a link, which is not followed", path });
        else if (entry.isDirectory() && sessionIdOf(entry.name) !== undefined) names.push(entry.name);
        else if (entry.isDirectory()) leftOut.push({ reason: "a name that can be no session's id", path });
      }
      return { names, leftOut };
    } catch (error) {
      if (errorCode(error) === "ENOENT") return { names: [], leftOut: [] };
      return { names: [], leftOut: [{ reason: "the folder can't be read", path: root }] };
    }
  }

  /** Brings one recording up to date: one stat, and its two ends only when it changed. */
  async #refresh(entry: Known, name: string): Promise<void> {
    this.#work.stats++;
    const stamp = stampOf(entry.place.file);
    if (stamp === undefined) {
      // A folder in which nothing is recorded: a terminal's or a command's, or a session that is about to begin.
      Object.assign(entry, { stamp: undefined, reading: NOTHING, bare: undefined, row: undefined });
      return;
    }
    if (entry.stamp !== undefined && sameStamp(entry.stamp, stamp)) return;
    const { reading, stamp: read } = await this.#read(entry.place);
    entry.reading = reading;
    entry.stamp = read ?? stamp;
    entry.bare = isListed(reading) ? rowOf(name, reading.facts, entry.stamp) : undefined;
    entry.row = entry.bare;
    entry.known = undefined;
  }

  async #read(place: RecordedPlace): Promise<{ reading: Reading; stamp: FileStamp | undefined }> {
    this.#work.reads++;
    try {
      return await withFile(place.root, place.file, async (open) => ({
        reading: await factsOf(open),
        stamp: open.stamp,
      }));
    } catch (error) {
      const denied = error instanceof Failure && errorCode(error.cause) === "EACCES";
      const reason = denied ? "permission denied" : "no regular file in the store";
      return { reading: { kind: "skipped", reason }, stamp: undefined };
    }
  }
}

/** Puts what is known besides into the row, which stays the same one while both say what they said. */
function complete(entry: Known, bare: Listed, known: KnownSession | undefined): void {
  if (sameKnown(entry.known, known)) return;
  entry.known = known;
  if (known === undefined) {
    entry.row = bare;
    return;
  }
  const model = bare.model ?? known.model;
  entry.row = Object.freeze({
    ...bare,
    cwd: bare.cwd || known.cwd,
    ...(model !== undefined && { model }),
    ...(known.live !== undefined && { live: known.live }),
  });
}

/** Of two recordings of one id, the one that was written last is listed. */
function keepNewest(listed: Map<string, Known>, name: string, entry: Known, leftOut: LeftOut[]): void {
  const other = listed.get(name);
  const isNewer = other?.row === undefined || (entry.row !== undefined && entry.row.updatedAt > other.row.updatedAt);
  if (isNewer) listed.set(name, entry);
  if (other === undefined) return;
  const { file } = (isNewer ? other : entry).place;
  leftOut.push({ reason: "an older copy of a session in another folder", path: file });
}

const NOTHING: Reading = { kind: "skipped", reason: "a folder without a recording" };

function isListed(reading: Reading): reading is Extract<Reading, { kind: "session" }> {
  return reading.kind === "session";
}

function rowOf(name: string, facts: RecordedFacts, stamp: FileStamp): Listed | undefined {
  const id = sessionIdOf(name);
  if (id === undefined) return undefined;
  const { title, cwd, model, startedAt, updatedAt } = facts;
  return Object.freeze({
    agent: "daemon",
    id,
    title: title ?? id,
    cwd,
    startedAt: startedAt ?? updatedAt,
    updatedAt,
    bytes: stamp.size,
    ...(model !== undefined && { model }),
  });
}
