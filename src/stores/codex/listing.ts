import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { writtenAt as lastWritten } from "../../platform/files.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { frozenRow } from "../frozen-row.ts";
import type { ListEffort, Listed, LiveProof, Skipped, StoreReport } from "../store.ts";
import { type Catalog, inReadingOrder, type RolloutFile } from "./catalog.ts";
import type { Children } from "./children.ts";
import { writtenAt } from "./children.ts";
import type { FileFacts, Rollouts } from "./facts.ts";
import { agentTitle, type Header } from "./header.ts";
import type { WriterLocks } from "./locks.ts";
import { titleOf } from "./scan.ts";
import type { ThreadHints } from "./state-index.ts";
import type { ThreadNames } from "./thread-names.ts";

/** Where the listing looks. */
export interface ListingTools {
  readonly homes: readonly string[];
  readonly catalog: Catalog;
  readonly rollouts: Rollouts;
  readonly children: Children;
  readonly names: ReadonlyMap<string, ThreadNames>;
  /** What Codex's own index says of a home. */
  readonly index: (home: string) => Promise<ThreadHints>;
  readonly indexProblems: (home: string) => readonly string[];
  /** What named a home, when it is not the one that Codex uses by itself. */
  readonly origin: (home: string) => string | undefined;
  readonly locks: (home: string) => WriterLocks;
}

/** A thread as it was listed. */
interface Row {
  readonly facts: FileFacts;
  readonly name: string | undefined;
  readonly row: Listed | undefined;
  readonly header: Header | undefined;
  /** The row as it is while a process has it open. */
  live?: Listed;
}

/** The store's sessions as lists show them; what did not change is neither opened nor made again. */
export class Listing {
  readonly #tools: ListingTools;
  readonly #rows = new Map<string, Row>();
  readonly #changed = new Set<string>();
  readonly #hints = new Map<string, ThreadHints>();
  /** The names that threads were given, by home, as they were when a list or a look at live sessions began. */
  readonly #given = new Map<string, ReadonlyMap<string, string>>();
  /** Why threads are left out, with one file of each. */
  readonly #broken = new Map<string, { reason: string; example: string }>();

  constructor(tools: ListingTools) {
    this.#tools = tools;
  }

  /** Notes that a thread's files may have changed: the next quick list asks them. */
  noteChange(thread: string): void {
    this.#changed.add(thread);
  }

  /** Every thread of a person and every spawned agent (with its parent), in no order. */
  async list(effort: ListEffort, signal?: AbortSignal): Promise<readonly Listed[]> {
    const { catalog, rollouts, homes } = this.#tools;
    const quick = effort === "quick" && this.#rows.size > 0;
    await catalog.refresh(effort);
    const asked = quick ? this.#likelyChanged(homes) : undefined;
    if (!quick) this.#broken.clear();
    const breather = new Breather();
    for (const home of homes) this.#hints.set(home, await this.#tools.index(home));
    this.#readNames();
    const held = new Map(homes.map((home) => [home, this.#tools.locks(home).held]));
    const listed: Listed[] = [];
    const paths = new Set<string>();
    for (const [thread, files] of catalog.threads()) {
      if (breather.isDue) await breather.pause();
      signal?.throwIfAborted();
      if (!quick) for (const { path } of files) paths.add(path);
      const known = this.#rows.get(thread);
      const trusted =
        known !== undefined && asked !== undefined && !asked.has(thread) && !this.#isRenamed(thread, known, files);
      const row = trusted ? known : (this.#rowNow(thread, files) ?? (await this.#row(thread, files)));
      if (hasRow(row)) listed.push(withLive(row, files, held));
    }
    if (!quick) {
      rollouts.keepOnly(paths);
      for (const thread of this.#rows.keys()) if (catalog.ofThread(thread).length === 0) this.#rows.delete(thread);
    }
    this.#changed.clear();
    return listed;
  }

  /** A person's threads that were written last, of those whose ids begin with `start`, the newest first: see `Store`. */
  async newest(start: string, most: number): Promise<readonly Listed[]> {
    const { catalog, homes } = this.#tools;
    await catalog.refresh("sweep");
    for (const home of homes) this.#hints.set(home, await this.#tools.index(home));
    this.#readNames();
    const begun = [...catalog.threads()].filter(([thread]) => thread.startsWith(start));
    const written = begun.map(([thread, files]) => {
      return { thread, files, at: Math.max(...files.map(({ path }) => lastWritten(path))) };
    });
    const listed: Listed[] = [];
    for (const { thread, files } of written.sort((a, b) => b.at - a.at)) {
      if (listed.length === most) break;
      const row = this.#rowNow(thread, files) ?? (await this.#row(thread, files));
      if (hasRow(row) && row.row.parent === undefined) listed.push(row.row);
    }
    return listed;
  }

  /** The person's sessions that a process has open. */
  async live(): Promise<readonly LiveProof[]> {
    const { homes, locks, children } = this.#tools;
    const proofs: LiveProof[] = [];
    this.#readNames();
    for (const home of homes) {
      for (const [thread, { pid, since }] of locks(home).held) {
        const id = sessionIdOf(thread);
        if (id === undefined) continue;
        const row = this.#rows.get(thread) ?? (await this.#row(id, this.#tools.catalog.ofThread(thread)));
        if (row?.row === undefined || row.header?.role !== "user") continue;
        const turn = await children.turnOf(id);
        const activity = turn === "open" ? "running" : "idle";
        proofs.push({ id, pid, cwd: row.row.cwd, startedAt: since, activity });
      }
    }
    return proofs;
  }

  /** Where the last list looked, what it found, and what it left out. */
  report(): StoreReport {
    const { homes, catalog, rollouts } = this.#tools;
    const rows = [...this.#rows.values()];
    const formats = new Set(rows.flatMap(({ header }) => (header === undefined ? [] : generationOf(header))));
    const helpers = rows.filter(({ header }) => header?.role === "helper");
    const refused = rollouts.refused([...catalog.threads().values()].flat());
    const skipped = bySkipReason([...this.#broken.values(), ...refused, ...catalog.problems()]);
    const [helper] = helpers;
    if (helper !== undefined) {
      skipped.push({ reason: "review or internal helper", count: helpers.length, example: helper.facts.stamp.path });
    }
    return {
      agent: "codex",
      roots: homes.map((path) => {
        const [problem] = this.#tools.indexProblems(path);
        const note = [this.#tools.origin(path), problem].filter((each) => each !== undefined).join("; ");
        return { path, found: catalog.holds(path), ...(note !== "" && { note }) };
      }),
      sessions: rows.filter(({ row }) => row !== undefined && row.parent === undefined).length,
      formats: [...formats].sort(),
      skipped,
    };
  }

  /** The threads in the newest day folders, and those that watching told of. */
  #likelyChanged(homes: readonly string[]): Set<string> {
    const { catalog } = this.#tools;
    const likely = new Set(this.#changed);
    const folders = homes.flatMap((home) => catalog.newestFolders(home));
    for (const folder of folders) for (const { thread } of catalog.filesIn(folder)) likely.add(thread);
    for (const home of homes) for (const thread of this.#tools.locks(home).held.keys()) likely.add(thread);
    return likely;
  }

  /** The row of a thread of one file, where that can be told at once. */
  #rowNow(thread: string, files: readonly RolloutFile[]): Row | undefined {
    const [file] = files;
    const facts = file === undefined || files.length > 1 ? undefined : this.#tools.rollouts.factsNow(file);
    const header = facts?.scan.header;
    if (file === undefined || facts === undefined || header?.id !== thread) return undefined;
    return this.#keep(thread, this.#made(header.id, file, facts, header, files));
  }

  async #row(thread: string, files: readonly RolloutFile[]): Promise<Row | undefined> {
    const sorted = inReadingOrder(files);
    let problem: { reason: string; example: string } | undefined;
    for (const file of sorted) {
      const facts = await this.#tools.rollouts.facts(file);
      const header = facts?.scan.header;
      if (facts === undefined) continue;
      if (header === undefined || header.id !== thread) {
        problem ??= { reason: facts.problem ?? "another thread's header", example: file.path };
        continue;
      }
      return this.#keep(thread, this.#made(header.id, file, facts, header, sorted));
    }
    this.#rows.delete(thread);
    if (problem !== undefined) this.#broken.set(thread, problem);
    return undefined;
  }

  #keep(thread: string, row: Row): Row {
    if (this.#rows.get(thread) !== row) this.#rows.set(thread, row);
    this.#broken.delete(thread);
    return row;
  }

  /** The name given to a thread: Codex's index is newer than its list of names. */
  #nameOf(id: string, { home }: RolloutFile): string | undefined {
    return this.#hints.get(home)?.names.get(id) ?? this.#given.get(home)?.get(id);
  }

  #readNames(): void {
    for (const [home, names] of this.#tools.names) this.#given.set(home, names.read());
  }

  #isRenamed(id: string, known: Row, [file]: readonly RolloutFile[]): boolean {
    return file !== undefined && this.#nameOf(id, file) !== known.name;
  }

  #made(id: SessionId, file: RolloutFile, facts: FileFacts, header: Header, files: readonly RolloutFile[]): Row {
    const name = this.#nameOf(id, file);
    const known = this.#rows.get(id);
    if (known?.facts === facts && known.name === name) return known;
    if (header.role === "helper") return { facts, name, header, row: undefined };
    const { scan } = facts;
    const said = header.role === "spawned" ? agentTitle(header, scan.title) : name;
    const title = said === undefined ? (scan.title ?? "") : titleOf(said);
    const cwd = header.cwd ?? scan.cwd ?? "";
    const startedAt = this.#startedAt(id, files, header) ?? writtenAt(facts);
    const bytes = facts.stamp.size + this.#otherBytes(file, files);
    const resumable = header.role === "user" && header.enveloped && cwd !== "";
    const row = frozenRow({
      agent: "codex",
      id,
      title,
      cwd,
      ...(header.branch !== undefined && { branch: header.branch }),
      startedAt,
      updatedAt: facts.lastAt ?? writtenAt(facts),
      bytes,
      ...(facts.model !== undefined && { model: facts.model }),
      ...(header.role === "spawned" && header.parent !== undefined && { parent: header.parent }),
      ...(resumable && { resume: { command: ["codex", "resume", id], cwd } }),
    });
    return { facts, name, header, row };
  }

  /** A thread began with its first segment, whatever the newest one's header says. */
  #startedAt(id: SessionId, files: readonly RolloutFile[], header: Header): EpochMs | undefined {
    const first = files.find((file) => file.segment === id);
    const known = first === undefined ? undefined : this.#tools.rollouts.known(first)?.scan.header;
    return known?.startedAt ?? (files.length > 1 ? first?.born : undefined) ?? header.startedAt ?? first?.born;
  }

  /** Bytes of the thread's other segments, as far as they are known. */
  #otherBytes(own: RolloutFile, files: readonly RolloutFile[]): number {
    const others = new Map<string, number>();
    for (const file of files) {
      if (file.segment === own.segment || others.has(file.segment)) continue;
      others.set(file.segment, this.#tools.rollouts.known(file)?.stamp.size ?? 0);
    }
    return [...others.values()].reduce((sum, size) => sum + size, 0);
  }
}

/**
 * Whether a process has it open is no fact of its files, so it is asked for every list. The same answer is the same object.
 */
function withLive(
  known: Row & { readonly row: Listed },
  files: readonly RolloutFile[],
  held: ReadonlyMap<string, WriterLocks["held"]>,
): Listed {
  for (const { home } of files) {
    const pid = held.get(home)?.get(known.row.id)?.pid;
    if (pid === undefined) continue;
    if (known.live?.live?.pid !== pid) known.live = { ...known.row, live: { pid } };
    return known.live;
  }
  return known.row;
}

function hasRow(row: Row | undefined): row is Row & { readonly row: Listed } {
  return row?.row !== undefined;
}

function bySkipReason(broken: Iterable<{ reason: string; example: string }>): Skipped[] {
  const skipped = new Map<string, Skipped>();
  for (const { reason, example } of broken) {
    const known = skipped.get(reason);
    skipped.set(reason, { reason, count: (known?.count ?? 0) + 1, example: known?.example ?? example });
  }
  return [...skipped.values()];
}

/** The generation of the format by which a file is read. */
function generationOf(header: Header): string {
  if (!header.enveloped) return "flat records (0.31 and older)";
  return header.paginated ? "items (0.149 and newer)" : "events (0.32 and newer)";
}
