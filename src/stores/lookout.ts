import { setImmediate as turn } from "node:timers/promises";
import { Bell, pause } from "../platform/bell.ts";
import type { Clock } from "../platform/clock.ts";
import { Failure } from "../platform/failure.ts";
import type { Timer } from "../platform/timer.ts";
import type { SessionId } from "../transcript/names.ts";
import { EMPTY_SHELF, restocked, type Shelf } from "./shelf.ts";
import type { ListEffort, Store } from "./store.ts";

/** How often every file of a store is asked anew. */
export const SWEEP_MS = 10_000;
/** The least time between two looks that watching asks for. */
const LOOK_PAUSE_MS = 100;

/** What paces the looks. */
interface Pace {
  readonly clock: Clock;
  readonly timer: Timer;
}

/** Looks into one store, one look at a time. */
export class Lookout {
  readonly store: Store;
  /** What the last look that went well found. */
  shelf: Shelf = EMPTY_SHELF;
  /** Why the last look failed, in words for everyone. */
  problem: string | undefined;
  readonly #publish: (changed: readonly SessionId[]) => void;
  /** Whether the store tells what changes; while it does not, every look is a sweep. */
  #told = false;
  #effort: ListEffort = "sweep";
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  /** `publish` is told which sessions a look found changed. */
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
  async sweep({ timer }: Pick<Pace, "timer">, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look("sweep");
      await pause(timer, SWEEP_MS, signal);
    }
  }

  /** Looks whenever the store tells of a change, but not all the time. */
  async follow({ clock, timer }: Pace, signal: AbortSignal): Promise<void> {
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
