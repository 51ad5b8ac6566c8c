import { isAbsolute, resolve } from "node:path";
import { Breather } from "../platform/breather.ts";
import type { Clock } from "../platform/clock.ts";
import type { GitRoots } from "../platform/git-root.ts";
import type { Listed } from "./store.ts";

/** Characters of a folder's path: what the longest of today's systems allow. */
export const FOLDER_MOST = 4_096;
/** How long an answer is trusted: a folder may become a repository later. ms. */
const TRUST_MS = 60_000;
/** How many rows, or folders, are looked at between two breaths. */
const STRIDE = 256;

/** The project of sessions whose folder is not known. */
export const NO_PROJECT = "";

/** Whether `path` says which folder it means, wherever one stands, and can be asked for. */
export function isFolderPath(path: string): boolean {
  return isAbsolute(path) && path.length <= FOLDER_MOST && !path.includes("\0");
}

/**
 * The project of each folder in which sessions started: the git working tree that it lies in, else the folder itself;
 * `NO_PROJECT` where it is not known.
 */
export type ProjectOf = (cwd: string) => string;

/** What is known of the folders of one state of the list. */
interface Known {
  /** By `cwd` as rows have it. */
  readonly projects: ReadonlyMap<string, string>;
  readonly of: ProjectOf;
  /** When the oldest answer was looked for. */
  readonly at: number;
}

/** Tells the projects of sessions; each folder is looked at once a minute, however many sessions started there. */
export class Projects {
  readonly #gitRoots: Pick<GitRoots, "of">;
  readonly #clock: Clock;
  /** The folders of a list of rows, which does not change. */
  readonly #folders = new WeakMap<readonly Listed[], readonly string[]>();
  #known: Known;
  #revision = 0;
  /** One look after the other: who asks meanwhile takes what was found. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(gitRoots: Pick<GitRoots, "of">, clock: Clock) {
    this.#gitRoots = gitRoots;
    this.#clock = clock;
    this.#known = known(new Map(), clock.now());
  }

  /** Grows when a folder comes to be of another project than before. */
  get revision(): number {
    return this.#revision;
  }

  /** The projects of the folders of all `rows`: the same function as before while nothing is new. */
  of(rows: readonly Listed[]): Promise<ProjectOf> {
    const look = this.#last.then(() => this.#look(rows));
    this.#last = look.catch(() => undefined);
    return look;
  }

  async #look(rows: readonly Listed[]): Promise<ProjectOf> {
    const folders = await this.#foldersOf(rows);
    const now = this.#clock.now();
    const age = now - this.#known.at;
    const isFresh = age >= 0 && age < TRUST_MS;
    const asked = isFresh ? folders.filter((folder) => !this.#known.projects.has(folder)) : folders;
    if (asked.length === 0) return this.#known.of;
    const found = await this.#found(asked);
    const projects = new Map(isFresh ? this.#known.projects : []);
    let isMoved = false;
    for (const [folder, project] of found) {
      const before = this.#known.projects.get(folder);
      if (before !== undefined && before !== project) isMoved = true;
      projects.set(folder, project);
    }
    if (isMoved) this.#revision++;
    // Who remembers what was made with it may go on using that.
    const isSame = !isMoved && projects.size === this.#known.projects.size;
    this.#known = isSame ? { ...this.#known, at: now } : known(projects, isFresh ? this.#known.at : now);
    return this.#known.of;
  }

  async #foldersOf(rows: readonly Listed[]): Promise<readonly string[]> {
    const held = this.#folders.get(rows);
    if (held !== undefined) return held;
    const breather = new Breather();
    const distinct = new Set<string>();
    for (let start = 0; start < rows.length; start += STRIDE) {
      for (const { cwd } of rows.slice(start, start + STRIDE)) if (isFolderPath(cwd)) distinct.add(cwd);
      await breather.pause();
    }
    const folders = [...distinct];
    this.#folders.set(rows, folders);
    return folders;
  }

  async #found(folders: readonly string[]): Promise<readonly (readonly [folder: string, project: string])[]> {
    const breather = new Breather();
    const found: (readonly [string, string])[] = [];
    for (let start = 0; start < folders.length; start += STRIDE) {
      const some = folders.slice(start, start + STRIDE);
      found.push(...(await Promise.all(some.map(async (folder) => [folder, await this.#projectAt(folder)] as const))));
      await breather.pause();
    }
    return found;
  }

  async #projectAt(cwd: string): Promise<string> {
    const folder = resolve(cwd);
    return (await this.#gitRoots.of(folder)) ?? folder;
  }
}

function known(projects: ReadonlyMap<string, string>, at: number): Known {
  return { projects, of: (cwd) => projects.get(cwd) ?? NO_PROJECT, at };
}
