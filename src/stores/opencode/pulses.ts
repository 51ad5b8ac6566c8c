import { Subscription } from "../../platform/subscription.ts";
import type { Watcher } from "../../platform/watch.ts";
import { type DatabaseFile, type DatabaseState, sameState } from "./database-file.ts";

/** How often the files of a database that someone follows are asked for their state: ms. */
const POLL_MS = 250;

/** Tells when databases change, with one look at the files for all who follow the same one. */
export class Pulses {
  readonly #watcher: Watcher;
  readonly #pulses = new Map<string, Pulse>();

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
  }

  /** Yields at once, and whenever something was written; ends with the signal. What is read after a yield misses nothing. */
  of(database: DatabaseFile, signal: AbortSignal): AsyncIterable<undefined> {
    const { path } = database;
    const subscription = new Subscription<undefined>(signal, () => {
      const pulse = this.#pulses.get(path);
      if (pulse?.remove(subscription)) this.#pulses.delete(path);
    });
    if (subscription.ended) return subscription;
    const pulse = this.#pulses.get(path) ?? new Pulse(database, this.#watcher);
    this.#pulses.set(path, pulse);
    pulse.add(subscription);
    subscription.tell(undefined);
    return subscription;
  }
}

/** One database and those who follow it. Its log comes and goes, which polling tells; what is written, the system. */
class Pulse {
  readonly #database: DatabaseFile;
  readonly #readers = new Set<Subscription<undefined>>();
  readonly #end = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #state: DatabaseState;

  constructor(database: DatabaseFile, watcher: Watcher) {
    this.#database = database;
    this.#state = database.state();
    this.#timer = setInterval(() => this.#look(), POLL_MS).unref();
    for (const path of [database.path, `${database.path}-wal`]) void this.#follow(watcher, path);
  }

  add(reader: Subscription<undefined>): void {
    this.#readers.add(reader);
  }

  /** Takes a reader off; whether none is left, and this has ended. */
  remove(reader: Subscription<undefined>): boolean {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return false;
    clearInterval(this.#timer);
    this.#end.abort();
    return true;
  }

  async #follow(watcher: Watcher, path: string): Promise<void> {
    try {
      for await (const _ of watcher.file(path, this.#end.signal)) this.#look();
    } catch {
      // Where the system can't watch, polling is what is left.
    }
  }

  #look(): void {
    const state = this.#database.state();
    if (sameState(this.#state, state)) return;
    this.#state = state;
    for (const reader of this.#readers) reader.tell(undefined);
  }
}
