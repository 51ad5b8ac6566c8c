import { join } from "node:path";
import type { Breather } from "../platform/breather.ts";
import type { Clock } from "../platform/clock.ts";
import { type FileStamp, sameStamp } from "../platform/files.ts";
import { asObject, isNestedAtMost } from "../platform/read.ts";
import { type Damage, damageOf, flawOf, isDamage, NESTED } from "./contents.ts";
import type { RunDisk } from "./disk.ts";
import { FolderView, isYoung, type Listed, mtimeOf, noFilesIn, type Seen } from "./folder-view.ts";
import { type Job, type JobFileName, jobFileOf, jobNameOf, jobRecordsOf, mergedJob } from "./job.ts";
import { parseInPieces } from "./json-pieces.ts";

/** Larger files are left out: nobody has so many jobs. */
const MOST_BYTES = 256 * 1024 * 1024;

interface JobFile extends JobFileName {
  readonly path: string;
  readonly root: string;
  readonly stamp: FileStamp;
}

/** What was read from files that were in this state. */
interface Read {
  readonly files: readonly JobFile[];
  readonly lasting: boolean;
  readonly jobs: ReadonlyMap<string, Job>;
  readonly damages: readonly Damage[];
}

interface Lists {
  readonly home: Listed;
  readonly archive: Listed;
}

/** So few archives are asked at each look. Nobody changes one in its place, so where there are more, sweeps ask them. */
const FEW_ARCHIVES = 200;

const NOTHING: Read = { files: [], lasting: true, jobs: new Map(), damages: [] };

/** Every job of `jobs.json`, its backups, its overflow and the archives; files are read again when they have changed. */
export class JobFiles {
  readonly #home: FolderView;
  readonly #archive: FolderView;
  readonly #disk: RunDisk;
  readonly #clock: Clock;
  readonly #folders: { readonly home: string; readonly archive: string };
  #listed: Lists | undefined;
  #archived: Read = NOTHING;
  #all: Read = NOTHING;

  constructor(bridgeHome: string, disk: RunDisk, clock: Clock) {
    this.#folders = { home: bridgeHome, archive: join(bridgeHome, "archive") };
    this.#home = new FolderView(this.#folders.home, disk, clock);
    this.#archive = new FolderView(this.#folders.archive, disk, clock);
    this.#disk = disk;
    this.#clock = clock;
  }

  /** The jobs by name, as of the last look. */
  get jobs(): ReadonlyMap<string, Job> {
    return this.#all.jobs;
  }

  /** The folders and files that the jobs were read from, as they were then; undefined when one is to be read again. */
  get seen(): readonly Seen[] | undefined {
    if (!this.#archived.lasting || !this.#all.lasting) return undefined;
    return [this.#home.seen, this.#archive.seen, ...this.#archived.files, ...this.#all.files];
  }

  /** Folders that are there and can't be listed. */
  get unlisted(): readonly Damage[] {
    return [...this.#home.unlisted, ...this.#archive.unlisted];
  }

  /** Files and records that are not shown. */
  get damages(): readonly Damage[] {
    const { home, archive } = this.#listed ?? {};
    return [
      ...this.unlisted,
      ...this.#damagesIn("home", home),
      ...this.#damagesIn("archive", archive),
      ...this.#archived.damages,
      ...this.#all.damages,
    ];
  }

  /** Reads what has changed; whether anything had. With `sweep` every archive is asked, however many there are. */
  async look(sweep: boolean, breather: Breather): Promise<boolean> {
    const home = await this.#home.look(breather);
    // Jobs move from `jobs.json` to the archive: read in this order, none is missed on its way.
    const active = await this.#filesIn(home, "home", true, breather);
    const readActive = areSame(active, this.#all) ? undefined : await this.#read(active, NOTHING, breather);
    const archive = await this.#archive.look(breather);
    const archiveChanged = await this.#lookAtArchives({ home, archive }, sweep, breather);
    if (readActive === undefined && !archiveChanged) return false;
    const recent = readActive ?? (await this.#read(active, NOTHING, breather));
    this.#all = { ...recent, jobs: await together(this.#archived.jobs, recent.jobs, breather) };
    return true;
  }

  async #lookAtArchives(listed: Lists, sweep: boolean, breather: Breather): Promise<boolean> {
    const before = this.#listed;
    this.#listed = listed;
    const { files, lasting } = this.#archived;
    const sameNames = listed.home === before?.home && listed.archive === before.archive;
    if (sameNames && lasting && !sweep && files.length > FEW_ARCHIVES) return false;
    const inHome = await this.#filesIn(listed.home, "home", false, breather);
    const archived = [...inHome, ...(await this.#filesIn(listed.archive, "archive", false, breather))].sort(byAge);
    if (areSame(archived, this.#archived)) return false;
    // Mostly one comes that is newer than all: what the others told stands.
    const known = areSame(archived.slice(0, files.length), this.#archived) ? this.#archived : NOTHING;
    this.#archived = await this.#read(archived, known, breather);
    return true;
  }

  async #filesIn(
    listed: Listed,
    folder: "home" | "archive",
    active: boolean,
    breather: Breather,
  ): Promise<readonly JobFile[]> {
    const files: JobFile[] = [];
    for (const name of listed.files) {
      if (breather.isDue) await breather.pause();
      const file = jobFileOf(name, folder);
      if (file === undefined || file.active !== active) continue;
      const path = join(this.#folders[folder], name);
      const stamp = this.#disk.stamp(path);
      if (stamp !== undefined) files.push({ ...file, path, root: listed.root, stamp });
    }
    return files;
  }

  #damagesIn(folder: "home" | "archive", listed: Listed | undefined): readonly Damage[] {
    if (listed === undefined) return [];
    const path = this.#folders[folder];
    const isJobFile = (name: string): boolean => jobFileOf(name, folder) !== undefined;
    const lost = listed.files
      .filter((name) => isJobFile(name))
      .map((name) => join(path, name))
      .filter((file) => this.#disk.stamp(file) === undefined)
      .map((file) => ({ path: file, reason: "job file that is listed and can't be found or asked" }));
    return [...noFilesIn(path, listed, ({ name }) => isJobFile(name)), ...lost];
  }

  /** What `files` tell, the first of which are those of `known`. */
  async #read(files: readonly JobFile[], known: Read, breather: Breather): Promise<Read> {
    const jobs = new Map(known.jobs);
    const damages = [...known.damages];
    let lasting = true;
    for (const file of files.slice(known.files.length)) {
      if (isYoung(file.stamp, this.#clock.now())) lasting = false;
      let records: readonly unknown[];
      try {
        const bytes = await this.#bytesOf(file);
        records = await recordsIn(bytes, breather);
        const reason = flawOf("job file", bytes);
        if (reason !== undefined) damages.push({ path: file.path, reason });
      } catch (error) {
        // One that could not be read just now is asked for again.
        if (!isDamage(error)) lasting = false;
        damages.push({ path: file.path, reason: damageOf("job file", error) });
        continue;
      }
      for (const record of records) {
        const fields = asObject(record);
        const name = jobNameOf(fields?.name);
        if (fields === undefined || name === undefined) {
          damages.push({ path: file.path, reason: "job whose name is missing or none that can be used" });
        } else if (!isNestedAtMost(NESTED, fields)) {
          damages.push({ path: file.path, reason: "job with too many lists and objects in one another" });
        } else {
          jobs.set(name, mergedJob(jobs.get(name), name, fields, file.active));
        }
        if (breather.isDue) await breather.pause();
      }
    }
    return { files, lasting, jobs, damages };
  }

  /** @throws RangeError when they are too many · Failure when the file can't be read */
  #bytesOf({ path, root }: JobFile): Promise<Buffer> {
    return this.#disk.open(root, path, (file) => {
      if (file.size > MOST_BYTES) throw new RangeError("too long for jobs");
      const whole = Buffer.allocUnsafe(file.size);
      return whole.subarray(0, file.read(whole, 0));
    });
  }
}

/** @throws as `isDamage` tells, when they are none */
async function recordsIn(bytes: Buffer, breather: Breather): Promise<readonly unknown[]> {
  const records = jobRecordsOf(await parseInPieces(bytes, breather));
  if (records === undefined) throw new TypeError("no list of jobs");
  return records;
}

/** Oldest first: by their numbers, those without by the time they were written; ties by path. */
function byAge(a: JobFile, b: JobFile): number {
  const age = (file: JobFile): number => file.number ?? mtimeOf(file.stamp);
  return age(a) - age(b) || (a.path < b.path ? -1 : 1);
}

function areSame(files: readonly JobFile[], { files: before, lasting }: Read): boolean {
  const unchanged = (file: JobFile, i: number): boolean => {
    const other = before[i];
    return other !== undefined && other.path === file.path && sameStamp(other.stamp, file.stamp);
  };
  return lasting && files.length === before.length && files.every(unchanged);
}

async function together(
  older: ReadonlyMap<string, Job>,
  newer: ReadonlyMap<string, Job>,
  breather: Breather,
): Promise<ReadonlyMap<string, Job>> {
  const jobs = new Map<string, Job>();
  for (const [name, job] of older) {
    jobs.set(name, job);
    if (breather.isDue) await breather.pause();
  }
  for (const [name, job] of newer) {
    const status = job.status === undefined ? {} : { status: job.status };
    jobs.set(name, { ...mergedJob(jobs.get(name), name, job.fields, true), ...status });
    if (breather.isDue) await breather.pause();
  }
  return jobs;
}
