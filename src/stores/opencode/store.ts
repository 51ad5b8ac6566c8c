import type { Clock } from "../../platform/clock.ts";
import { cacheFolder, type Environment } from "../../platform/environment.ts";
import type { Watcher } from "../../platform/watch.ts";
import { type Cursor, START } from "../../transcript/cursor.ts";
import type { Entry } from "../../transcript/entry.ts";
import { UNCUT_RECORD_BYTES } from "../../transcript/limits.ts";
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
  Store,
  StoreReport,
  Totals,
} from "../store.ts";
import { Catalogue, type KnownSession } from "./catalogue.ts";
import { entriesAt, entriesBefore, entriesFrom } from "./chat.ts";
import { ChildNames } from "./child-names.ts";
import { childrenOf, isChild } from "./children.ts";
import { DatabaseChat } from "./database-chat.ts";
import { FileChats } from "./file-chat.ts";
import { fileChild, fileChildren, fileTotals } from "./file-family.ts";
import { type FindHolders, holdersBySystem, rememberedHolders } from "./holders.ts";
import { PageEnds } from "./page-ends.ts";
import type { ChatFile, OpenCodePlace } from "./place.ts";
import { Problems } from "./problems.ts";
import { Pulses } from "./pulses.ts";
import { openCodeRoots } from "./roots.ts";
import { storeChanges } from "./store-changes.ts";
import { storeReport } from "./store-report.ts";
import { TaskIndexes } from "./task-index.ts";
import { TotalsCounter } from "./totals.ts";
import { UpdateScans } from "./update-scans.ts";

/** What the store of OpenCode is made with. */
export interface OpenCodeStoreParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Places to look in besides the CLI's own (`stores.opencode` of the configuration). */
  readonly extraRoots: readonly string[];
  /** Who holds a database open; asks the system when left out. */
  readonly findHolders?: FindHolders;
}

/**
 * The history of OpenCode on this machine: its databases (1.2 to 2.0) and the JSON files of before. A database does not say
 * which process is at work on which session, so no session is ever proved live.
 */
export class OpenCodeStore implements Store {
  readonly agent = "opencode";
  readonly #parts: OpenCodeStoreParts;
  readonly #problems = new Problems();
  readonly #catalogue: Catalogue;
  readonly #scans: UpdateScans;
  readonly #tasks: TaskIndexes;
  readonly #totals: TotalsCounter;
  readonly #pulses: Pulses;
  readonly #fileChats: FileChats;
  readonly #holders: FindHolders;
  readonly #ends = new PageEnds();
  readonly #rows = new WeakMap<KnownSession, { readonly parent: SessionId | undefined; readonly row: Listed }>();

  constructor(parts: OpenCodeStoreParts) {
    const { environment, clock, watcher, extraRoots } = parts;
    const problems = this.#problems;
    this.#parts = parts;
    this.#catalogue = new Catalogue({
      findRoots: () => openCodeRoots(environment, extraRoots, problems),
      clock,
      problems,
      scratch: cacheFolder(environment),
    });
    this.#scans = new UpdateScans(clock);
    this.#tasks = new TaskIndexes(clock);
    this.#totals = new TotalsCounter(clock, problems);
    this.#pulses = new Pulses(watcher);
    this.#fileChats = new FileChats(problems);
    this.#holders = rememberedHolders(parts.findHolders ?? holdersBySystem(environment, clock), clock);
  }

  /** What reading has cost so far, for tests that count work. */
  get work(): { readonly scans: number; readonly lists: number } {
    return { scans: this.#scans.count, lists: this.#catalogue.reads };
  }

  async list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    signal?.throwIfAborted();
    const sessions = await this.#catalogue.look(effort);
    signal?.throwIfAborted();
    return sessions.map((session) => this.#row(session));
  }

  async find(id: SessionId): Promise<SessionRef | undefined> {
    const place = await this.#catalogue.find(id);
    return place && { agent: this.agent, id, place };
  }

  async entries(ref: SessionRef, from: Cursor, budget: Budget): Promise<EntryPage> {
    const isOther = this.#ends.isOther(placeOf(ref), from);
    const page = await entriesFrom(this.#chat(ref), isOther ? START : from, budget, this.#parts.clock);
    this.#ends.note(placeOf(ref), page);
    return isOther ? { ...page, reset: true } : page;
  }

  async before(ref: SessionRef, before: Cursor | "tail", budget: Budget): Promise<EntryPageBefore> {
    const page = await entriesBefore(this.#chat(ref), before, budget, this.#parts.clock);
    if (before === "tail") this.#ends.note(placeOf(ref), page);
    return page;
  }

  async record(ref: SessionRef, pos: Cursor, mostBytes = UNCUT_RECORD_BYTES): Promise<readonly Entry[]> {
    return entriesAt(this.#chat(ref), pos, mostBytes);
  }

  async children(ref: SessionRef, most?: number): Promise<ChildList> {
    const place = placeOf(ref);
    if (place.kind === "files") return fileChildren(place.file, await this.#fileSessions(), this.#problems, most);
    const tools = { tasks: this.#tasks, holders: this.#holders, clock: this.#parts.clock };
    return childrenOf(place.database, place.session, tools, most);
  }

  async child(ref: SessionRef, id: SessionId): Promise<SessionRef | undefined> {
    const place = placeOf(ref);
    if (place.kind === "files") {
      const file = fileChild(place.file, id, await this.#fileSessions());
      const there: OpenCodePlace | undefined = file && { kind: "files", session: id, file };
      return there && { agent: this.agent, id: ref.id, child: id, place: there, standsOn: [place.file.file] };
    }
    const { database, session } = place;
    const { value: own } = await database.read((rows, tables) => isChild(rows, tables, session, id));
    if (!own) return undefined;
    const there: OpenCodePlace = { kind: "database", session: id, database };
    return { agent: this.agent, id: ref.id, child: id, place: there };
  }

  async totals(ref: SessionRef): Promise<Totals | undefined> {
    const place = placeOf(ref);
    if (place.kind === "files") return fileTotals(place.file, await this.#fileSessions(), this.#problems);
    return this.#totals.totals(place.database, place.session);
  }

  watch(ref: SessionRef, signal: AbortSignal): AsyncIterable<void> {
    const place = placeOf(ref);
    if (place.kind === "database") return this.#pulses.of(place.database, signal);
    return this.#parts.watcher.file(place.file.file, signal);
  }

  changes(signal: AbortSignal): AsyncIterable<Change> {
    return storeChanges(this.#catalogue, this.#pulses, this.#parts.watcher, signal);
  }

  async live(): Promise<readonly LiveProof[]> {
    return [];
  }

  async report(): Promise<StoreReport> {
    const sessions = await this.#catalogue.look("quick");
    return storeReport(this.#catalogue, sessions, this.#problems);
  }

  #chat(ref: SessionRef): ChatFile {
    const place = placeOf(ref);
    if (place.kind === "database") return new DatabaseChat(place.database, place.session, this.#scans, this.#problems);
    const named = this.#catalogue.fileSessions.map(({ facts: { id, title, startedAt } }) => ({
      id,
      title,
      created: startedAt,
    }));
    return this.#fileChats.chat(place.file, new ChildNames(named));
  }

  /** The sessions in files; they are looked for when nobody has listed yet. */
  async #fileSessions() {
    if (this.#catalogue.roots.length === 0 || this.#catalogue.fileSessions.length === 0)
      await this.#catalogue.look("sweep");
    return this.#catalogue.fileSessions;
  }

  /** A child whose parent is not there stands for itself, as nothing else would show it. */
  #row(session: KnownSession): Listed {
    const { facts } = session;
    const parent = facts.parent !== undefined && this.#catalogue.sessions.has(facts.parent) ? facts.parent : undefined;
    const held = this.#rows.get(session);
    if (held !== undefined && held.parent === parent) return held.row;
    const row = frozenRow(rowOf(session, parent));
    this.#rows.set(session, { parent, row });
    return row;
  }
}

/** The place in a reference that this store made. */
function placeOf(ref: SessionRef): OpenCodePlace {
  return ref.place as OpenCodePlace;
}

function rowOf({ facts, place }: KnownSession, parent: SessionId | undefined): Listed {
  const { id, title, cwd, startedAt, updatedAt, model } = facts;
  return {
    agent: "opencode",
    id,
    title,
    cwd,
    startedAt,
    updatedAt,
    ...(model !== undefined && { model }),
    ...(parent !== undefined && { parent }),
    // What lies in files only, the CLI does not know any more.
    ...(place.kind === "database" && { resume: { command: ["opencode", "-s", id], cwd } }),
  };
}
