import { join, resolve } from "node:path";
import { BytePool, PageBuffers } from "../../jsonl/buffers.ts";
import { Continuity } from "../../jsonl/continuity.ts";
import type { Clock } from "../../platform/clock.ts";
import { cacheFolder, type Environment } from "../../platform/environment.ts";
import { Failure } from "../../platform/failure.ts";
import { asObject } from "../../platform/read.ts";
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
  ListEffort,
  Listed,
  LiveProof,
  SessionRef,
  Store,
  StoreReport,
  Totals,
} from "../store.ts";
import { Catalog } from "./catalog.ts";
import { type Chain, Chains } from "./chain.ts";
import { type ChatTools, readBefore, readEntries, readRecord } from "./chat.ts";
import { Children } from "./children.ts";
import { Counting } from "./counting.ts";
import { Rewritten, Rollouts } from "./facts.ts";
import { type FollowTools, followStore, followThread } from "./following.ts";
import { Listing } from "./listing.ts";
import { systemLocks, type WriterLocks, writerLocks } from "./locks.ts";
import { PageModels } from "./page-memory.ts";
import { NO_HINTS, StateIndex, type ThreadHints } from "./state-index.ts";
import { ThreadNames } from "./thread-names.ts";
import { Unpacker } from "./unpack.ts";
import { NO_WORK, type Work } from "./work.ts";

/** What the Codex store needs from outside. */
export interface CodexOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Further Codex homes (a container's, another user's). */
  readonly extraRoots?: readonly string[];
  /** Where unpacked rollouts are kept; `cache` in our own home by default. */
  readonly cacheFolder?: string;
  readonly work?: Work;
  /** How many rollouts are looked at for children; 20,000 by default. */
  readonly childRollouts?: number;
  /** The system's table of held locks. */
  readonly locks?: () => string | undefined;
}

/** How long the system's table of locks is believed, in ms. */
const LOCKS_MS = 250;
/** A file that is written anew again and again is given up after so many reads. */
const READ_TRIES = 3;

/** The history of Codex CLI, 0.20 to 0.171: rollouts below `CODEX_HOME` or `~/.codex`. */
export class CodexStore implements Store {
  readonly agent = "codex" as const;
  readonly #clock: Clock;
  readonly #work: Work;
  readonly #homes: readonly string[];
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #chains: Chains;
  readonly #children: Children;
  readonly #listing: Listing;
  readonly #counting: Counting;
  readonly #follow: FollowTools;
  readonly #buffers = new PageBuffers();
  readonly #pool = new BytePool();
  readonly #models = new PageModels();
  readonly #continuity = new Continuity();
  readonly #lockTable: () => string | undefined;
  readonly #locks = new Map<string, { readonly at: number; readonly locks: WriterLocks }>();

  constructor(options: CodexOptions) {
    const { environment, clock, watcher, extraRoots = [], work = NO_WORK } = options;
    const home = environment.variable("CODEX_HOME") ?? join(environment.home, ".codex");
    this.#clock = clock;
    this.#work = work;
    this.#homes = [...new Set([home, ...extraRoots].map((path) => resolve(path)))];
    this.#lockTable = options.locks ?? systemLocks;
    const locks = (of: string): WriterLocks => this.#locksOf(of);
    const cache = options.cacheFolder ?? cacheFolder(environment);
    const databases = environment.variable("CODEX_SQLITE_HOME");
    const states = new Map(
      this.#homes.map((path, rank) => {
        const folders = [path, join(path, "sqlite"), ...(rank === 0 && databases !== undefined ? [databases] : [])];
        return [path, new StateIndex(folders, join(cache, "codex"), clock)];
      }),
    );
    const index = async (of: string): Promise<ThreadHints> => states.get(of)?.hints() ?? NO_HINTS;
    this.#catalog = new Catalog(this.#homes, clock, work);
    this.#rollouts = new Rollouts(new Unpacker(cache, work), work);
    this.#chains = new Chains(this.#catalog, this.#rollouts);
    this.#children = new Children(
      this.#catalog,
      this.#rollouts,
      this.#chains,
      clock,
      locks,
      index,
      options.childRollouts,
    );
    this.#counting = new Counting(this.#catalog, this.#rollouts, this.#children);
    this.#listing = new Listing({
      homes: this.#homes,
      catalog: this.#catalog,
      rollouts: this.#rollouts,
      children: this.#children,
      names: new Map(this.#homes.map((path) => [path, new ThreadNames(path)])),
      index,
      indexProblems: (of) => states.get(of)?.problems ?? [],
      origin: (of) => {
        if (of !== resolve(home)) return "from config.json";
        return environment.variable("CODEX_HOME") === undefined ? undefined : "from CODEX_HOME";
      },
      locks,
    });
    this.#follow = { homes: this.#homes, catalog: this.#catalog, chains: this.#chains, watcher };
  }

  list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    return this.#listing.list(effort, signal);
  }

  newest(start: string, most: number): Promise<readonly Listed[]> {
    return this.#listing.newest(start, most);
  }

  async find(id: SessionId): Promise<SessionRef | undefined> {
    await this.#catalog.refresh("quick");
    if (this.#catalog.ofThread(id).length === 0) await this.#catalog.refresh("sweep");
    if ((await this.#chains.current(id)) === undefined) return undefined;
    return { agent: "codex", id, place: { thread: id } };
  }

  async entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    return this.#read(ref, async (chain) => {
      const page = await readEntries(chain, from, budget, this.#tools(chain));
      return { ...page, uses: [...page.uses, ...this.#growth(chain)] };
    });
  }

  async before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    return this.#read(ref, async (chain) => {
      const page = await readBefore(chain, before, budget, this.#tools(chain));
      return { ...page, uses: [...page.uses, ...this.#growth(chain)] };
    });
  }

  async record(ref: SessionRef, pos: Cursor, mostBytes = UNCUT_RECORD_BYTES): Promise<readonly Entry[]> {
    return this.#read(ref, (chain) => readRecord(chain, pos, mostBytes, this.#tools(chain)));
  }

  async children(ref: SessionRef, most?: number): Promise<ChildList> {
    const thread = threadOf(ref);
    await this.#catalog.refresh("quick");
    if ((await this.#chains.current(thread)) === undefined) throw new Failure("not-found", "no such transcript");
    return this.#children.list(thread, most);
  }

  async child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    await this.#catalog.refresh("quick");
    if (!(await this.#children.isChild(threadOf(ref), id))) return undefined;
    const parent = await this.#chains.current(threadOf(ref));
    return { agent: "codex", id: ref.id, child: id, place: { thread: id }, standsOn: parent ? [parent.file.path] : [] };
  }

  async totals(ref: SessionRef): Promise<Totals | undefined> {
    await this.#catalog.refresh("quick");
    return this.#counting.totals(threadOf(ref));
  }

  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void> {
    return followThread(threadOf(ref), this.#follow, signal);
  }

  changes(signal: AbortSignal): AsyncIterable<Change> {
    return followStore(this.#follow, (thread) => this.#listing.noteChange(thread), signal);
  }

  async live(): Promise<readonly LiveProof[]> {
    await this.#catalog.refresh("quick");
    return this.#listing.live();
  }

  async report(): Promise<StoreReport> {
    await this.#listing.list("quick");
    return this.#listing.report();
  }

  /** Reads by the chain as it is now, and once more where a file of it was written anew since its head was read. */
  async #read<T>(ref: SessionRef, read: (chain: Chain) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await read(await this.#chain(ref));
      } catch (error) {
        if (!(error instanceof Rewritten)) throw error;
        if (tries === READ_TRIES) throw new Failure("not-found", "the transcript is being rewritten; try again", error);
      }
    }
  }

  /** The chain as it is now; a thread whose file moved is looked for once more. @throws Failure not-found */
  async #chain(ref: SessionRef): Promise<Chain> {
    const thread = threadOf(ref);
    await this.#catalog.refresh("quick");
    let chain = await this.#chains.of(thread);
    if (chain === undefined) {
      await this.#catalog.refresh("sweep");
      chain = await this.#chains.of(thread);
    }
    if (chain === undefined) throw new Failure("not-found", "no such transcript");
    return chain;
  }

  #tools(chain: Chain): ChatTools {
    const spawned = this.#children.finder(chain.thread);
    const [rollouts, clock, work] = [this.#rollouts, this.#clock, this.#work];
    const [buffers, pool, models, continuity] = [this.#buffers, this.#pool, this.#models, this.#continuity];
    return { rollouts, clock, work, buffers, pool, models, continuity, spawned };
  }

  /** A revert leaves the file that was read as it is and adds another, which a new file's folder tells. */
  #growth(chain: Chain): ReturnType<Catalog["growthStamps"]> {
    return chain.own.header.paginated ? this.#catalog.growthStamps() : [];
  }

  #locksOf(home: string): WriterLocks {
    const known = this.#locks.get(home);
    const now = this.#clock.now();
    if (known !== undefined && now - known.at >= 0 && now - known.at < LOCKS_MS) return known.locks;
    const locks = writerLocks(home, this.#lockTable());
    this.#locks.set(home, { at: now, locks });
    return locks;
  }
}

function threadOf({ place }: SessionRef): SessionId {
  const thread = sessionIdOf(asObject(place)?.thread);
  if (thread === undefined) throw new Failure("not-found", "no such transcript");
  return thread;
}
