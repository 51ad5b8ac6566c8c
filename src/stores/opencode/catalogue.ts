import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { errorText } from "../../platform/failure.ts";
import { stampOf } from "../../platform/files.ts";
import type { SessionId } from "../../transcript/names.ts";
import { Looks } from "../looks.ts";
import type { ListEffort } from "../store.ts";
import { isThere } from "./children.ts";
import { DatabaseFile, isLasting, sameState } from "./database-file.ts";
import { type FileSession, FileSessions } from "./file-sessions.ts";
import type { OpenCodePlace } from "./place.ts";
import type { Problems } from "./problems.ts";
import type { OpenCodeRoot } from "./roots.ts";
import { readSessions, type SessionFacts, type SessionList } from "./session-list.ts";

/** A session that the catalogue holds. */
export interface KnownSession {
  readonly facts: SessionFacts;
  readonly place: OpenCodePlace;
}

/** A database, and what was read of it last. */
interface KnownDatabase {
  readonly file: DatabaseFile;
  list: SessionList | undefined;
  /** The list is to be read again even when the files seem the same. */
  young: boolean;
  /** Why it could not be read the last time; what was read before is still shown. */
  problem: string | undefined;
}

/** What a catalogue is made of. */
export interface CatalogueParts {
  readonly findRoots: () => Promise<readonly OpenCodeRoot[]>;
  readonly clock: Clock;
  readonly problems: Problems;
  /** A folder for private copies. */
  readonly scratch: string;
}

/** Every session of every root, read anew only where the files changed. */
export class Catalogue {
  readonly #parts: CatalogueParts;
  readonly #files: FileSessions;
  readonly #databases = new Map<string, KnownDatabase>();
  readonly #afterLook = new Set<() => void>();
  readonly #looks = new Looks<readonly KnownSession[]>((effort) => this.#look(effort));
  #roots: readonly OpenCodeRoot[] | undefined;
  #rootsTouched = false;
  #fileSessions: readonly FileSession[] = [];
  #sessions: ReadonlyMap<SessionId, KnownSession> = new Map();
  #listed: readonly KnownSession[] = [];
  /** The lists that the sessions were last put together from. */
  #mergedFrom: readonly unknown[] = [];
  #reads = 0;

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
    this.#files = new FileSessions(parts.problems);
  }

  /** The roots as they were last looked at; none before the first look. */
  get roots(): readonly OpenCodeRoot[] {
    return this.#roots ?? [];
  }

  /** The databases as they were last found, each with what is wrong with it. */
  get databases(): readonly {
    readonly file: DatabaseFile;
    readonly problem?: string | undefined;
    readonly stale: boolean;
  }[] {
    return [...this.#databases.values()].map(({ file, problem, list }) => ({
      file,
      problem,
      stale: list?.stale ?? false,
    }));
  }

  /** Times that a database's sessions were read, for tests that count work. */
  get reads(): number {
    return this.#reads;
  }

  /** The sessions as they were last listed, by id. */
  get sessions(): ReadonlyMap<SessionId, KnownSession> {
    return this.#sessions;
  }

  /** The sessions in JSON files, also those that a database has as well. */
  get fileSessions(): readonly FileSession[] {
    return this.#fileSessions;
  }

  /** A root's folder has changed: the next look finds out which databases there are. */
  touch(): void {
    this.#rootsTouched = true;
  }

  /** Calls `then` after every look; what is returned ends that. */
  afterLook(then: () => void): () => void {
    this.#afterLook.add(then);
    return () => this.#afterLook.delete(then);
  }

  /**
   * The sessions that are there now, each id once: a database's before a JSON file's, else the one written last. Looks come
   * one after another; who asks while one waits for its turn shares it.
   */
  look(effort: ListEffort): Promise<readonly KnownSession[]> {
    return this.#looks.take(effort);
  }

  /**
   * Where the session lies: as listed, else as the stores say now. @throws what reading a database throws that could be read
   * before: what never could be is no place where it may be.
   */
  async find(id: SessionId): Promise<OpenCodePlace | undefined> {
    const known = this.#sessions.get(id)?.place;
    if (known !== undefined) return known;
    if (this.#hasOtherRoots()) await this.#findRoots();
    let failed: { readonly error: unknown } | undefined;
    for (const { file, list } of this.#databases.values()) {
      try {
        const { value } = await file.read((rows, tables) => isThere(rows, tables, id));
        if (value) return { kind: "database", session: id, database: file };
      } catch (error) {
        if (list !== undefined) failed = { error };
      }
    }
    for (const storage of this.#storages()) {
      const found = await this.#files.find(storage, id);
      if (found !== undefined) return { kind: "files", session: id, file: found };
    }
    if (failed !== undefined) throw failed.error;
    return undefined;
  }

  async #look(effort: ListEffort): Promise<readonly KnownSession[]> {
    const sweep = effort === "sweep" || this.#roots === undefined;
    if (sweep || this.#hasOtherRoots()) await this.#findRoots();
    for (const database of this.#databases.values()) await this.#refresh(database);
    if (sweep) {
      const lists = await Promise.all(this.#storages().map((storage) => this.#files.list(storage)));
      this.#fileSessions = lists.flat();
    }
    this.#merge();
    for (const then of this.#afterLook) then();
    return this.#listed;
  }

  /** Whether the roots are to be looked for: a folder has changed, or one that was missing is there. */
  #hasOtherRoots(): boolean {
    if (this.#roots === undefined || this.#rootsTouched) return true;
    return this.#roots.some(({ path, real }) => real === undefined && stampOf(path) !== undefined);
  }

  async #findRoots(): Promise<void> {
    this.#rootsTouched = false;
    this.#roots = await this.#parts.findRoots();
    const paths = new Set(this.#roots.flatMap((root) => root.databases));
    for (const path of this.#databases.keys()) if (!paths.has(path)) this.#databases.delete(path);
    for (const path of paths) {
      if (this.#databases.has(path)) continue;
      const file = new DatabaseFile(path, this.#parts.scratch);
      this.#databases.set(path, { file, list: undefined, young: true, problem: undefined });
    }
  }

  /** Reads a database's sessions when its files changed. What can't be read now keeps what was read before. */
  async #refresh(database: KnownDatabase): Promise<void> {
    const { file, list } = database;
    if (list !== undefined && !database.young && sameState(list.state, file.state())) return;
    const now = this.#parts.clock.now();
    try {
      this.#reads++;
      database.list = await readSessions(file, list, this.#parts.problems);
      database.young = !isLasting(database.list.state, now);
      database.problem = undefined;
    } catch (error) {
      database.young = true;
      database.problem = errorText(error);
    }
  }

  #storages(): string[] {
    return this.roots.flatMap(({ real }) => (real === undefined ? [] : [join(real, "storage")]));
  }

  /** Lists the sessions of every source anew when one of these lists is another. */
  #merge(): void {
    const sources = [...[...this.#databases.values()].map(({ list }) => list), this.#fileSessions];
    const isSame = sources.length === this.#mergedFrom.length && sources.every((one, i) => one === this.#mergedFrom[i]);
    if (isSame) return;
    this.#sessions = this.#merged();
    this.#listed = [...this.#sessions.values()];
    this.#mergedFrom = sources;
  }

  /** What has not changed stays the same object. */
  #merged(): Map<SessionId, KnownSession> {
    const sessions = new Map<SessionId, KnownSession>();
    const add = (facts: SessionFacts, place: () => OpenCodePlace): void => {
      const before = this.#sessions.get(facts.id);
      sessions.set(facts.id, before?.facts === facts ? before : { facts, place: place() });
    };
    for (const { file, list } of this.#databases.values()) {
      for (const facts of list?.sessions.values() ?? []) {
        const other = sessions.get(facts.id);
        if (other !== undefined && other.facts.updatedAt >= facts.updatedAt) continue;
        add(facts, () => ({ kind: "database", session: facts.id, database: file }));
      }
    }
    for (const file of this.#fileSessions) {
      if (sessions.has(file.facts.id)) continue;
      add(file.facts, () => ({ kind: "files", session: file.facts.id, file }));
    }
    return sessions;
  }
}
