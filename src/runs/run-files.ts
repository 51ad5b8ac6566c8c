import { join, sep } from "node:path";
import type { Breather } from "../platform/breather.ts";
import type { Clock } from "../platform/clock.ts";
import { type FileStamp, sameStamp } from "../platform/files.ts";
import type { Damage, Place } from "./contents.ts";
import type { RunDisk } from "./disk.ts";
import { FolderView, isYoung, type Listed, mtimeOf, noFilesIn, type Seen } from "./folder-view.ts";
import { isMissedRunFile, type NamedRun, namedRun, runFileOf } from "./names.ts";
import { isFresh } from "./summary.ts";

/** The files of one run, and which of its logs counts. */
export interface RunFiles {
  readonly name: string;
  readonly named: NamedRun;
  /** An active log first; there may be several archived ones. */
  readonly logs: readonly Place[];
  /** The one that counts first. */
  readonly metadata: readonly Place[];
  /** Undefined: not asked yet, or gone. */
  state?: LogState | undefined;
  /** Its metadata files as they were when a look last asked for them. */
  told?: readonly (FileStamp | undefined)[] | undefined;
}

/** The log that counts, as it was when it was last asked. */
export interface LogState {
  readonly place: Place;
  readonly stamp: FileStamp;
  /** Whole ms since the epoch. */
  readonly mtime: number;
}

/** What a look has found to be another than before. */
export interface RunChanges {
  /** Runs that came, went, or whose log was written to. */
  readonly names: ReadonlySet<string>;
  /** Runs came, went, or are of another time: the list's order is another. */
  readonly moved: boolean;
  /** Some metadata is, or may be, another: the job that a run is of may be another. */
  readonly retold: boolean;
  /** A log was not where its folder's list said: it is just being archived, so look again. */
  readonly vanished: boolean;
}

/** How a look is made. */
export interface RunLook {
  /** Every log is asked, however old. */
  readonly sweep: boolean;
  /** With a sweep, the metadata of every log too. */
  readonly metadata: boolean;
  /** Runs of which a file is known to have been written. */
  readonly written: ReadonlySet<string>;
}

/** Homes with so few logs have every file asked at each look; in others old ones are asked by sweeps and when shown. */
export const FEW_RUNS = 1_000;

/** The runs of `runs/` and `runs/archive/`, by their files. */
export class RunFolders {
  readonly #folders: { readonly active: string; readonly archive: string };
  readonly #active: FolderView;
  readonly #archive: FolderView;
  readonly #disk: RunDisk;
  readonly #clock: Clock;
  #listed: { readonly active: Listed; readonly archive: Listed } | undefined;
  #orphans: readonly Place[] = [];
  /** Runs have come or gone since the logs were last asked. */
  #paired = false;
  #restless: readonly RunFiles[] = [];
  /** By public name. */
  runs: ReadonlyMap<string, RunFiles> = new Map();

  constructor(bridgeHome: string, disk: RunDisk, clock: Clock) {
    this.#folders = { active: join(bridgeHome, "runs"), archive: join(bridgeHome, "runs", "archive") };
    this.#active = new FolderView(this.#folders.active, disk, clock);
    this.#archive = new FolderView(this.#folders.archive, disk, clock);
    this.#disk = disk;
    this.#clock = clock;
  }

  /** Lists what has changed, and asks the files that may have. */
  async look({ sweep, metadata, written }: RunLook, breather: Breather): Promise<RunChanges> {
    const names = new Set<string>();
    let [moved, retold, vanished] = [false, false, false];
    // Runs move from the first folder to the second: read in this order, none is missed on its way.
    const active = await this.#active.look(breather);
    const archive = await this.#archive.look(breather);
    if (active !== this.#listed?.active || archive !== this.#listed.archive) {
      this.#listed = { active, archive };
      await this.#pair(active, archive, names, breather);
    }
    const few = this.runs.size <= FEW_RUNS;
    const all = sweep || this.#paired || few;
    moved ||= this.#paired;
    this.#paired = false;
    const now = this.#clock.now();
    const restless: RunFiles[] = [];
    for (const run of all ? this.runs.values() : this.#restlessOr(written)) {
      const isTold = few || written.has(run.name);
      const before = run.state;
      const known = !sweep && !isTold && before !== undefined && isSettled(run, before, now);
      if (!known && this.ask(run)) {
        names.add(run.name);
        moved ||= before === undefined || run.state === undefined || run.named.startedAt === undefined;
      }
      vanished ||= run.state === undefined;
      const isRestless = run.state === undefined || !isSettled(run, run.state, now);
      if (isRestless) restless.push(run);
      if (isRestless || isTold || (sweep && metadata)) {
        const answer = this.#askMetadata(run);
        if (answer === "another") names.add(run.name);
        retold ||= answer !== "the same";
      }
      if (breather.isDue) await breather.pause();
    }
    this.#restless = restless;
    return { names, moved, retold, vanished };
  }

  /** Runs whose logs may have been written since the last look, or were lately. */
  get restless(): readonly RunFiles[] {
    return this.#restless;
  }

  /** Runs that may change at any time, and those that are known to have. */
  #restlessOr(written: ReadonlySet<string>): Iterable<RunFiles> {
    return new Set([...this.#restless, ...[...written].flatMap((name) => this.runs.get(name) ?? [])]);
  }

  /** Asks which log of a run counts and how it stands; whether that is another answer than before. */
  ask(run: RunFiles): boolean {
    const before = run.state;
    run.state = this.#stateOf(run);
    if (before === undefined || run.state === undefined) return before !== run.state;
    return before.place.path !== run.state.place.path || !sameStamp(before.stamp, run.state.stamp);
  }

  /** The folders as they were when they were last listed. */
  get seen(): readonly Seen[] {
    return [this.#active.seen, this.#archive.seen];
  }

  /** Whether one of these files is where its folder's list said. */
  has(places: readonly Place[]): boolean {
    return places.some(({ path }) => this.#disk.stamp(path) !== undefined);
  }

  /** Folders that are there and can't be listed. */
  get unlisted(): readonly Damage[] {
    return [...this.#active.unlisted, ...this.#archive.unlisted];
  }

  /** Things in the folders that are not shown. */
  get damages(): readonly Damage[] {
    const { active, archive } = this.#listed ?? {};
    const lost = [...this.runs.values()].flatMap(({ state, logs: [log] }) => (state === undefined && log) || []);
    return [
      ...this.unlisted,
      ...damagesIn(this.#folders.active, active, false),
      ...damagesIn(this.#folders.archive, archive, true),
      ...this.#orphans.map(({ path }) => ({ path, reason: "metadata without its log" })),
      ...lost.map(({ path }) => ({ path, reason: "log that is listed and can't be found or asked" })),
    ];
  }

  /** How the metadata of a run stands beside when this was last called. */
  #askMetadata(run: RunFiles): "the same" | "another" | "asked for the first time" {
    const before = run.told;
    const told = run.metadata.map(({ path }) => this.#disk.stamp(path));
    run.told = told;
    if (before === undefined) return "asked for the first time";
    return told.every((stamp, i) => sameOrNone(stamp, before[i])) ? "the same" : "another";
  }

  #stateOf({ logs }: RunFiles): LogState | undefined {
    let state: LogState | undefined;
    for (const place of logs) {
      const stamp = this.#disk.stamp(place.path);
      if (stamp === undefined) continue;
      if (state === undefined || stamp.mtimeNs > state.stamp.mtimeNs) state = { place, stamp, mtime: mtimeOf(stamp) };
      if (!place.archived) break;
    }
    return state;
  }

  async #pair(active: Listed, archive: Listed, changed: Set<string>, breather: Breather): Promise<void> {
    const runs = new Map<string, { name: string; logs: Place[]; metadata: Place[] }>();
    for (const [listed, folder, archived] of [
      [active, this.#folders.active, false],
      [archive, this.#folders.archive, true],
    ] as const) {
      for (const fileName of listed.files) {
        if (breather.isDue) await breather.pause();
        const file = runFileOf(fileName, archived);
        if (file === undefined) continue;
        const { name, kind, number } = file;
        const run = runs.get(name) ?? { name, logs: [], metadata: [] };
        if (run.logs.length + run.metadata.length === 0) runs.set(name, run);
        // Not `join`: there may be tens of thousands.
        const path = `${folder}${sep}${fileName}`;
        const place = { path, root: listed.root, archived, ...(number !== undefined && { number }) };
        (kind === "log" ? run.logs : run.metadata).push(place);
      }
    }
    await this.#adopt(runs.values(), changed, breather);
  }

  async #adopt(
    found: Iterable<{ name: string; logs: Place[]; metadata: Place[] }>,
    changed: Set<string>,
    breather: Breather,
  ): Promise<void> {
    const runs = new Map<string, RunFiles>();
    const orphans: Place[] = [];
    for (const { name, logs, metadata } of found) {
      if (breather.isDue) await breather.pause();
      if (logs.length === 0) {
        orphans.push(...metadata);
        continue;
      }
      const before = this.runs.get(name);
      const run: RunFiles = {
        name,
        named: before?.named ?? namedRun(name),
        logs,
        metadata: this.#newestFirst(metadata),
      };
      if (before !== undefined && samePaths(before.logs, logs)) run.state = before.state;
      if (before !== undefined && samePaths(before.metadata, run.metadata)) run.told = before.told;
      else changed.add(name);
      runs.set(name, run);
    }
    for (const name of this.runs.keys()) if (!runs.has(name)) changed.add(name);
    this.runs = runs;
    this.#paired = true;
    this.#orphans = orphans;
  }

  #newestFirst(places: readonly Place[]): readonly Place[] {
    if (places.length < 2) return places;
    const age = ({ archived, number, path }: Place): number => {
      if (!archived) return Number.POSITIVE_INFINITY;
      const stamp = number === undefined ? this.#disk.stamp(path) : undefined;
      return number ?? (stamp === undefined ? 0 : mtimeOf(stamp));
    };
    const aged = places.map((place) => ({ place, age: age(place) }));
    return aged.sort((a, b) => (a.age === b.age ? 0 : b.age - a.age)).map(({ place }) => place);
  }
}

/** Whether a log need not be asked at every look: it is old, and its place in lists does not hang on its mtime. */
function isSettled({ named, logs }: RunFiles, { stamp, mtime }: LogState, now: number): boolean {
  return named.startedAt !== undefined && logs.length === 1 && !isFresh(mtime, now) && !isYoung(stamp, now);
}

function sameOrNone(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameStamp(a, b);
}

function samePaths(a: readonly Place[], b: readonly Place[]): boolean {
  return a.length === b.length && a.every(({ path }, i) => path === b[i]?.path);
}

function damagesIn(folder: string, listed: Listed | undefined, archived: boolean): Damage[] {
  if (listed === undefined) return [];
  // Of folders only those tell of something lost that stand where a file should.
  const others = noFilesIn(folder, listed, ({ name, what }) => what !== "folder" || isMissedRunFile(name));
  const misnamed = listed.files.filter((name) => isMissedRunFile(name) && runFileOf(name, archived) === undefined);
  return [...others, ...misnamed.map((name) => ({ path: join(folder, name), reason: "name that no run can have" }))];
}
