import { setImmediate as turn } from "node:timers/promises";
import { byteOffsetOf } from "../../jsonl/cursor.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { pushTo } from "../../platform/push-to.ts";
import { Recent } from "../../platform/recent.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { ChildEntry, ChildList } from "../store.ts";
import { type ChatFile, type Reading, withChat } from "./chat-file.ts";
import { agentChat, MAIN_CHAT } from "./chat-scope.ts";
import { type ChildTail, childTitle, NO_TAIL, TailReader } from "./child-facts.ts";
import { type Child, type ChildIndex, readable } from "./children.ts";
import type { Evidence, EvidenceFinder } from "./evidence.ts";
import type { ClaudePlace } from "./place.ts";
import { matchByPrompt } from "./prompt-match.ts";
import { childStatus } from "./statuses.ts";

/** Bytes at a transcript's end that tell how it ends. */
const TAIL_BYTES = 64 * 1024;
const TAILS = 4_000;

/** Lists the subagents of sessions, with what is proved of each. */
export class ChildLister {
  readonly #index: ChildIndex;
  readonly #reading: Reading;
  readonly #evidence: EvidenceFinder;
  readonly #tails = new Recent<string, { readonly stamp: FileStamp; readonly tail: ChildTail }>(TAILS);

  constructor(index: ChildIndex, reading: Reading, evidence: EvidenceFinder) {
    this.#index = index;
    this.#reading = reading;
    this.#evidence = evidence;
  }

  /** The newest `most` of the session at `place`; of a subagent's place, those that it started. */
  async list(place: ClaudePlace, agent: SessionId | undefined, live: boolean, most: number): Promise<ChildList> {
    const main = stampOf(place.mainFile);
    const { all, byId, folders } = await this.#index.of(place, "fresh");
    const ours = all.filter((child) => agent === undefined || child.meta?.parent === agent);
    const chosen = ours.sort(newestFirst).slice(0, most);
    const uses = [...(main ? [main] : []), ...folders];
    if (chosen.length === 0) return { children: [], uses, settled: true };
    const parentOf = parentsIn(byId);
    const evidence = await this.#evidenceOf(place, new Set(chosen.map(parentOf)), byId);
    const byPrompt = callsByPrompt(all, evidence.get(undefined));
    const children: ChildEntry[] = [];
    for (const child of chosen) {
      uses.push(...child.files.flatMap((file) => stampOf(file) ?? []));
      children.push(this.#entry(child, parentOf(child), evidence, byPrompt, await this.#tailOf(child), live));
      if (children.length % 16 === 0) await turn();
    }
    return { children, uses, settled: true };
  }

  #entry(
    child: Child,
    parent: SessionId | undefined,
    evidence: ReadonlyMap<SessionId | undefined, Evidence>,
    byPrompt: ReadonlyMap<SessionId, string>,
    tail: ChildTail,
    live: boolean,
  ): ChildEntry {
    const said = evidence.get(parent);
    const callId = child.meta?.toolUseId ?? said?.callOf.get(child.id) ?? byPrompt.get(child.id);
    const call = callId === undefined ? undefined : said?.described.get(callId);
    const told = said?.told.get(child.id) ?? evidence.get(undefined)?.told.get(child.id);
    const result = callId === undefined ? undefined : said?.results.get(callId);
    const startedAt = child.first.at ?? call?.at ?? startOf(child);
    return {
      id: child.id,
      title: childTitle(child.id, [
        child.meta?.description,
        call?.description,
        child.meta?.agentType,
        child.first.prompt,
      ]),
      status: childStatus({ told, result, meta: child.meta, tail, live }),
      startedAt,
      updatedAt: tail.at ?? modifiedAt(child) ?? startedAt,
      ...(parent !== undefined && { parent }),
    };
  }

  /** What the session's chat, and that of every subagent that started one, say of those they started. */
  async #evidenceOf(
    place: ClaudePlace,
    parents: ReadonlySet<SessionId | undefined>,
    byId: ReadonlyMap<SessionId, Child>,
  ): Promise<Map<SessionId | undefined, Evidence>> {
    const evidence = new Map<SessionId | undefined, Evidence>();
    const of = async (path: string, agent: SessionId | undefined): Promise<void> => {
      const scope = agent === undefined ? MAIN_CHAT : agentChat(agent);
      const found = await readable(withFile(place.root, path, (file) => this.#evidence.of(file, scope, "end")));
      if (found !== undefined) evidence.set(agent, found);
    };
    await of(place.mainFile, undefined);
    for (const parent of parents) {
      const file = parent === undefined ? undefined : byId.get(parent)?.place.file;
      if (file !== undefined) await of(file, parent);
    }
    return evidence;
  }

  async #tailOf(child: Child): Promise<ChildTail> {
    if (child.tail !== undefined) return child.tail();
    const { file } = child.place;
    const stamp = stampOf(file);
    const known = this.#tails.get(file);
    if (known !== undefined && stamp !== undefined && sameStamp(known.stamp, stamp)) return known.tail;
    const tail = await readable(
      withFile(child.place.root, file, async (open) => {
        this.#reading.meter.opens++;
        const read = await withChat(open, agentChat(child.id), this.#reading, (chat) => tailOf(chat, open.size));
        this.#tails.set(file, { stamp: open.stamp, tail: read });
        return read;
      }),
    );
    return tail ?? NO_TAIL;
  }
}

function tailOf(chat: ChatFile, size: number): ChildTail {
  const from = Math.max(0, size - TAIL_BYTES);
  const start = from === 0 ? 0 : (chat.lineStart(byteOffsetOf(from)) ?? from);
  const end = chat.lineStart(byteOffsetOf(size)) ?? byteOffsetOf(size);
  const reader = new TailReader();
  for (const line of chat.linesFrom(start, end)) for (const record of chat.records(line.bytes)) reader.next(record);
  return reader.tail();
}

function newestFirst(a: Child, b: Child): number {
  return startOf(b) - startOf(a) || (a.id < b.id ? 1 : -1);
}

/** Without a time of its own a subagent was started when its file was written last, at the latest. */
function startOf(child: Child): EpochMs {
  return child.first.at ?? modifiedAt(child) ?? (0 as EpochMs);
}

/** Tells the subagent that started one; what names itself, or goes round in a circle, has none. */
function parentsIn(byId: ReadonlyMap<SessionId, Child>): (child: Child) => SessionId | undefined {
  // Each way up is walked once, however many start on it.
  const ends = new Map<SessionId, boolean>();
  return ({ id, meta }) => {
    const way = new Set<SessionId>();
    let at: SessionId | undefined = id;
    for (; at !== undefined && !ends.has(at) && !way.has(at); at = byId.get(at)?.meta?.parent) way.add(at);
    const end = at === undefined || ends.get(at) === true;
    for (const one of way) ends.set(one, end);
    return end ? meta?.parent : undefined;
  };
}

/** The calls that nothing but their prompt links to the subagents that they started. */
function callsByPrompt(children: readonly Child[], said: Evidence | undefined): Map<SessionId, string> {
  const calls = new Map<SessionId, string>();
  if (said === undefined) return calls;
  const linked = (child: Child): string | undefined => child.meta?.toolUseId ?? said.callOf.get(child.id);
  const open = children.filter((child) => linked(child) === undefined && child.meta?.parent === undefined);
  const taken = new Set(children.map(linked));
  const asked = new Map<string, { id: SessionId; at: EpochMs | undefined }[]>();
  for (const { id, first } of open) if (first.prompt !== undefined) pushTo(asked, first.prompt, { id, at: first.at });
  const asking = new Map<string, { id: string; at: EpochMs | undefined }[]>();
  for (const [id, { at, prompt }] of said.described) {
    if (prompt !== undefined && asked.has(prompt) && !taken.has(id)) pushTo(asking, prompt, { id, at });
  }
  for (const [prompt, calling] of asking) {
    for (const [callId, { id }] of matchByPrompt(calling, asked.get(prompt) ?? [])) calls.set(id, callId);
  }
  return calls;
}

function modifiedAt(child: Child): EpochMs | undefined {
  const stamp = child.files[0] === undefined ? undefined : stampOf(child.files[0]);
  return stamp && (Number(stamp.mtimeNs / 1_000_000n) as EpochMs);
}
