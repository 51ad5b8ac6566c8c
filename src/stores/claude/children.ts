import { setImmediate as turn } from "node:timers/promises";
import { readRange } from "../../jsonl/source.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, type OpenFile, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { Recent } from "../../platform/recent.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type Reading, withChat } from "./chat-file.ts";
import { agentChat } from "./chat-scope.ts";
import { type ChildMeta, type ChildTail, type FirstRecord, firstRecordOf, readMeta } from "./child-facts.ts";
import { type ChildFile, ChildFinder } from "./child-files.ts";
import type { ClaudePlace } from "./place.ts";
import { SidechainFinder, type Sidechains } from "./sidechains.ts";
import type { Trouble } from "./trouble.ts";

/** A subagent of a session. */
export interface Child {
  readonly id: SessionId;
  readonly place: ClaudePlace;
  /** What its file begins with. */
  readonly first: FirstRecord;
  readonly meta: ChildMeta | undefined;
  /** The Workflow run that it is part of. */
  readonly run: string | undefined;
  /** The files that say all this, besides the session's own transcript. */
  readonly files: readonly string[];
  /** How an inline subagent ends; that of a file is read from its end. */
  readonly tail: (() => ChildTail) | undefined;
}

/** The subagents of a session, and the folders that list them. */
export interface Children {
  readonly all: readonly Child[];
  readonly byId: ReadonlyMap<SessionId, Child>;
  readonly folders: readonly FileStamp[];
}

/** Bytes at a transcript's start that tell which session its records name. */
const HEAD_BYTES = 64 * 1024;
/** Subagents that are remembered, in all sessions. */
const REMEMBERED = 20_000;

interface Known {
  readonly first: FirstRecord | undefined;
  readonly meta: ChildMeta | undefined;
  readonly fileStamp: FileStamp | undefined;
  readonly metaStamp: FileStamp | undefined;
}

/** Knows which subagents a session has: from files in its folder or beside it, and from its own transcript. */
export class ChildIndex {
  readonly #reading: Reading;
  readonly #finder: ChildFinder;
  readonly #sidechains: SidechainFinder;
  readonly #known = new Recent<string, Known>(REMEMBERED);
  readonly #trouble: Trouble;

  constructor(reading: Reading, trouble: Trouble) {
    this.#reading = reading;
    this.#trouble = trouble;
    this.#finder = new ChildFinder(trouble);
    this.#sidechains = new SidechainFinder(reading);
  }

  /** The inline subagents of an open session file. */
  sidechains(main: OpenFile): Promise<Sidechains> {
    return this.#sidechains.of(main);
  }

  /**
   * The subagents of the session at `place`. What is known of one is trusted when it is complete; `fresh` asks its files
   * anew. `main` is the session's transcript, when it is open already.
   */
  async of(place: ClaudePlace, effort: "trust" | "fresh", main?: OpenFile): Promise<Children> {
    const { byId, folders } = await this.withFiles(place, effort);
    for (const inline of await this.#inline(place, main)) if (!byId.has(inline.id)) byId.set(inline.id, inline);
    return { all: [...byId.values()], byId, folders };
  }

  /** The subagent `id` of the session at `place`, without looking at any other. */
  async one(place: ClaudePlace, id: SessionId): Promise<Child | undefined> {
    const named = new Map<string, boolean>();
    for (const file of this.#finder.named(place, id).reverse()) {
      const known = await this.#facts(place, file, "trust");
      if (known.first !== undefined && (await this.#isOf(place, file, known.first, named)))
        return childOf(place, file, known.first, known.meta);
    }
    return (await this.#inline(place, undefined)).find((inline) => inline.id === id);
  }

  /** Whether what is known of a subagent was read from other files, or from a meta file that was written anew since. */
  isOutdated({ files: [file, meta] }: Child): boolean {
    const known = file === undefined ? undefined : this.#known.get(file);
    if (file === undefined || known === undefined) return false;
    const metaNow = meta === undefined ? undefined : stampOf(meta);
    const sameMeta = metaNow === undefined ? known.metaStamp === undefined : same(known.metaStamp, metaNow);
    return !sameMeta || !sameInode(known.fileStamp, stampOf(file));
  }

  /** Those that have a file of their own: the session's transcript is not looked into for others. */
  async withFiles(
    place: ClaudePlace,
    effort: "trust" | "fresh",
  ): Promise<{ readonly byId: Map<SessionId, Child>; readonly folders: readonly FileStamp[] }> {
    const { files, folders } = this.#finder.list(place);
    const byId = new Map<SessionId, Child>();
    const named = new Map<string, boolean>();
    for (const [index, file] of files.entries()) {
      if (index % 64 === 63) await turn();
      const known = await this.#facts(place, file, effort);
      if (known.first === undefined || !(await this.#isOf(place, file, known.first, named))) continue;
      // The same id in two places: the one in the session's own folder, which is listed last.
      byId.set(file.id, childOf(place, file, known.first, known.meta));
    }
    return { byId, folders };
  }

  /**
   * Whether a file is a subagent of the session at `place`: its records name that session, wherever it was moved to. In
   * the session's own folder one also counts that names no session, or another one that the transcript itself names (it
   * was copied under a new name, or forked from that one). `named` remembers what the transcript names.
   */
  async #isOf(
    place: ClaudePlace,
    { shared }: ChildFile,
    { session }: FirstRecord,
    named: Map<string, boolean>,
  ): Promise<boolean> {
    if (session === place.session) return true;
    if (shared) return false;
    if (session === undefined) return true;
    const known = named.get(session) ?? (await this.#names(place, session));
    named.set(session, known);
    return known;
  }

  async #names(place: ClaudePlace, session: string): Promise<boolean> {
    const head = await this.#read(place, place.mainFile, (open) => readRange(open, 0, Math.min(open.size, HEAD_BYTES)));
    return head?.includes(`"sessionId":${JSON.stringify(session)}`) ?? false;
  }

  async #inline(place: ClaudePlace, main: OpenFile | undefined): Promise<Child[]> {
    const found = main
      ? await this.#sidechains.of(main)
      : await this.#read(place, place.mainFile, (open) => this.#sidechains.of(open));
    return (found?.all ?? []).map(({ id, first, tail }) => ({
      id,
      place: { ...place, file: place.mainFile, sidechain: id },
      first,
      meta: undefined,
      run: undefined,
      files: [],
      tail,
    }));
  }

  async #facts(place: ClaudePlace, file: ChildFile, effort: "trust" | "fresh"): Promise<Known> {
    const known = this.#known.get(file.file);
    const complete = known?.first?.settled === true && (known.meta !== undefined || file.shared);
    if (known !== undefined && complete && (effort === "trust" || file.shared)) return known;
    const fileStamp = stampOf(file.file);
    const metaStamp = file.shared ? undefined : stampOf(file.meta);
    const sameFirst =
      same(known?.fileStamp, fileStamp) || (known?.first?.settled && sameInode(known.fileStamp, fileStamp));
    const facts: Known = {
      first: sameFirst ? known?.first : await this.#first(place, file),
      meta: same(known?.metaStamp, metaStamp) ? known?.meta : await this.#meta(place, file),
      fileStamp,
      metaStamp,
    };
    this.#known.set(file.file, facts);
    return facts;
  }

  #first(place: ClaudePlace, { file, id }: ChildFile): Promise<FirstRecord | undefined> {
    return this.#read(place, file, (open) => withChat(open, agentChat(id), this.#reading, firstRecordOf));
  }

  async #meta(place: ClaudePlace, { meta }: ChildFile): Promise<ChildMeta | undefined> {
    return stampOf(meta) === undefined ? undefined : this.#read(place, meta, (open) => readMeta(open));
  }

  /** What `use` makes of a file; undefined, and noted, when it may not be read or lies outside the store. */
  async #read<T>(place: ClaudePlace, path: string, use: (open: OpenFile) => T | Promise<T>): Promise<T | undefined> {
    this.#reading.meter.opens++;
    const result = await readable(withFile(place.root, path, async (open) => ({ value: await use(open) })));
    if (result === undefined) this.#trouble.note("a subagent's file can't be read", path);
    return result?.value;
  }
}

function childOf(place: ClaudePlace, file: ChildFile, first: FirstRecord, meta: ChildMeta | undefined): Child {
  const { sidechain: _, ...rest } = place;
  return {
    id: file.id,
    place: { ...rest, file: file.file },
    first,
    meta,
    run: file.run,
    files: file.shared ? [file.file] : [file.file, file.meta],
    tail: undefined,
  };
}

function same(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a !== undefined && b !== undefined && sameStamp(a, b);
}

function sameInode(a: FileStamp | undefined, b: FileStamp | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev && b.size >= a.size;
}

/** What could be read; undefined for a file that vanished, may not be read or lies outside the store. */
export async function readable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Failure && error.kind === "not-found") return undefined;
    throw error;
  }
}
