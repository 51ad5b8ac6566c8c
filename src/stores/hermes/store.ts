import { dirname } from "node:path";
import { Bell } from "../../platform/bell.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { merged } from "../../platform/merge.ts";
import { systemTimer, type Timer } from "../../platform/timer.ts";
import type { Watcher } from "../../platform/watch.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { SETTLE_MS, UNCUT_RECORD_BYTES } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import type {
  Budget,
  Change,
  ChildList,
  EntryPage,
  EntryPageBefore,
  ListEffort,
  Listed,
  LiveProof,
  SessionRef,
  Store,
  StoreReport,
  Totals,
} from "../store.ts";
import { Catalogue, type ListingWork } from "./catalogue.ts";
import { HermesChats, type HermesPlace } from "./chats.ts";
import { hermesRoots } from "./roots.ts";

/** So much later than a call for a subagent settles, it surely is settled: ms. */
const SETTLED_MS = SETTLE_MS + 50;

/** What the store of Hermes is made with. */
export interface HermesStoreParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Homes of Hermes to look in besides the CLI's own (`stores.hermes` of the configuration). */
  readonly extraRoots: readonly string[];
  readonly timer?: Timer;
  /** Counts what listing costs. */
  readonly work?: ListingWork;
}

/** The history of Hermes on this machine. */
export class HermesStore implements Store {
  readonly agent = "hermes";
  readonly #watcher: Watcher;
  readonly #timer: Timer;
  readonly #catalogue: Catalogue;
  readonly #chats: HermesChats;

  constructor(parts: HermesStoreParts) {
    const { environment, clock, watcher, extraRoots, timer, work } = parts;
    this.#watcher = watcher;
    this.#timer = timer ?? systemTimer;
    this.#catalogue = new Catalogue(() => hermesRoots(environment, extraRoots), environment.home, work ?? { reads: 0 });
    this.#chats = new HermesChats(clock);
  }

  async list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    signal?.throwIfAborted();
    const rows = await this.#catalogue.look(effort);
    signal?.throwIfAborted();
    return rows;
  }

  /** The conversation that `id` is, or was before a compaction, the id of; the reference has the id that it has now. */
  async find(id: SessionId): Promise<SessionRef | undefined> {
    const found = await this.#catalogue.find(id);
    return found && { agent: this.agent, ...found };
  }

  entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    return this.#chats.entries(placeOf(ref), from, budget);
  }

  before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    return this.#chats.before(placeOf(ref), before, budget);
  }

  record(ref: SessionRef, pos: Cursor, mostBytes = UNCUT_RECORD_BYTES): Promise<readonly Entry[]> {
    return this.#chats.record(placeOf(ref), pos, mostBytes);
  }

  children(ref: SessionRef, most?: number): Promise<ChildList> {
    return this.#chats.children(placeOf(ref), most);
  }

  async child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    const place = await this.#chats.child(placeOf(ref), id);
    return place && { agent: this.agent, id: ref.id, child: id, place };
  }

  totals(ref: SessionRef): Promise<Totals | undefined> {
    return this.#chats.totals(placeOf(ref));
  }

  async *watch(ref: SessionRef, signal: AbortSignal): AsyncGenerator<void, void, undefined> {
    const { database } = placeOf(ref);
    const leaving = new AbortController();
    const leave = AbortSignal.any([signal, leaving.signal]);
    const bell = new Echo(this.#timer, leave);
    const files = [database, `${database}-wal`].map((path) => this.#watcher.file(path, leave));
    try {
      for await (const told of merged([...files.map((file) => why("written", file)), bell.echoes()])) {
        if (told === "written") bell.ring();
        yield;
      }
    } finally {
      leaving.abort();
    }
  }

  async *changes(signal: AbortSignal): AsyncGenerator<Change, void, undefined> {
    while (!signal.aborted) {
      await this.#catalogue.look("quick");
      const { roots } = this.#catalogue;
      const leaving = new AbortController();
      const leave = AbortSignal.any([signal, leaving.signal]);
      const files = roots.flatMap(({ database }) => [database, `${database}-wal`]);
      const folders = [...new Set(roots.map(({ database }) => dirname(database)))];
      const sources = [
        ...files.map((path) => why("written", this.#watcher.file(path, leave))),
        ...folders.map((path) => why("folder", this.#watcher.folder(path, leave))),
      ];
      try {
        for await (const told of merged(sources)) {
          if (told === "written") yield {};
          else if (await this.#hasNewDatabase()) break;
        }
      } finally {
        leaving.abort();
      }
      if (!signal.aborted) yield {};
    }
  }

  /** Nothing in the database proves that a process has a session open. */
  async live(): Promise<readonly LiveProof[]> {
    return [];
  }

  async report(): Promise<StoreReport> {
    const rows = await this.#catalogue.look("quick");
    const { count, example } = this.#chats.damaged;
    return {
      agent: this.agent,
      roots: this.#catalogue.roots.map(({ database, found, note }) => ({
        path: database,
        found,
        ...(note !== undefined && { note }),
      })),
      sessions: rows.length,
      formats: this.#catalogue.schemas,
      skipped: [
        ...this.#catalogue.skipped,
        ...(example === undefined ? [] : [{ reason: "a message of which a part can't be read", count, example }]),
      ],
    };
  }

  /** Looks for databases; whether there are others than were watched. */
  async #hasNewDatabase(): Promise<boolean> {
    const before = this.#catalogue.roots.map(({ database, found }) => `${database} ${found}`).join("\n");
    const { roots } = this.#catalogue;
    if (roots.every(({ found }) => found)) return false;
    await this.#catalogue.look("sweep");
    return this.#catalogue.roots.map(({ database, found }) => `${database} ${found}`).join("\n") !== before;
  }
}

/** Sounds once more some time after the last ring. */
class Echo {
  readonly #timer: Timer;
  readonly #signal: AbortSignal;
  readonly #bell = new Bell();
  #cancel: (() => void) | undefined;

  constructor(timer: Timer, signal: AbortSignal) {
    this.#timer = timer;
    this.#signal = signal;
  }

  ring(): void {
    this.#cancel?.();
    this.#cancel = this.#timer.after(SETTLED_MS, () => this.#bell.ring());
  }

  async *echoes(): AsyncGenerator<"settled"> {
    for (;;) {
      await this.#bell.listen(this.#signal);
      if (this.#signal.aborted) break;
      yield "settled";
    }
    this.#cancel?.();
  }
}

/** The place in a reference that this store made. */
function placeOf(ref: SessionRef): HermesPlace {
  return ref.place as HermesPlace;
}

async function* why<T extends string>(told: T, source: AsyncIterable<unknown>): AsyncGenerator<T> {
  for await (const _ of source) yield told;
}
