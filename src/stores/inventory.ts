import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import type { Clock } from "../platform/clock.ts";
import { GitRoots } from "../platform/git-root.ts";
import type { Timer } from "../platform/timer.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";
import { ChangeLog, type ListChange } from "./change-log.ts";
import { LIST_LIMIT, type ListFilter, type ListPage, type RowCursor, Selections } from "./list-query.ts";
import { Lookout } from "./lookout.ts";
import { type ProjectCursor, ProjectLists, type ProjectPage } from "./project-list.ts";
import { Projects } from "./projects.ts";
import { mergedRows } from "./shelf.ts";
import type { Listed, Store } from "./store.ts";

/** What an inventory is made of. */
export interface InventoryParts {
  readonly stores: readonly Store[];
  readonly clock: Clock;
  readonly timer: Timer;
  /** The user's home folder. */
  readonly home: string;
}

/** Which page of which list. */
export interface ListQuery extends Omit<ListFilter, "folders" | "own"> {
  /** A folder (absolute): it stands for the git working tree that it lies in, if it lies in one. */
  readonly project?: string | undefined;
  /** `project` is meant by itself: sessions whose own project is this very folder, and none below it. */
  readonly exact?: boolean | undefined;
  readonly before?: RowCursor | undefined;
  /** Rows at most; 50 when absent. */
  readonly limit?: number | undefined;
}

/** Which page of the list of projects. */
export interface ProjectQuery extends Pick<ListFilter, "agent" | "q" | "state" | "children"> {
  readonly before?: ProjectCursor | undefined;
  /** Projects at most; 50 when absent. */
  readonly limit?: number | undefined;
}

/** What the inventory knows of one store. */
export interface StoreStanding {
  readonly agent: AgentName;
  /** Sessions in its list, children not counted. */
  readonly sessions: number;
  /** Why its last list failed; what it listed before is still shown. */
  readonly problem?: string;
}

/**
 * Every session of every store as one list, newest first. Without `start` each look asks every file, as one-shot
 * commands want it; from `start` to `close` it follows the stores as they change.
 */
export class Inventory {
  readonly #parts: InventoryParts;
  readonly #lookouts: readonly Lookout[];
  readonly #gitRoots: GitRoots;
  readonly #projects: Projects;
  readonly #projectLists = new ProjectLists();
  readonly #log = new ChangeLog();
  readonly #texts = new WeakMap<Listed, string>();
  readonly #end = new AbortController();
  #selections = new Selections([], this.#texts);
  #running: readonly Promise<void>[] = [];

  constructor(parts: InventoryParts) {
    this.#parts = parts;
    this.#gitRoots = new GitRoots(parts.clock, parts.home);
    this.#projects = new Projects(this.#gitRoots, parts.clock);
    this.#lookouts = parts.stores.map((store) => new Lookout(store, (changed) => this.#publish(changed)));
  }

  /** Follows the stores from now on, and sweeps them every 10 seconds. */
  start(): void {
    if (this.#running.length > 0) return;
    this.#running = this.#lookouts.flatMap((lookout) => [
      lookout.follow(this.#parts, this.#end.signal),
      lookout.sweep(this.#parts, this.#end.signal),
    ]);
  }

  /** Stops following; what was listed stays readable. */
  async close(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
  }

  /** Grows when a row is added, removed or shown differently. */
  get generation(): number {
    return this.#log.generation;
  }

  /** Comes back when everything that was in the stores at the time of the call is in the list. */
  async settled(): Promise<void> {
    await Promise.all(this.#lookouts.map((lookout) => lookout.look("quick")));
  }

  /** The row of a session, as of the last look. */
  row(agent: AgentName, id: SessionId): Listed | undefined {
    return this.#lookouts.find((lookout) => lookout.store.agent === agent)?.shelf.held.get(id)?.shown;
  }

  /** A page of the list, as of the last look. */
  async query({ project, exact, before, limit = LIST_LIMIT, ...filter }: ListQuery): Promise<ListPage> {
    if (project !== undefined && exact) return this.#queryExact(project, filter, before, limit);
    const folders = project === undefined ? undefined : await this.#projectFolders(project);
    return this.#selections.page({ ...filter, folders }, before, limit);
  }

  /** A page of the projects of the sessions, the last updated first, as of the last look. */
  async projects({ before, limit = LIST_LIMIT, ...filter }: ProjectQuery): Promise<ProjectPage> {
    const selections = this.#selections;
    const of = await this.#projects.of(selections.all);
    return this.#projectLists.page(await selections.rows(filter), of, before, limit);
  }

  /** Grows when a folder comes to be of another project than before: as of the last time that projects were asked for. */
  get projectsRevision(): number {
    return this.#projects.revision;
  }

  /** What changes after generation `since` (else after now), many changes as one for slow readers; ends with the signal. */
  changes(signal: AbortSignal, since: number = this.generation): AsyncIterable<ListChange> {
    return this.#log.follow(signal, since);
  }

  /** What is known of each store, as of the last look. */
  standings(): Promise<readonly StoreStanding[]> {
    const selections = this.#selections;
    return Promise.all(
      this.#lookouts.map(async ({ store: { agent }, problem }) => {
        const { total } = await selections.page({ agent }, undefined, 1);
        return { agent, sessions: total, ...(problem !== undefined && { problem }) };
      }),
    );
  }

  #publish(changed: readonly SessionId[]): void {
    const rows = this.#lookouts.map(({ shelf }) => shelf.sorted).reduce(mergedRows, []);
    this.#selections = new Selections(rows, this.#texts);
    this.#log.add(changed);
  }

  async #queryExact(
    project: string,
    filter: ListFilter,
    before: RowCursor | undefined,
    limit: number,
  ): Promise<ListPage> {
    const selections = this.#selections;
    const of = await this.#projects.of(selections.all);
    const own = { project: resolve(project), of, revision: this.#projects.revision };
    return selections.page({ ...filter, own }, before, limit);
  }

  /** The folder as asked for and as links resolve it, since a CLI may have noted either. */
  async #projectFolders(project: string): Promise<readonly string[]> {
    const folder = resolve(project);
    const root = (await this.#gitRoots.of(folder)) ?? folder;
    const real = await realpath(root).catch(() => root);
    return real === root ? [root] : [root, real];
  }
}
