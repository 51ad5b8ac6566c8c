import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { Bell, pause } from "../platform/bell.ts";
import type { Clock } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import { GitRoots } from "../platform/git-root.ts";
import type { Timer } from "../platform/timer.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";
import { ChangeLog, type ListChange } from "./change-log.ts";
import { LIST_LIMIT, type ListFilter, type ListPage, type RowCursor, Selections } from "./list-query.ts";
import { EMPTY_SHELF, mergedRows, restocked, type Shelf } from "./shelf.ts";
import type { ListEffort, Listed, Store } from "./store.ts";

/** How often every file of every store is asked anew. */
export const SWEEP_MS = 10_000;
/** The least time between two looks that watching asks for. */
const LOOK_PAUSE_MS = 100;

/** What an inventory is made of. */
export interface InventoryParts {
  readonly stores: readonly Store[];
  readonly clock: Clock;
  readonly timer: Timer;
  /** The user's home folder. */
  readonly home: string;
}

/** Which page of which list. */
export interface ListQuery extends Omit<ListFilter, "folders"> {
  /** A folder (absolute): it stands for the git working tree that it lies in, if it lies in one. */
  readonly project?: string | undefined;
  readonly before?: RowCursor | undefined;
  /** Rows at most; 50 when absent. */
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
  readonly #log = new ChangeLog();
  readonly #texts = new WeakMap<Listed, string>();
  readonly #end = new AbortController();
  #selections = new Selections([], this.#texts);
  #running: readonly Promise<void>[] = [];

  constructor(parts: InventoryParts) {
    this.#parts = parts;
    this.#gitRoots = new GitRoots(parts.clock, parts.home);
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
  async query({ project, before, limit = LIST_LIMIT, ...filter }: ListQuery): Promise<ListPage> {
    const folders = project === undefined ? undefined : await this.#projectFolders(project);
    return this.#selections.page({ ...filter, folders }, before, limit);
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

  /** The folder as asked for and as links resolve it, since a CLI may have noted either. */
  async #projectFolders(project: string): Promise<readonly string[]> {
    const folder = resolve(project);
    const root = (await this.#gitRoots.of(folder)) ?? folder;
    const real = await realpath(root).catch(() => root);
    return real === root ? [root] : [root, real];
  }
}

/** Looks into one store, one look at a time. */
class Lookout {
  readonly store: Store;
  shelf: Shelf = EMPTY_SHELF;
  problem: string | undefined;
  readonly #publish: (changed: readonly SessionId[]) => void;
  /** Whether the store tells what changes; while it does not, every look is a sweep. */
  #told = false;
  #effort: ListEffort = "sweep";
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(store: Store, publish: (changed: readonly SessionId[]) => void) {
    this.store = store;
    this.#publish = publish;
  }

  /** One look that begins after this call, shared by all who ask before it begins. Never fails: see `problem`. */
  look(effort: ListEffort): Promise<void> {
    if (effort === "sweep") this.#effort = "sweep";
    this.#next ??= this.#lookNext();
    return this.#next;
  }

  /** Sweeps now and then. */
  async sweep({ timer }: InventoryParts, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look("sweep");
      await pause(timer, SWEEP_MS, signal);
    }
  }

  /** Looks whenever the store tells of a change, but not all the time. */
  async follow({ clock, timer }: InventoryParts, signal: AbortSignal): Promise<void> {
    const bell = new Bell();
    const listening = this.#listen(bell, timer, signal);
    for (;;) {
      await bell.listen(signal);
      if (signal.aborted) break;
      const start = clock.now();
      await this.look("quick");
      // Looking at a long list costs more: a tenth of the time is for looking, at most.
      await pause(timer, Math.max(LOOK_PAUSE_MS, 10 * (clock.now() - start)), signal);
    }
    await listening;
  }

  async #listen(bell: Bell, timer: Timer, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#effort = "sweep";
        this.#told = true;
        for await (const _ of this.store.changes(signal)) bell.ring();
      } catch (error) {
        this.problem = described(error);
      }
      this.#told = false;
      await pause(timer, SWEEP_MS, signal);
    }
  }

  async #lookNext(): Promise<void> {
    await this.#current;
    // What the system has told by now is taken in before the store is asked.
    await turn();
    this.#current = this.#next ?? Promise.resolve();
    this.#next = undefined;
    const effort = this.#told ? this.#effort : "sweep";
    this.#effort = "quick";
    try {
      const { shelf, changed } = await restocked(this.shelf, await this.store.list(effort));
      this.shelf = shelf;
      this.problem = undefined;
      if (changed.length > 0) this.#publish(changed);
    } catch (error) {
      this.problem = described(error);
      this.#effort = "sweep";
    }
  }
}

/** What went wrong in words for everyone: a message of the system's may hold paths. */
function described(error: unknown): string {
  return error instanceof Failure ? error.message : "its sessions could not be listed";
}
