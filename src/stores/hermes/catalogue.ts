import { Breather } from "../../platform/breather.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, stampOf } from "../../platform/files.ts";
import { asNumber } from "../../platform/read.ts";
import type { SqliteDatabase } from "../../sqlite/database.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { Looks } from "../looks.ts";
import type { ListEffort, Listed, Skipped } from "../store.ts";
import type { HermesPlace } from "./chats.ts";
import { isUnchanged, readHermes } from "./database.ts";
import { type Conversation, type Conversations, conversationsOf, firstOf } from "./lineage.ts";
import type { HermesRoot } from "./roots.ts";
import { canAskMessages, firstPrompt, readSessions } from "./sessions.ts";

/** What listing costs, counted. */
export interface ListingWork {
  /** Databases that were read. */
  reads: number;
}

/** First prompts that one look asks for at most, for sessions without a title; the others follow in the next looks. */
const PROMPTS_AT_ONCE = 500;

/** What is known of one database. */
interface Shelf {
  readonly root: HermesRoot;
  uses: readonly FileStamp[];
  /** Its contents may be older than what is on disk. */
  stale: boolean;
  conversations: Conversations | undefined;
  readonly prompts: Map<string, string>;
  rows: readonly Listed[];
  skipped: readonly Skipped[];
  schema: string | undefined;
  problem: string | undefined;
  /** Titles are still to be asked for. */
  unfinished: boolean;
}

/** The conversations in the databases of all roots, each database read again only when its files have changed. */
export class Catalogue {
  readonly #findRoots: () => readonly HermesRoot[];
  readonly #home: string;
  readonly #work: ListingWork;
  #shelves: readonly Shelf[] = [];
  #roots: readonly HermesRoot[] = [];
  #looked = false;
  #rows: readonly Listed[] = [];
  #twins: Skipped | undefined;
  readonly #looks = new Looks<readonly Listed[]>((effort) => this.#look(effort));

  /** `home` is where a session is gone on with whose folder is not known. */
  constructor(findRoots: () => readonly HermesRoot[], home: string, work: ListingWork) {
    this.#findRoots = findRoots;
    this.#home = home;
    this.#work = work;
  }

  get roots(): readonly HermesRoot[] {
    return this.#roots;
  }

  /** The versions of the schema that the databases state. */
  get schemas(): readonly string[] {
    return [...new Set(this.#shelves.flatMap(({ schema }) => schema ?? []))];
  }

  /** What is there and not listed, or not known to be whole. */
  get skipped(): readonly Skipped[] {
    const all = this.#shelves.flatMap(({ root, problem, stale, skipped }) => [
      ...skipped,
      ...(problem === undefined ? [] : [{ reason: problem, count: 1, example: root.database }]),
      ...(stale
        ? [{ reason: "its newest changes can't be read without writing", count: 1, example: root.database }]
        : []),
    ]);
    return this.#twins === undefined ? all : [...all, this.#twins];
  }

  /** The sessions; a sweep looks for databases anew, a quick look asks those that are known. */
  look(effort: ListEffort): Promise<readonly Listed[]> {
    return this.#looks.take(effort);
  }

  /** Where the conversation lies that the session `id` is, or was, part of; and the id that it has now. */
  async find(id: SessionId): Promise<{ readonly id: SessionId; readonly place: HermesPlace } | undefined> {
    await this.look(this.#looked ? "quick" : "sweep");
    let newest: Conversation["newest"] | undefined;
    let found: { readonly id: SessionId; readonly place: HermesPlace } | undefined;
    for (const { root, conversations } of this.#shelves) {
      const there = conversations?.of(id)?.newest;
      const now = sessionIdOf(there?.id);
      if (there === undefined || now === undefined || (newest && newest.updatedAt >= there.updatedAt)) continue;
      newest = there;
      found = { id: now, place: { database: root.database, session: id } };
    }
    return found;
  }

  async #look(effort: ListEffort): Promise<readonly Listed[]> {
    const appeared = this.#roots.some(({ database, found }) => !found && stampOf(database) !== undefined);
    if (effort === "sweep" || !this.#looked || appeared) {
      this.#roots = this.#findRoots();
      const held = new Map(this.#shelves.map((shelf) => [shelf.root.database, shelf]));
      this.#shelves = this.#roots
        .filter(({ found }) => found)
        .map((root) => ({ ...(held.get(root.database) ?? emptyShelf(root)), root }));
      this.#looked = true;
    }
    const breather = new Breather();
    for (const shelf of this.#shelves) {
      await this.#refresh(shelf);
      await breather.pause();
    }
    const rows = this.#distinct();
    const same = rows.length === this.#rows.length && rows.every((row, index) => row === this.#rows[index]);
    if (!same) this.#rows = rows;
    return this.#rows;
  }

  async #refresh(shelf: Shelf): Promise<void> {
    const known = shelf.conversations !== undefined && !shelf.stale && !shelf.unfinished;
    if (known && shelf.problem === undefined && isUnchanged(shelf.uses)) return;
    this.#work.reads++;
    try {
      const read = await readHermes(shelf.root.database, (database) => contentsOf(database, shelf.prompts));
      const { conversations, schema, unfinished } = read.value;
      Object.assign(shelf, {
        uses: read.uses,
        stale: read.stale,
        conversations,
        schema,
        unfinished,
        problem: undefined,
      });
      this.#makeRows(shelf, conversations);
    } catch (error) {
      // What was listed of it before stays: a database that is locked for a moment has not lost its sessions.
      shelf.problem = error instanceof Failure ? error.message : "the database is of a form that is not known";
      if (!(error instanceof Failure) || error.kind !== "not-found") return;
      Object.assign(shelf, { conversations: undefined, rows: [], skipped: [], uses: [] });
    }
  }

  #makeRows(shelf: Shelf, conversations: Conversations): void {
    const before = new Map(shelf.rows.map((row) => [row.id, row]));
    const empty: string[] = [];
    const unnamed: string[] = [];
    const rows: Listed[] = [];
    for (const conversation of conversations.all) {
      const id = sessionIdOf(conversation.newest.id);
      if (id === undefined) unnamed.push(conversation.newest.id);
      else if (conversation.sessions.every(({ isEmpty }) => isEmpty)) empty.push(id);
      else rows.push(kept(before.get(id), this.#row(shelf, conversation, conversations, id)));
    }
    shelf.rows = rows;
    shelf.skipped = [
      ...reason("a session without messages", empty),
      ...reason("an id that can't be asked for", unnamed),
    ];
  }

  #row(shelf: Shelf, conversation: Conversation, conversations: Conversations, id: SessionId): Listed {
    const { sessions, newest, delegatedBy } = conversation;
    const last = <T>(of: (session: Conversation["newest"]) => T | undefined): T | undefined =>
      sessions
        .toReversed()
        .map(of)
        .find((value) => value !== undefined);
    const first = firstOf(conversation);
    const cwd = last((session) => session.cwd);
    const branch = last((session) => session.branch);
    const model = last((session) => session.model);
    const parent =
      delegatedBy === undefined ? undefined : sessionIdOf(conversations.of(delegatedBy)?.newest.id ?? delegatedBy);
    const command = resumeCommand(shelf.root, id);
    return Object.freeze({
      agent: "hermes",
      id,
      title: last((session) => session.title) ?? shelf.prompts.get(first.id) ?? id,
      cwd: cwd ?? "",
      ...(branch !== undefined && { branch }),
      startedAt: first.startedAt,
      updatedAt: newest.updatedAt,
      ...(model !== undefined && { model }),
      ...(parent !== undefined && { parent }),
      ...(command !== undefined && parent === undefined && { resume: { command, cwd: cwd ?? this.#home } }),
    });
  }

  /** Every session once: of two databases that hold one id, the one in which it was written last counts. */
  #distinct(): Listed[] {
    const rows = new Map<SessionId, Listed>();
    const twins: string[] = [];
    for (const shelf of this.#shelves) {
      for (const row of shelf.rows) {
        const other = rows.get(row.id);
        if (other !== undefined) twins.push(row.id);
        if (other === undefined || row.updatedAt > other.updatedAt) rows.set(row.id, row);
      }
    }
    this.#twins = reason("an older copy of a session in another database", twins)[0];
    return [...rows.values()];
  }
}

function emptyShelf(root: HermesRoot): Shelf {
  return {
    root,
    uses: [],
    stale: false,
    conversations: undefined,
    prompts: new Map(),
    rows: [],
    skipped: [],
    schema: undefined,
    problem: undefined,
    unfinished: false,
  };
}

/** What a list shows of a database; first prompts that were found are kept in `prompts`. */
function contentsOf(
  database: SqliteDatabase,
  prompts: Map<string, string>,
): { conversations: Conversations; schema: string | undefined; unfinished: boolean } {
  const conversations = conversationsOf(readSessions(database, true));
  let left = canAskMessages(database) ? PROMPTS_AT_ONCE : -1;
  for (const conversation of conversations.all) {
    const first = firstOf(conversation);
    const isTitled = conversation.sessions.some(({ title }) => title !== undefined);
    if (left < 0 || isTitled || first.isEmpty || prompts.has(first.id)) continue;
    if (left-- === 0) return { conversations, schema: schemaOf(database), unfinished: true };
    const prompt = firstPrompt(database, first.id);
    if (prompt !== undefined) prompts.set(first.id, prompt);
  }
  return { conversations, schema: schemaOf(database), unfinished: false };
}

function schemaOf(database: SqliteDatabase): string | undefined {
  if (!database.columns("schema_version").has("version")) return undefined;
  const version = asNumber(database.first("SELECT version FROM schema_version")?.version);
  return version === undefined ? undefined : `schema ${version}`;
}

/**
 * What goes on with a session (`hermes --resume <id>`, `--profile <name>` before it, by Hermes' own help of mid-2026).
 * Nothing for a store that the command does not look into by itself.
 */
function resumeCommand(root: HermesRoot, id: SessionId): readonly string[] | undefined {
  if (!root.own) return undefined;
  return ["hermes", ...(root.profile === undefined ? [] : ["--profile", root.profile]), "--resume", id];
}

/** The row as it was, when the new one says the same. */
function kept(before: Listed | undefined, now: Listed): Listed {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

function reason(text: string, examples: readonly string[]): Skipped[] {
  const [example] = examples;
  return example === undefined ? [] : [{ reason: text, count: examples.length, example }];
}
