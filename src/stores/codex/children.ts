import { Breather } from "../../platform/breather.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import type { FileStamp } from "../../platform/files.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import { CHILDREN, TITLE_CHARACTERS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { ChildEntry, ChildList, ChildStatus } from "../store.ts";
import type { Catalog, RolloutFile } from "./catalog.ts";
import type { Chains } from "./chain.ts";
import type { FileFacts, Rollouts } from "./facts.ts";
import { agentTitle, type Header, isSince } from "./header.ts";
import type { WriterLocks } from "./locks.ts";
import { clipTask, type Spawned, type SpawnedFinder } from "./spawned.ts";
import type { ThreadHints } from "./state-index.ts";
import { type LastTurn, lastTurn } from "./status.ts";

/** Rollouts that are looked at for children, the newest first. */
const MOST_ROLLOUTS = 20_000;
/** A child's id is made by its parent's process, so it is not older; this much for clocks that were set back, in ms. */
const CLOCK_SLACK_MS = 60_000;
/** How long a turn may write nothing and still count as running in a process that has the parent open, in ms. */
const QUIET_MS = 15 * 60 * 1000;

/** Finds the threads that other threads started, and how they stand. */
export class Children {
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #chains: Chains;
  readonly #clock: Clock;
  readonly #locks: (home: string) => WriterLocks;
  readonly #index: (home: string) => Promise<ThreadHints>;
  readonly #most: number;
  readonly #turns = new Map<string, { readonly stamp: FileStamp; readonly turn: LastTurn }>();

  constructor(
    catalog: Catalog,
    rollouts: Rollouts,
    chains: Chains,
    clock: Clock,
    locks: (home: string) => WriterLocks,
    index: (home: string) => Promise<ThreadHints>,
    most: number = MOST_ROLLOUTS,
  ) {
    this.#catalog = catalog;
    this.#rollouts = rollouts;
    this.#chains = chains;
    this.#clock = clock;
    this.#locks = locks;
    this.#index = index;
    this.#most = most;
  }

  /** The agents that `parent` spawned, newest first, at most `most`. Reviews and other helpers are none. */
  async list(parent: SessionId, most = CHILDREN): Promise<ChildList> {
    const found: { entry: ChildEntry; file: RolloutFile; facts: FileFacts }[] = [];
    let settled = true;
    for (const id of await this.threadsOf(parent, ["spawned"])) {
      const current = await this.#chains.current(id);
      const header = current?.facts.scan.header;
      if (current === undefined || header === undefined) continue;
      const { file } = current;
      const facts = (await this.#rollouts.facts(file)) ?? current.facts;
      const startedAt = header.startedAt ?? file.born ?? writtenAt(facts);
      const title = clip(oneLine(agentTitle(header, facts.scan.title)), TITLE_CHARACTERS).text;
      const entry = { id, title, status: "unknown" as const, startedAt, updatedAt: facts.lastAt ?? writtenAt(facts) };
      found.push({ entry, file, facts });
    }
    found.sort((a, b) => b.entry.startedAt - a.entry.startedAt || (a.entry.id < b.entry.id ? 1 : -1));
    const children: ChildEntry[] = [];
    const shown = found.slice(0, most);
    for (const { entry, file, facts } of shown) {
      const turn = await this.#turn(file, facts);
      // Whether an open turn goes on is told by a process, not by a file.
      if (turn === "open") settled = false;
      children.push({ ...entry, status: this.#status(turn, file, facts, parent) });
    }
    return { children, uses: [...shown.map(({ facts }) => facts.stamp), ...this.#catalog.growthStamps()], settled };
  }

  /** Whether `child` is an agent that `parent` itself spawned. */
  async isChild(parent: SessionId, child: SessionId): Promise<boolean> {
    const header = (await this.#chains.current(child))?.facts.scan.header;
    return header?.role === "spawned" && header.parent === parent;
  }

  /** How the last turn of a thread stands. */
  async turnOf(thread: SessionId): Promise<LastTurn> {
    const file = (await this.#chains.current(thread))?.file;
    const facts = file && (await this.#rollouts.facts(file));
    return file === undefined || facts === undefined ? "unknown" : this.#turn(file, facts);
  }

  /** The threads of the given roles that `parent` started, among the newest 20,000 rollouts, the newest first. */
  async threadsOf(parent: SessionId, roles: readonly Header["role"][]): Promise<SessionId[]> {
    const parentFile = this.#catalog.ofThread(parent)[0];
    // Ids without a time are older than the first children (0.101).
    if (parentFile?.born === undefined) return [];
    const files = this.#bornBetween(parentFile.born - CLOCK_SLACK_MS, Number.MAX_SAFE_INTEGER).reverse();
    const looked = files.slice(0, this.#most);
    // Beyond the bound the CLI's index may still name some; their headers decide as well.
    const beyond = files.length > this.#most ? (await this.#index(parentFile.home)).children.get(parent) : undefined;
    const hinted = beyond?.filter((id) => !looked.some(({ thread }) => thread === id)) ?? [];
    looked.push(...hinted.flatMap((id) => this.#catalog.ofThread(id)[0] ?? []));
    const threads: SessionId[] = [];
    const breather = new Breather();
    for (const file of looked) {
      await breather.pause();
      const header = await this.#header(file);
      if (header !== undefined && header.parent === parent && roles.includes(header.role)) threads.push(file.thread);
    }
    return threads;
  }

  /** Finds what the chat of `parent` shows of its agents. */
  finder(parent: SessionId): SpawnedFinder {
    const spawned = async (file: RolloutFile): Promise<Spawned | undefined> => {
      const header = await this.#header(file);
      if (header?.role !== "spawned" || header.parent !== parent) return undefined;
      const facts = await this.#rollouts.settled(file);
      const task = facts?.scan.firstWords;
      return {
        id: file.thread,
        title: agentTitle(header, task),
        firstAt: header.writtenAt ?? header.startedAt ?? file.born ?? (0 as EpochMs),
        ...(header.agentPath !== undefined && { path: header.agentPath }),
        ...(task !== undefined && { task: clipTask(task) }),
      };
    };
    return {
      between: async (from, to) => {
        const found: Spawned[] = [];
        for (const file of this.#bornBetween(from - CLOCK_SLACK_MS, to + CLOCK_SLACK_MS)) {
          const agent = await spawned(file);
          if (agent !== undefined && agent.firstAt >= from && agent.firstAt <= to) found.push(agent);
        }
        return found.sort((a, b) => a.firstAt - b.firstAt || (a.id < b.id ? -1 : 1));
      },
      byId: async (id) => {
        const current = await this.#chains.current(id);
        return current === undefined ? undefined : spawned(current.file);
      },
    };
  }

  /** One file of every thread whose id was made in this span, the oldest first. */
  #bornBetween(from: number, to: number): RolloutFile[] {
    const files: RolloutFile[] = [];
    for (const copies of this.#catalog.threads().values()) {
      const file = copies.find((copy) => copy.segment === copy.thread) ?? copies[0];
      if (file?.born !== undefined && file.born >= from && file.born <= to) files.push(file);
    }
    return files.sort((a, b) => (a.born ?? 0) - (b.born ?? 0) || (a.thread < b.thread ? -1 : 1));
  }

  /** A thread's header never changes, so a file that was read is not asked again. */
  async #header(file: RolloutFile): Promise<Header | undefined> {
    const known = this.#rollouts.known(file)?.scan.header;
    const header = known ?? (await this.#rollouts.facts(file))?.scan.header;
    return header?.id === file.thread ? header : undefined;
  }

  async #turn(file: RolloutFile, facts: FileFacts): Promise<LastTurn> {
    const known = this.#turns.get(file.path);
    if (known?.stamp === facts.stamp) return known.turn;
    const header = facts.scan.header;
    if (header === undefined) return "unknown";
    const readable = await this.#rollouts.readable(file);
    const start = readable?.scan.ownStart;
    const turn =
      start === undefined ? "unknown" : await this.#rollouts.open(file, (open) => lastTurn(open, start, header));
    this.#turns.set(file.path, { stamp: facts.stamp, turn });
    return turn;
  }

  #status(turn: LastTurn, file: RolloutFile, facts: FileFacts, parent: SessionId): ChildStatus {
    if (turn !== "open") return turn;
    const { known, held } = this.#locks(file.home);
    if (held.has(file.thread)) return "running";
    if (held.has(parent) && this.#clock.now() - writtenAt(facts) < QUIET_MS) return "running";
    // Locks are told apart since 0.149. Those of another system's home can't be seen from here.
    const header = facts.scan.header;
    return known && file.homeRank === 0 && header !== undefined && isSince(header, 149) ? "interrupted" : "unknown";
  }
}

/** When the file was last written. */
export function writtenAt({ stamp }: FileFacts): EpochMs {
  return Number(stamp.mtimeNs / 1_000_000n) as EpochMs;
}
