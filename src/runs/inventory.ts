import { setImmediate as turn } from "node:timers/promises";
import { Breather } from "../platform/breather.ts";
import type { Clock, EpochMs } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import type { FileStamp } from "../platform/files.ts";
import { isAlive } from "../platform/process-identity.ts";
import { asText, type JsonObject } from "../platform/read.ts";
import { sortedInPieces } from "../platform/sorting.ts";
import { ChangeLog, type ListChange } from "../stores/change-log.ts";
import { Contents, type Damage } from "./contents.ts";
import { type RunDisk, systemDisk } from "./disk.ts";
import type { Seen } from "./folder-view.ts";
import { FreshRuns } from "./fresh-runs.ts";
import { type Job, jobAgent, jobStart } from "./job.ts";
import { JobFiles } from "./job-files.ts";
import { KnownChats } from "./known-chats.ts";
import { type LogChunk, readLogChunk } from "./log-file.ts";
import { runFileOf } from "./names.ts";
import { compareRuns, keyPage, RUN_LIMIT, type RunCursor, type RunKey } from "./page.ts";
import {
  type Conversation,
  chatOf,
  conversationOf,
  type FoundRun,
  RunReader,
  recoveredRun,
  startOf,
} from "./reader.ts";
import { jobsWithoutLog } from "./recover.ts";
import { type RunReport, reportOf } from "./report.ts";
import { type RunFiles, RunFolders } from "./run-files.ts";
import { type JobSummary, type Liveness, type RunSummary, recoveredSummary } from "./summary.ts";

/** How often every file is asked anew, however many there are: ms. */
export const SWEEP_MS = 10_000;
/** How often a look is begun anew when files move under it. */
const MOST_TRIES = 5;

/** What an inventory of runs is made of. */
export interface RunInventoryParts {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  readonly disk?: RunDisk;
  /** Whether that very process still runs. */
  readonly alive?: Liveness["alive"];
}

/** A page of the list of runs. */
export interface RunPage {
  readonly runs: readonly RunSummary[];
  /** The `before` of the page after this one; null at the end. */
  readonly next: string | null;
  /** All runs there are, on whatever page. */
  readonly total: number;
}

/** The newest runs, with what belongs to them. */
export interface RunOverview extends RunPage {
  /** Runs that are running but are not among the newest. */
  readonly running: readonly RunSummary[];
  /** The jobs of all these runs, by name. */
  readonly jobs: { readonly [name: string]: JobSummary };
}

/** One job. */
export interface FoundJob extends Conversation {
  readonly summary: JobSummary;
}

/** A part of a run's log. */
export interface LogRead {
  readonly run: FoundRun;
  readonly chunk: LogChunk;
  /** The log as it was read; undefined for a recovered job, whose log is empty. */
  readonly stamp?: FileStamp;
}

/** In the list: a run by its files, or a job without a log. */
type Key = RunKey & ({ readonly run: RunFiles } | { readonly job: Job });

/**
 * Every run and job of our own folder, read only. Each question looks at the folders first; files are read when their
 * stamps have changed and someone asks for what is in them, so the first page of many thousand runs reads the files of one
 * page, and an unchanged one reads none.
 */
export class RunInventory {
  readonly #clock: Clock;
  readonly #disk: RunDisk;
  readonly #folders: RunFolders;
  readonly #jobFiles: JobFiles;
  readonly #contents: Contents;
  readonly #reader: RunReader;
  readonly #fresh: FreshRuns;
  readonly #chats: KnownChats;
  readonly #log = new ChangeLog<string>();
  #keys: readonly Key[] = [];
  #recovered: ReadonlyMap<string, Job> = new Map();
  /** What metadata says decides which jobs are recovered. */
  #metadataMatters = false;
  /** The job that metadata named when the list was made, of runs whose metadata may say another without a new stamp. */
  #unsure: ReadonlyMap<RunFiles, string | undefined> = new Map();
  /** A row was seen to be of a job that is listed as recovered: the list is out of date. */
  #isStale = false;
  /** Runs of which a file was written, as watching tells. */
  #written = new Set<string>();
  #swept = Number.NEGATIVE_INFINITY;
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor({ bridgeHome, clock, disk = systemDisk, alive = isAlive }: RunInventoryParts) {
    this.#clock = clock;
    this.#disk = disk;
    this.#folders = new RunFolders(bridgeHome, disk, clock);
    this.#jobFiles = new JobFiles(bridgeHome, disk, clock);
    this.#contents = new Contents(disk, clock);
    this.#reader = new RunReader(this.#folders, this.#contents, clock, alive);
    this.#fresh = new FreshRuns(this.#reader);
    this.#chats = new KnownChats(disk);
  }

  /** Grows when a run or job is added, removed or shown differently. */
  get generation(): number {
    return this.#log.generation;
  }

  /** What changes after generation `since` (else after now), many changes as one for slow readers; ends with the signal. */
  changes(signal: AbortSignal, since: number = this.generation): AsyncIterable<ListChange<string>> {
    return this.#log.follow(signal, since);
  }

  /** One look at the folders that begins after this call, shared by all who ask before it begins. */
  look(): Promise<void> {
    this.#next ??= this.#lookNext();
    return this.#next;
  }

  /**
   * Tells that a file in `runs/` or its archive was written. The next look asks it, where old runs are otherwise asked
   * every 10 s.
   */
  noteWritten(fileName: string): void {
    const name = (runFileOf(fileName, false) ?? runFileOf(fileName, true))?.name;
    if (name !== undefined) this.#written.add(name);
  }

  /** A page of the list from behind `before` on. */
  async page(before: RunCursor | undefined, limit: number = RUN_LIMIT): Promise<RunPage> {
    for (let tries = 1; ; tries++) {
      await this.look();
      const { keys, next } = keyPage(this.#keys, before, limit);
      const total = this.#keys.length;
      const runs = await this.#summaries(keys);
      this.#isStale ||= runs.some(({ recovered, job }) => !recovered && this.#recovered.has(asText(job) ?? ""));
      // One that moved under this is listed elsewhere by now.
      if ((runs.length === keys.length && !this.#isStale) || tries === MOST_TRIES) return { runs, next, total };
    }
  }

  /** The newest runs, those that are running besides, and their jobs. */
  async overview(limit: number = RUN_LIMIT): Promise<RunOverview> {
    const page = await this.page(undefined, limit);
    const shown = new Set(page.runs.map(({ name }) => name));
    const running = (await this.#runningRuns()).filter(({ name, status }) => status === "running" && !shown.has(name));
    const listed = [...page.runs, ...running];
    const jobs = [...new Set(listed.map(({ job }) => asText(job)))].flatMap((name) => {
      const job = name === undefined ? undefined : this.#jobFiles.jobs.get(name);
      return job === undefined ? [] : [[job.name, this.#reader.job(job, listed)] as const];
    });
    return { ...page, running: [...running].sort(compareRuns), jobs: Object.fromEntries(jobs) };
  }

  /** The names of all runs, in the order of the list. */
  async names(): Promise<readonly string[]> {
    await this.look();
    return this.#keys.map(({ name }) => name);
  }

  /**
   * In which session the chat of a run (`run:<name>`) or job (`job:<name>`) is, as it was last found; undefined when that
   * may have changed. One stat for each folder and file that tells of it.
   */
  chatNow(key: string): string | undefined {
    return this.#chats.now(key);
  }

  /** The run with this public name, or undefined. */
  async run(name: string): Promise<FoundRun | undefined> {
    const asked = this.#clock.now();
    const run = await this.#run(name);
    // A recovered job has none. Should the metadata of a log come to name it, the next look ends what was found.
    const metadata = this.#folders.runs.get(name)?.metadata ?? [];
    this.#noteChat(`run:${name}`, run, asked, this.#contents.metadataSeen(metadata));
    return run;
  }

  /** Keeps which chat was found at or after `asked`, where `metadata` and the jobs are all that tells. */
  #noteChat(key: string, found: Conversation | undefined, asked: EpochMs, metadata: readonly Seen[] | undefined): void {
    const jobs = this.#jobFiles.seen;
    if (found === undefined || metadata === undefined || jobs === undefined) this.#chats.delete(key);
    else this.#chats.note(key, chatOf(found), asked, [...this.#folders.seen, ...jobs, ...metadata]);
  }

  async #run(name: string): Promise<FoundRun | undefined> {
    for (let tries = 1; ; tries++) {
      await this.look();
      const job = this.#recovered.get(name);
      if (job !== undefined) return recoveredRun(job);
      const run = this.#folders.runs.get(name);
      const found = run && (await this.#reader.read(run));
      if (run === undefined || found !== undefined || tries === MOST_TRIES) return found;
    }
  }

  /**
   * The log of a run from the byte `from` on (see `readLogChunk`), wherever it is being moved; undefined when there is no
   * such run. One that was just `found` is not looked for again while its log is where it was.
   * @throws Failure not-found: the log can't be read
   */
  async log(name: string, from: number, found?: FoundRun): Promise<LogRead | undefined> {
    for (let tries = 1; ; tries++) {
      const run = tries === 1 && found !== undefined ? found : await this.run(name);
      if (run === undefined) return undefined;
      if (run.log === undefined) return { run, chunk: { text: "", next: 0, size: 0 } };
      try {
        const { root, path } = run.log;
        return await this.#disk.open(root, path, (file) => {
          return { run, chunk: readLogChunk(file, from, run.summary.status !== "running"), stamp: file.stamp };
        });
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
        if (tries === MOST_TRIES) throw new Failure("not-found", "the log of this run can't be read", error);
      }
    }
  }

  /** The job with this name, also one that only the metadata of its runs still tells of. */
  async job(name: string): Promise<FoundJob | undefined> {
    const asked = this.#clock.now();
    const job = await this.#job(name);
    const saved = this.#jobFiles.jobs.get(name);
    const tellsAll = saved?.session !== undefined && jobAgent(saved) !== undefined;
    // Else it is the metadata of whatever run names it.
    this.#noteChat(`job:${name}`, job, asked, tellsAll ? [] : undefined);
    return job;
  }

  async #job(name: string): Promise<FoundJob | undefined> {
    await this.look();
    const job = this.#jobFiles.jobs.get(name);
    const summary = job && this.#reader.job(job, await this.#runningRuns());
    const known = summary && job && { summary, ...conversationOf(job) };
    if (known?.session !== undefined && known.agent !== undefined) return known;
    const run = await this.#runOfJob(name);
    if (run === undefined) return known;
    return {
      summary: summary ?? { name, status: run.summary.status },
      agent: known?.agent ?? run.agent,
      session: known?.session ?? run.session,
      recording: known?.recording ?? run.recording,
    };
  }

  /** Every job that a file of jobs tells of, the last started first. */
  async jobs(): Promise<readonly JobSummary[]> {
    await this.look();
    const running = await this.#runningRuns();
    const keys = [...this.#jobFiles.jobs.values()].map((job) => ({ job, name: job.name, startedAt: jobStart(job) }));
    const sorted = await sortedInPieces(keys, compareRuns, new Breather());
    return sorted.map(({ job }) => this.#reader.job(job, running));
  }

  /** Folders that are there and could not be listed at the last look: what is in them is missing everywhere. */
  get unlisted(): readonly Damage[] {
    return [...this.#jobFiles.unlisted, ...this.#folders.unlisted];
  }

  /** What there is, and what is left out and why: reads every file. */
  async report(): Promise<RunReport> {
    await this.look();
    const breather = new Breather();
    const paths = new Set<string>();
    let archived = 0;
    for (const run of this.#folders.runs.values()) {
      await this.#reader.read(run);
      // Also the ones that another stands in for.
      for (const place of run.metadata) await this.#contents.metadata([place]);
      for (const { path } of [...run.logs, ...run.metadata]) paths.add(path);
      if (run.state?.place.archived) archived++;
      if (breather.isDue) await breather.pause();
    }
    const damages = [...this.#folders.damages, ...this.#jobFiles.damages, ...this.#contents.damages(paths)];
    const recovered = this.#recovered.size;
    const runs = this.#keys.length - recovered;
    return reportOf({ runs, archived, recovered, jobs: this.#jobFiles.jobs.size }, damages);
  }

  async #lookNext(): Promise<void> {
    await this.#current;
    // Whoever asks in the same turn shares this look.
    await turn();
    const look = this.#lookOnce();
    this.#current = look.catch(() => {});
    this.#next = undefined;
    await look;
  }

  async #lookOnce(): Promise<void> {
    const breather = new Breather();
    const changed = new Set<string>();
    const now = this.#clock.now();
    const sweep = Math.abs(now - this.#swept) >= SWEEP_MS;
    const written = this.#written;
    this.#written = new Set();
    let jobsChanged = false;
    let outOfDate = this.#isStale;
    this.#isStale = false;
    for (let tries = 1, vanished = true; vanished && tries <= MOST_TRIES; tries++) {
      const found = await this.#folders.look({ sweep, metadata: this.#metadataMatters, written }, breather);
      vanished = found.vanished;
      for (const name of found.names) changed.add(name);
      outOfDate ||= found.moved || (found.retold && this.#metadataMatters);
      if (await this.#jobFiles.look(sweep, breather)) jobsChanged = true;
    }
    if (sweep) this.#swept = now;
    if (jobsChanged) await this.#reader.know(this.#jobFiles.jobs, breather);
    if (outOfDate || jobsChanged || (await this.#isToldAnew())) await this.#arrange(changed, breather);
    for (const name of await this.#fresh.look(this.#folders.restless, now, breather)) changed.add(name);
    await breather.pause();
    if (sweep || jobsChanged || changed.size > 0) this.#chats.clear();
    if (jobsChanged || changed.size > 0) this.#log.add([...changed]);
  }

  /** Whether metadata that could not be relied on names another job than when the list was made. */
  async #isToldAnew(): Promise<boolean> {
    for (const [run, job] of this.#unsure) {
      if (asText((await this.#contents.metadata(run.metadata))?.job) !== job) return true;
    }
    return false;
  }

  /** Puts runs and recovered jobs in order. */
  async #arrange(changed: Set<string>, breather: Breather): Promise<void> {
    const { runs } = this.#folders;
    const unsure = new Map<RunFiles, string | undefined>();
    const metadataOf = async (run: RunFiles): Promise<JsonObject | undefined> => {
      const metadata = await this.#contents.metadata(run.metadata);
      if (!this.#contents.isSure(run.metadata)) unsure.set(run, asText(metadata?.job));
      return metadata;
    };
    const found = await jobsWithoutLog(this.#jobFiles.jobs, this.#reader.tails, runs, metadataOf, breather);
    const keys: Key[] = [...found.recovered.values()].map((job) => ({ startedAt: jobStart(job), name: job.name, job }));
    for (const run of runs.values()) {
      if (run.state !== undefined) keys.push({ startedAt: startOf(run), name: run.name, run });
      if (breather.isDue) await breather.pause();
    }
    for (const name of found.recovered.keys()) if (!this.#recovered.has(name)) changed.add(name);
    for (const name of this.#recovered.keys()) if (!found.recovered.has(name)) changed.add(name);
    const sorted = await sortedInPieces(keys, compareRuns, breather);
    this.#keys = sorted;
    this.#recovered = found.recovered;
    this.#metadataMatters = found.metadataMatters;
    this.#unsure = unsure;
    this.#contents.trim(runs.size);
  }

  /** The summaries of `keys`, without those whose files have moved. */
  async #summaries(keys: readonly Key[]): Promise<readonly RunSummary[]> {
    const breather = new Breather();
    const summaries: RunSummary[] = [];
    for (const key of keys) {
      const summary = "job" in key ? recoveredSummary(key.job) : (await this.#reader.read(key.run))?.summary;
      if (summary !== undefined) summaries.push(summary);
      if (breather.isDue) await breather.pause();
    }
    return summaries;
  }

  /** At least all runs that are running. */
  #runningRuns(): Promise<readonly RunSummary[]> {
    return this.#summaries(this.#fresh.running.map((run) => ({ startedAt: startOf(run), name: run.name, run })));
  }

  /** The newest run of a job that has a session, else its newest run. */
  async #runOfJob(name: string): Promise<FoundRun | undefined> {
    const breather = new Breather();
    let newest: FoundRun | undefined;
    for (const key of this.#keys) {
      if (breather.isDue) await breather.pause();
      if ("job" in key || this.#reader.jobName(key.run, await this.#contents.metadata(key.run.metadata)) !== name)
        continue;
      const run = await this.#reader.read(key.run);
      if (run?.session !== undefined) return run;
      newest ??= run;
    }
    return newest;
  }
}
