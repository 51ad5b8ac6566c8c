import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import { makePrivateFolder } from "../../platform/private-folder.ts";
import type { SqliteDatabase, SqliteRow } from "../../sqlite/database.ts";
import { readDatabase } from "../../sqlite/read.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";

/** What Codex's own index of threads says. A hint: whatever is taken from it is checked against the rollouts. */
export interface ThreadHints {
  /** Names that threads were given (`threads.name`, migration 41 and newer). */
  readonly names: ReadonlyMap<string, string>;
  /** The agents that a thread spawned (`thread_spawn_edges`, migration 21 and newer). */
  readonly children: ReadonlyMap<string, readonly SessionId[]>;
}

/** What an index that is missing, locked or foreign says. */
export const NO_HINTS: ThreadHints = { names: new Map(), children: new Map() };

/** How long an index that may have changed is believed, in ms: a running Codex changes it with every turn. */
const FRESH_MS = 10_000;

interface Read {
  readonly path: string;
  readonly main: FileStamp;
  readonly wal: FileStamp | undefined;
  readonly at: number;
  readonly hints: ThreadHints;
  /** The time of the newest thread, which tells the copy in use from one that was left behind. */
  readonly newest: number;
  readonly problem?: string;
}

/**
 * `state_<n>.sqlite` of a Codex home (0.107 and newer), read without leaving a trace. Desktop installs keep it in `sqlite/`,
 * sometimes besides a stale one in the home itself: the one that knows the newest thread counts.
 */
export class StateIndex {
  readonly #folders: readonly string[];
  readonly #scratch: string;
  readonly #clock: Clock;
  readonly #read = new Map<string, Read>();
  #reading: Promise<ThreadHints> | undefined;

  /** `folders`: where the index may lie. `scratch`: a folder of ours for private copies. */
  constructor(folders: readonly string[], scratch: string, clock: Clock) {
    this.#folders = folders;
    this.#scratch = scratch;
    this.#clock = clock;
  }

  /** What it says now, or said a few seconds ago. Never fails: without an index there are no hints. */
  hints(): Promise<ThreadHints> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Why an index that is there can't be used. */
  get problems(): readonly string[] {
    return [...this.#read.values()].flatMap(({ path, problem }) =>
      problem === undefined ? [] : `${basename(path)}: ${problem}`,
    );
  }

  async #readAll(): Promise<ThreadHints> {
    const paths = this.#folders.flatMap((folder) => newestIndex(folder) ?? []);
    for (const path of this.#read.keys()) if (!paths.includes(path)) this.#read.delete(path);
    let best: Read | undefined;
    for (const path of paths) {
      const read = await this.#one(path);
      if (read !== undefined && (best === undefined || read.newest > best.newest)) best = read;
    }
    return best?.hints ?? NO_HINTS;
  }

  async #one(path: string): Promise<Read | undefined> {
    const [main, wal] = [stampOf(path), stampOf(`${path}-wal`)];
    if (main === undefined) return undefined;
    const known = this.#read.get(path);
    const now = this.#clock.now();
    if (known !== undefined && (isSame(known.main, main, known.wal, wal) || now - known.at < FRESH_MS)) return known;
    const read = { path, main, wal, at: now, ...(await hintsIn(path, this.#scratch)) };
    this.#read.set(path, read);
    return read;
  }
}

async function hintsIn(path: string, scratch: string): Promise<Pick<Read, "hints" | "newest" | "problem">> {
  try {
    makePrivateFolder(scratch);
    // A hint is not worth waiting for: a database that is busy is asked again later.
    const { value } = await readDatabase(path, { scratch, patienceMs: 100 }, read);
    return value;
  } catch (error) {
    return { hints: NO_HINTS, newest: -1, problem: error instanceof Error ? error.message : "can't be read" };
  }
}

/** One synchronous step; only columns that are there. */
function read(database: SqliteDatabase): Pick<Read, "hints" | "newest"> {
  const threads = database.columns("threads");
  const edges = database.columns("thread_spawn_edges");
  const names = new Map<string, string>();
  const children = new Map<string, SessionId[]>();
  if (threads.has("name")) {
    for (const row of database.all("SELECT id, name FROM threads WHERE name <> ''")) {
      names.set(String(row.id), String(row.name));
    }
  }
  if (edges.has("parent_thread_id") && edges.has("child_thread_id")) {
    for (const row of database.all(
      "SELECT parent_thread_id AS parent, child_thread_id AS child FROM thread_spawn_edges",
    )) {
      const child = sessionIdOf(row.child);
      if (child !== undefined) children.set(String(row.parent), [...(children.get(String(row.parent)) ?? []), child]);
    }
  }
  const time = threads.has("updated_at_ms")
    ? "updated_at_ms"
    : threads.has("updated_at")
      ? "updated_at * 1000"
      : "NULL";
  const newest = threads.size === 0 ? undefined : database.first(`SELECT MAX(${time}) AS newest FROM threads`);
  return { hints: { names, children }, newest: numberOf(newest?.newest) };
}

function numberOf(value: SqliteRow[string] | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** The index with the highest number in a folder: older ones are left behind by upgrades. */
function newestIndex(folder: string): string | undefined {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  const numbers = names.flatMap((name) => /^state_(\d{1,6})\.sqlite$/.exec(name)?.[1] ?? []).map(Number);
  return numbers.length === 0 ? undefined : join(folder, `state_${Math.max(...numbers)}.sqlite`);
}

function isSame(a: FileStamp, b: FileStamp, walA: FileStamp | undefined, walB: FileStamp | undefined): boolean {
  if (!sameStamp(a, b)) return false;
  return walA === undefined || walB === undefined ? walA === walB : sameStamp(walA, walB);
}
