import { basename } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { merged } from "../../platform/merge.ts";
import { Subscription } from "../../platform/subscription.ts";
import type { Watcher } from "../../platform/watch.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { UNCUT_RECORD_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type {
  Budget,
  Change,
  ChildList,
  EntryPage,
  EntryPageBefore,
  FarCall,
  ListEffort,
  Listed,
  LiveProof,
  RawEventPage,
  SessionRef,
  Skipped,
  Store,
  StoreReport,
  Totals,
} from "../store.ts";
import { Catalogue, type ListingWork } from "./catalogue.ts";
import { RecordedChats, type RecordedPlace } from "./chats.ts";
import type { KnownSessions } from "./known.ts";
import { RawEventReader } from "./raw-events.ts";
import { recordedRoots } from "./roots.ts";
import { TotalsCounter } from "./totals.ts";

/** Session folders that are watched at a time; the others are asked by sweeps. */
const MOST_WATCHED = 32;

/** What the store of recordings is made with. */
export interface RecordedStoreParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Folders to look in besides `~/.agentproto` (`stores.daemon` of the configuration). */
  readonly extraRoots: readonly string[];
  /** What is known of sessions besides their recordings. */
  readonly known?: KnownSessions;
  /** Counts what listing costs. */
  readonly work?: ListingWork;
}

/** The sessions that this program, or another that keeps the same format, has recorded on this machine. */
export class RecordedStore implements Store {
  readonly agent = "daemon";
  readonly #watcher: Watcher;
  readonly #known: KnownSessions | undefined;
  readonly #catalogue: Catalogue;
  readonly #chats = new RecordedChats();
  readonly #totals = new TotalsCounter();
  readonly #rawEvents = new RawEventReader();

  constructor(parts: RecordedStoreParts) {
    const { environment, extraRoots, clock, work } = parts;
    this.#watcher = parts.watcher;
    this.#known = parts.known;
    const findRoots = () => recordedRoots(environment, extraRoots);
    const counted = work ?? { folders: 0, stats: 0, reads: 0 };
    this.#catalogue = new Catalogue(findRoots, clock, counted, parts.known);
  }

  async list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    signal?.throwIfAborted();
    const rows = await this.#catalogue.look(effort);
    signal?.throwIfAborted();
    return rows;
  }

  async find(id: SessionId): Promise<SessionRef | undefined> {
    const place = await this.#catalogue.find(id);
    return place && { agent: this.agent, id, place };
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

  farCalls(ref: SessionRef): Promise<ReadonlyMap<Cursor, FarCall>> {
    return this.#chats.farCalls(placeOf(ref));
  }

  farCall(ref: SessionRef, pos: Cursor, mostBytes: number): Promise<Entry | undefined> {
    return this.#chats.farCall(placeOf(ref), pos, mostBytes);
  }

  /** A recording does not tell which sessions its agent started. */
  async children(ref: SessionRef): Promise<ChildList> {
    return { children: [], uses: [await this.#chats.stamp(placeOf(ref))], settled: true };
  }

  async child(): Promise<undefined> {
    return undefined;
  }

  totals(ref: SessionRef): Promise<Totals | undefined> {
    return this.#totals.totals(placeOf(ref));
  }

  rawEvents(ref: SessionRef, from: number | Cursor, limit: number): Promise<RawEventPage> {
    return this.#rawEvents.page(placeOf(ref), from, limit);
  }

  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void> {
    return this.#watcher.file(placeOf(ref).file, signal);
  }

  async *changes(signal: AbortSignal): AsyncGenerator<Change, void, undefined> {
    while (!signal.aborted) {
      await this.#catalogue.look("quick");
      const leaving = new AbortController();
      const leave = AbortSignal.any([signal, leaving.signal]);
      const roots = this.#catalogue.roots.map(({ real, sessions }) => real ?? sessions);
      const folders = this.#catalogue.watchWorthy(MOST_WATCHED);
      const sources = [
        ...roots.map((root) => named(this.#watcher.folder(root, leave))),
        ...folders.map((folder) => fixed(this.#watcher.folder(folder, leave), basename(folder))),
        this.#otherFolders(folders, leave),
        ...(this.#known === undefined ? [] : [unnamed(this.#known.changes(leave))]),
      ];
      try {
        // Something may have been written before all was watched.
        for (const folder of folders) this.#catalogue.touch(basename(folder));
        yield {};
        for await (const told of merged(sources)) {
          if (told === "watch anew") break;
          if (told !== undefined) this.#catalogue.touch(told);
          const id = sessionIdOf(told);
          yield id === undefined ? {} : { id };
        }
      } finally {
        leaving.abort();
      }
    }
  }

  /** Nothing in a recording proves that its session is live; those of which it is known otherwise are peers by that. */
  async live(): Promise<readonly LiveProof[]> {
    return [];
  }

  async report(): Promise<StoreReport> {
    const rows = await this.#catalogue.look("quick");
    const reasons = new Map<string, Skipped>();
    for (const { reason, path } of this.#catalogue.leftOut) {
      const held = reasons.get(reason);
      reasons.set(reason, { reason, count: (held?.count ?? 0) + 1, example: held?.example ?? path });
    }
    const { count, example } = this.#chats.badLines;
    const bad = example === undefined ? [] : [{ reason: "a line that is no record", count, example }];
    return {
      agent: this.agent,
      roots: this.#catalogue.roots.map(({ sessions, real, note }) => ({
        path: sessions,
        found: real !== undefined,
        ...(note !== undefined && { note }),
      })),
      sessions: rows.length,
      formats: rows.length === 0 ? [] : ["events.jsonl"],
      skipped: [...reasons.values(), ...bad],
    };
  }

  /** Tells when a look has found that other folders than `folders` are worth watching. */
  #otherFolders(folders: readonly string[], signal: AbortSignal): AsyncIterable<string | undefined> {
    const watched = new Set(folders);
    let leave: (() => void) | undefined;
    const told = new Subscription<string>(signal, () => leave?.());
    if (told.ended) return told;
    leave = this.#catalogue.afterLook(() => {
      const now = this.#catalogue.watchWorthy(MOST_WATCHED);
      if (now.some((folder) => !watched.has(folder))) told.tell("watch anew");
    });
    return told;
  }
}

/** The place in a reference that this store made. */
function placeOf(ref: SessionRef): RecordedPlace {
  return ref.place as RecordedPlace;
}

async function* named(source: AsyncIterable<string | undefined>): AsyncGenerator<string | undefined> {
  for await (const name of source) yield name;
}

async function* unnamed(source: AsyncIterable<void>): AsyncGenerator<undefined> {
  for await (const _ of source) yield undefined;
}

async function* fixed(source: AsyncIterable<string | undefined>, name: string): AsyncGenerator<string> {
  for await (const _ of source) yield name;
}
