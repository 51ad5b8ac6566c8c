import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { stampOf } from "../../platform/files.ts";
import { systemTimer, type Timer } from "../../platform/timer.ts";
import type { Watcher } from "../../platform/watch.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import type { SessionId } from "../../transcript/names.ts";
import { frozenRow } from "../frozen-row.ts";
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
  Skipped,
  Store,
  StoreReport,
  Totals,
} from "../store.ts";
import { Catalogue, type KnownSession } from "./catalogue.ts";
import { chatWatch } from "./chat-watch.ts";
import { homeOf } from "./folder-name.ts";
import { LiveRegistry, type ProcessProof, systemProcesses } from "./live-registry.ts";
import type { ClaudePlace } from "./place.ts";
import { isClaudeSession } from "./project-folders.ts";
import { claudeRoots } from "./roots.ts";
import { type ListingWork, noWork } from "./session-file.ts";
import { storeChanges } from "./store-changes.ts";
import { storeReport } from "./store-report.ts";
import { type LinesRead, TotalsCounter } from "./totals.ts";

/** Reads the chats of sessions and of their agents. */
export interface ClaudeChatReader {
  entries(place: ClaudePlace, from: Cursor, budget: Budget): Promise<EntryPage>;
  before(place: ClaudePlace, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore>;
  record(place: ClaudePlace, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]>;
  children(place: ClaudePlace, most?: number): Promise<ChildList>;
  child(place: ClaudePlace, id: SessionId): Promise<ClaudePlace | undefined>;
  /** What was left out of the chats that were read, by reason. */
  skipped(): readonly Skipped[];
}

/** Is shown the lines of each page that is read forward. */
export type Counter = (place: ClaudePlace, lines: LinesRead) => void;

/** What the store of Claude Code is made with. */
export interface ClaudeStoreParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Folders to look in besides the CLI's own (`stores.claude` of the configuration). */
  readonly extraRoots: readonly string[];
  /**
   * Makes the reader of chats, which asks whether a session is live to tell a running agent from one that was killed, and shows
   * `counter` what it reads.
   */
  chats(isLive: (session: SessionId) => boolean, counter: Counter): ClaudeChatReader;
  /** Counts what listing costs. */
  readonly work?: ListingWork;
  /** What stands in for the machine, in tests. */
  readonly processes?: ProcessProof;
  readonly timer?: Timer;
}

/** The history of Claude Code on this machine. */
export class ClaudeStore implements Store {
  readonly agent = "claude";
  readonly #parts: ClaudeStoreParts;
  readonly #registry: LiveRegistry;
  readonly #catalogue: Catalogue;
  readonly #chats: ClaudeChatReader;
  readonly #totals = new TotalsCounter();
  readonly #rows = new WeakMap<KnownSession, Listed>();
  /** The rows of sessions that are at work, as they were last told. */
  readonly #liveRows = new WeakMap<KnownSession, Listed>();

  constructor(parts: ClaudeStoreParts) {
    this.#parts = parts;
    const registry = new LiveRegistry(parts.clock, parts.processes ?? systemProcesses(parts.environment.platform));
    const findRoots = async () => {
      const roots = await claudeRoots(parts.environment, parts.extraRoots);
      registry.lookIn(roots.map((root) => join(root.config, "sessions")));
      return roots;
    };
    this.#registry = registry;
    this.#catalogue = new Catalogue(findRoots, parts.clock, parts.work ?? noWork());
    const isLive = (session: SessionId): boolean => registry.live().some((proof) => proof.id === session);
    this.#chats = parts.chats(isLive, (place, lines) => this.#totals.follow(place, lines));
  }

  async list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    signal?.throwIfAborted();
    const sessions = await this.#catalogue.look(effort);
    signal?.throwIfAborted();
    const live = new Map(this.#registry.live().map((proof) => [proof.id, proof]));
    return sessions.map((session) => this.#row(session, live.get(session.id)));
  }

  async newest(start: string, most: number): Promise<readonly Listed[]> {
    return (await this.#catalogue.newest(start, most)).map((session) => this.#row(session, undefined));
  }

  async find(id: SessionId): Promise<SessionRef | undefined> {
    const place = isClaudeSession(id) ? await this.#catalogue.find(id) : undefined;
    return place && { agent: this.agent, id, place };
  }

  async unlisted(ref: SessionRef): Promise<Listed | undefined> {
    const session = this.#catalogue.unlisted(placeOf(ref));
    const live = this.#registry.live().find((proof) => proof.id === ref.id);
    return session && this.#row(session, live);
  }

  entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    return this.#at(ref, async (place) => this.#withCopies(ref, await this.#chats.entries(place, from, budget)));
  }

  before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    return this.#at(ref, async (place) => this.#withCopies(ref, await this.#chats.before(place, before, budget)));
  }

  record(ref: SessionRef, pos: Cursor, mostBytes?: number): Promise<readonly Entry[]> {
    return this.#at(ref, (place) => this.#chats.record(place, pos, mostBytes));
  }

  children(ref: SessionRef, most?: number): Promise<ChildList> {
    return this.#at(ref, (place) => this.#chats.children(place, most));
  }

  async child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    const place = await this.#at(ref, (parent) => this.#chats.child(parent, id));
    return place && { agent: this.agent, id: ref.id, child: id, place, standsOn: [place.mainFile] };
  }

  totals(ref: SessionRef): Promise<Totals | undefined> {
    return this.#totals.totals(placeOf(ref));
  }

  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void> {
    const { watcher, timer = systemTimer } = this.#parts;
    const moved = (): Promise<ClaudePlace | undefined> => this.#placeNow(ref);
    const copied = (then: () => void): (() => void) =>
      this.#catalogue.afterLook(() => {
        if (this.#hasCopies(ref)) then();
      });
    return chatWatch(placeOf(ref), ref.child !== undefined, { watcher, timer, moved, copied }, signal);
  }

  changes(signal: AbortSignal): AsyncIterable<Change> {
    return storeChanges(this.#catalogue, this.#registry, this.#parts.watcher, signal);
  }

  async live(): Promise<readonly LiveProof[]> {
    if (this.#catalogue.roots === undefined) await this.#catalogue.look("quick");
    return this.#registry.live();
  }

  async report(): Promise<StoreReport> {
    const sessions = await this.#catalogue.look("quick");
    return storeReport({
      roots: this.#catalogue.roots ?? [],
      sessions,
      leftOut: this.#catalogue.leftOut,
      uncounted: this.#totals.unread,
      unshown: this.#chats.skipped(),
    });
  }

  #row(session: KnownSession, live: LiveProof | undefined): Listed {
    const held = this.#rows.get(session) ?? frozenRow(rowOf(session, this.#parts.environment.platform));
    this.#rows.set(session, held);
    if (live === undefined) return held;
    const { pid, activity } = live;
    const before = this.#liveRows.get(session);
    if (before?.live?.pid === pid && before.live.activity === activity) return before;
    const row = frozenRow({ ...held, live: { pid, ...(activity !== undefined && { activity }) } });
    this.#liveRows.set(session, row);
    return row;
  }

  /** Where a session lies in several folders, a page depends on all of them: the one written last is read. */
  #withCopies<P extends EntryPage | EntryPageBefore>(ref: SessionRef, page: P): P {
    const copies = this.#catalogue.copiesOf(ref.id).filter((file) => page.uses.every(({ path }) => path !== file));
    return copies.length === 0
      ? page
      : { ...page, uses: [...page.uses, ...copies.flatMap((file) => stampOf(file) ?? [])] };
  }

  /**
   * Reads at the place of `ref`; when nothing is there any more, where the session has moved to since. One that lies in
   * several folders is read where it was written last by now, however long `ref` has been followed.
   */
  async #at<T>(ref: SessionRef, read: (place: ClaudePlace) => Promise<T>): Promise<T> {
    const place = (this.#hasCopies(ref) ? await this.#placeNow(ref) : undefined) ?? placeOf(ref);
    try {
      return await read(place);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "not-found") throw error;
      const now = await this.#placeNow(ref);
      if (now === undefined || now.file === place.file) throw error;
      return await read(now);
    }
  }

  #hasCopies(ref: SessionRef): boolean {
    return this.#catalogue.copiesOf(placeOf(ref).session).length > 0;
  }

  async #placeNow(ref: SessionRef): Promise<ClaudePlace | undefined> {
    const main = await this.#catalogue.find(placeOf(ref).session);
    return main === undefined || ref.child === undefined ? main : await this.#chats.child(main, ref.child);
  }
}

/** The place in a reference that this store made. */
function placeOf(ref: SessionRef): ClaudePlace {
  return ref.place as ClaudePlace;
}

function rowOf({ id, project, stamp, facts }: KnownSession, platform: NodeJS.Platform): Listed {
  const { title, cwd, branch, startedAt, updatedAt, model } = facts;
  const home = homeOf(project, facts.cwds, platform) ?? facts.cwds[0];
  return {
    agent: "claude",
    id,
    title,
    cwd,
    ...(branch !== undefined && { branch }),
    startedAt,
    updatedAt,
    bytes: stamp.size,
    ...(model !== undefined && { model }),
    ...(home !== undefined && { resume: { command: ["claude", "--resume", id], cwd: home } }),
  };
}
