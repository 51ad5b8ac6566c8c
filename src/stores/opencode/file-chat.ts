import { join } from "node:path";
import { Breather } from "../../platform/breather.ts";
import { type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { Failure } from "../../platform/failure.ts";
import { type FileStamp, sameStamp, stampOf } from "../../platform/files.ts";
import { asObject, type JsonObject } from "../../platform/read.ts";
import type { Entry } from "../../transcript/entry.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type ChatRows, oversizedEntry, type PageNeed, type Revert, type Unit } from "./chat-rows.ts";
import type { ChildNames } from "./child-names.ts";
import { isRowId } from "./cursor.ts";
import { type FileSession, namesIn, readJson } from "./file-sessions.ts";
import { inIdOrder } from "./id-order.ts";
import { factsInData, type MessageFacts } from "./message-facts.ts";
import { messageEntries, type Part, partEntries, SHELL_NOTE } from "./part-entries.ts";
import type { ChatFile, ChatRead, ChatUpdates } from "./place.ts";
import type { Problems } from "./problems.ts";

/** A message of an old session, with its parts in their order. */
interface FileMessage {
  readonly facts: MessageFacts;
  readonly units: readonly Unit[];
}

/** All messages of an old session; the parts' contents are read when a page needs them. */
interface ChatIndex {
  readonly uses: readonly FileStamp[];
  readonly messages: readonly FileMessage[];
}

/** Old sessions whose index is kept. */
const MOST_INDEXES = 8;
/** Parts of a parent message that are looked at for what it stands for. */
const PARENT_PARTS = 20;

/** Indexes of old sessions, kept while their files are the same. */
export class FileChats {
  readonly #problems: Problems;
  readonly #indexes = new Map<string, ChatIndex>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** The chat of `session`; `names` tells what its children are called. */
  chat(session: FileSession, names: ChildNames): ChatFile {
    return new FileChat(session, () => this.#index(session), names, this.#problems);
  }

  async #index(session: FileSession): Promise<ChatIndex> {
    const held = this.#indexes.get(session.file);
    if (held?.uses.every((stamp) => isUnchanged(stamp))) return held;
    const index = await readIndex(session, this.#problems);
    this.#indexes.delete(session.file);
    this.#indexes.set(session.file, index);
    const [oldest] = this.#indexes.keys();
    if (this.#indexes.size > MOST_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
    return index;
  }
}

/** The messages of an old session, for totals and statuses: the newest last. */
export async function messagesOf(session: FileSession, problems: Problems): Promise<readonly MessageFacts[]> {
  return (await readMessages(session, problems)).map(({ facts }) => facts);
}

class FileChat implements ChatFile {
  readonly session: SessionId;
  readonly #session: FileSession;
  readonly #index: () => Promise<ChatIndex>;
  readonly #names: ChildNames;
  readonly #problems: Problems;

  constructor(session: FileSession, index: () => Promise<ChatIndex>, names: ChildNames, problems: Problems) {
    this.session = session.facts.id;
    this.#session = session;
    this.#index = index;
    this.#names = names;
    this.#problems = problems;
  }

  async read<T>(use: (rows: ChatRows) => T): Promise<ChatRead<T>> {
    const { uses, messages } = await this.#index();
    let modified = 0;
    for (const { units } of messages) for (const { updated } of units) modified = Math.max(modified, updated);
    const contents = new Map<string, JsonObject | undefined>();
    // What a step needs of the parts' contents shows when it runs, so it runs again until it has all.
    for (;;) {
      const rows = new FileRows(messages, this.#session.revert, contents, this.#names);
      const value = use(rows);
      if (rows.wanted.size === 0) return { value, uses, modified };
      for (const [part, { message, bytes }] of rows.wanted)
        contents.set(part, await this.#content(message, part, bytes));
    }
  }

  async updates(since: number): Promise<ChatUpdates> {
    const { uses, messages } = await this.#index();
    const units = messages
      .flatMap((message) => message.units.filter((unit) => unit.updated >= since))
      .sort((a, b) => a.updated - b.updated || (a.id < b.id ? -1 : 1));
    return { units, uses };
  }

  async #content(message: string, part: string, bytes: number): Promise<JsonObject | undefined> {
    const file = join(this.#session.storage, "part", message, `${part}.json`);
    const data = await readJson(this.#session.storage, file, bytes);
    if (data === undefined) this.#problems.add("a part that is no JSON object", file);
    return data;
  }
}

/** The rows of an old session. `wanted` holds the parts whose contents were missed, with their messages and most bytes. */
class FileRows implements ChatRows {
  readonly revert: string | undefined;
  readonly wanted = new Map<string, { readonly message: string; readonly bytes: number }>();
  readonly #messages: ReadonlyMap<string, FileMessage>;
  readonly #messageOf = new Map<string, string>();
  readonly #units: readonly Unit[];
  readonly #contents: ReadonlyMap<string, JsonObject | undefined>;
  readonly #names: ChildNames;

  constructor(
    messages: readonly FileMessage[],
    revert: Revert | undefined,
    contents: ReadonlyMap<string, JsonObject | undefined>,
    names: ChildNames,
  ) {
    this.#messages = new Map(messages.map((message) => [message.facts.id, message]));
    for (const { facts, units } of messages) for (const unit of units) this.#messageOf.set(unit.id, facts.id);
    const all = messages.flatMap(({ units }) => units);
    const from = revert?.part ?? (revert && this.#messages.get(revert.message)?.units[0]?.id);
    const end = from === undefined ? -1 : all.findIndex((unit) => unit.id === from);
    this.#units = end < 0 ? all : all.slice(0, end);
    this.revert = end < 0 ? undefined : revert?.tag;
    this.#contents = contents;
    this.#names = names;
  }

  forward(from: string | undefined, { parts }: PageNeed): readonly Unit[] | undefined {
    const index = from === undefined ? 0 : this.#units.findIndex((unit) => unit.id === from);
    return index < 0 ? undefined : this.#units.slice(index, index + parts + 1);
  }

  backward(to: string | undefined, { parts }: PageNeed): readonly Unit[] | undefined {
    const index = to === undefined ? this.#units.length : this.#units.findIndex((unit) => unit.id === to);
    return index < 0 ? undefined : this.#units.slice(Math.max(0, index - parts - 1), index);
  }

  named(ids: readonly string[]): readonly Unit[] {
    const named = new Set(ids);
    return this.#units.filter(({ id }) => named.has(id));
  }

  has(id: string): boolean {
    return this.#messageOf.has(id);
  }

  entries(units: readonly Unit[], mostBytes: number): Entry[] {
    const context = {
      children: this.#names,
      isShell: (message: string) =>
        this.#partsOf(message).some((part) => part.synthetic === true && String(part.text).startsWith(SHELL_NOTE)),
      isCompaction: (message: string) => this.#partsOf(message).some((part) => part.type === "compaction"),
    };
    return units.flatMap((unit): Entry[] => {
      const message = this.#messages.get(this.#messageOf.get(unit.id) ?? "")?.facts;
      if (message === undefined) return [];
      if (unit.kind === "message") return messageEntries(message);
      if (unit.bytes > mostBytes) return [oversizedEntry(unit, message.at)];
      const data = this.#content(unit.id, message.id, mostBytes);
      return data === undefined ? [] : partEntries({ id: unit.id, at: timeOf(data, message), data, message }, context);
    });
  }

  #partsOf(message: string): JsonObject[] {
    const units = this.#messages.get(message)?.units ?? [];
    const parts = units.filter((unit) => unit.kind === "part").slice(0, PARENT_PARTS);
    return parts.map((unit) => this.#content(unit.id, message, PAGE_BYTES)).filter((data) => data !== undefined);
  }

  #content(part: string, message: string, bytes: number): JsonObject | undefined {
    if (!this.#contents.has(part)) this.wanted.set(part, { message, bytes });
    return this.#contents.get(part);
  }
}

/** A part in a file has no time of its own making but what its content says. */
function timeOf(data: JsonObject, message: MessageFacts): Part["at"] {
  const time = asObject(data.time) ?? asObject(asObject(data.state)?.time);
  return epochMsOf(time?.start) ?? epochMsOf(time?.created) ?? message.at;
}

async function readIndex(session: FileSession, problems: Problems): Promise<ChatIndex> {
  const messageFolder = folderOf(session);
  const uses = [stampOf(session.file), stampOf(messageFolder)].filter((stamp) => stamp !== undefined);
  if (uses[0] === undefined || uses[0].path !== session.file) throw new Failure("not-found", "no such transcript");
  const breather = new Breather();
  const messages: FileMessage[] = [];
  for (const { facts, updated } of await readMessages(session, problems)) {
    const folder = join(session.storage, "part", facts.id);
    const units: Unit[] = [];
    for (const name of await namesIn(folder)) {
      await breather.pause();
      const id = name.endsWith(".json") ? name.slice(0, -".json".length) : undefined;
      const stamp = isRowId(id) ? stampOf(join(folder, name)) : undefined;
      if (id !== undefined && stamp !== undefined)
        units.push({ id, kind: "part", updated: written(stamp), bytes: stamp.size });
    }
    const own: Unit = { id: facts.id, kind: "message", updated, bytes: 0 };
    messages.push({ facts, units: [...inIdOrder(units, facts.at), own] });
  }
  return { uses, messages };
}

async function readMessages(
  session: FileSession,
  problems: Problems,
): Promise<{ readonly facts: MessageFacts; readonly updated: number }[]> {
  const folder = folderOf(session);
  const breather = new Breather();
  const messages: { readonly facts: MessageFacts; readonly updated: number }[] = [];
  for (const name of await namesIn(folder)) {
    await breather.pause();
    const id = name.endsWith(".json") ? name.slice(0, -".json".length) : undefined;
    const stamp = isRowId(id) ? stampOf(join(folder, name)) : undefined;
    if (id === undefined || stamp === undefined) continue;
    const data = await readJson(session.storage, join(folder, name));
    if (data === undefined) problems.add("a message that is too large or no JSON", join(folder, name));
    messages.push({ facts: factsIn(id, data ?? {}, written(stamp)), updated: written(stamp) });
  }
  return messages.sort(({ facts: a }, { facts: b }) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

function factsIn(id: string, data: JsonObject, updated: EpochMs): MessageFacts {
  return factsInData(id, asObject(data.time)?.created ?? updated, data);
}

function folderOf(session: FileSession): string {
  return join(session.storage, "message", session.facts.id);
}

function written(stamp: FileStamp): EpochMs {
  return Number(stamp.mtimeNs / 1_000_000n) as EpochMs;
}

function isUnchanged(stamp: FileStamp): boolean {
  const now = stampOf(stamp.path);
  return now !== undefined && sameStamp(stamp, now);
}
