import type { ByteOffset } from "../../jsonl/cursor.ts";
import { Breather } from "../../platform/breather.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { pushTo } from "../../platform/push-to.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import type { Entry, SubagentEntry } from "../../transcript/entry.ts";
import { LOOK_BACK_BYTES, SETTLE_MS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type Call, callsOf, findCalls } from "./calls.ts";
import { type ChatFile, type EarlierLine, posOf } from "./chat-file.ts";
import type { ChatRecord } from "./chat-records.ts";
import { childTitle, type FirstRecord } from "./child-facts.ts";
import type { Child, Children } from "./children.ts";
import type { Evidence, SpawnCall } from "./evidence.ts";
import { isSpawnTool, namedResults, notificationOf } from "./links.ts";
import { type Naming, namingsOf } from "./namings.ts";
import { PromptLinks } from "./prompt-links.ts";
import { timeOf } from "./records.ts";

/*
 * Where a subagent stands in the chat of whoever started it: at the call, when its first record is at most 5 s younger
 * than the call; else at the first result or notification that names it. The call is found from the subagent's meta
 * file; without one (2.1.1 and older) by its prompt (see prompt-match.ts). A call cannot know a subagent that only its
 * result links to it: that one stands at the result, however soon it began.
 *
 * All this is looked for in the 8 MiB before a record. Whether a subagent was shown further back cannot be told from
 * those, and either guess is wrong: it would be told never, or twice. So where a result or a notification more than
 * 8 MiB into the file would be its first, the scan that the lists are made from is asked (`Evidence`): a fact of the file's
 * whole prefix, found once per file and continued as it grows, and the same wherever a page begins.
 */

/** The subagents of a page, and where it must stop because one may yet appear. */
export interface Placed {
  readonly records: readonly { readonly start: ByteOffset; readonly entries: readonly Entry[] }[];
  /** The first record that waits for its subagent. */
  readonly stop: ByteOffset | undefined;
  /** The subagents that the page was decided by. */
  readonly used: readonly Child[];
}

/** Puts subagents at their places. `now` decides alone whether the page has to wait; `evidence` is what the whole chat says. */
export async function placeSubagents(
  file: ChatFile,
  records: readonly ChatRecord[],
  children: Children,
  now: EpochMs,
  evidence: () => Promise<Evidence>,
): Promise<Placed> {
  const placing = new Placing(file, children, now, evidence);
  const placed: { start: ByteOffset; entries: readonly Entry[] }[] = [];
  placing.findCallsOfNotified(records);
  const breather = new Breather();
  for (const record of records) {
    if (breather.isDue) await breather.pause();
    const entries = await placing.record(record);
    if (entries === undefined) return { records: placed, stop: record.start, used: placing.used() };
    placed.push({ start: record.start, entries });
  }
  return { records: placed, stop: undefined, used: placing.used() };
}

class Placing {
  readonly #file: ChatFile;
  readonly #children: Children;
  readonly #now: EpochMs;
  readonly #used = new Map<SessionId, Child>();
  /** The subagents whose meta files name a call, by its id. */
  readonly #byCall = new Map<string, Child[]>();
  /** The calls that notified subagents were started by, by where the notification stands. */
  readonly #calls = new Map<ByteOffset, Call>();

  readonly #evidence: () => Promise<Evidence>;
  readonly #prompts: PromptLinks;

  constructor(file: ChatFile, children: Children, now: EpochMs, evidence: () => Promise<Evidence>) {
    this.#file = file;
    this.#evidence = evidence;
    const ours = children.all.filter((child) => this.#isOurs(child));
    this.#prompts = new PromptLinks(file, ours);
    for (const child of children.all) {
      if (child.meta?.toolUseId !== undefined) pushTo(this.#byCall, child.meta.toolUseId, child);
    }
    this.#children = children;
    this.#now = now;
  }

  used(): Child[] {
    return [...this.#used.values()];
  }

  /** Notifications come long after their calls: all those calls are found in one search. */
  findCallsOfNotified(records: readonly ChatRecord[]): void {
    const waiting = new Map<string, { start: ByteOffset; found: (call: Call) => void }[]>();
    for (const { record, start } of records) {
      const told = record && notificationOf(record);
      const child = told && this.#children.byId.get(told.task);
      const callId = child && (child.meta?.toolUseId ?? told?.callId);
      if (callId === undefined) continue;
      const list = waiting.get(callId) ?? [];
      list.push({ start, found: (call) => this.#calls.set(start, call) });
      waiting.set(callId, list);
    }
    findCalls(this.#file, waiting);
  }

  /** The entries of a record with its subagents; undefined when it waits for one. */
  async record({ record, entries, calls, start }: ChatRecord): Promise<readonly Entry[] | undefined> {
    if (record === undefined) return entries;
    const spawned = callsOf(record, start).filter(({ tool }) => isSpawnTool(tool));
    const namings = spawned.length > 0 ? [] : namingsOf(record, calls);
    const at = timeOf(record) ?? this.#file.timeBefore(start);
    const young = Math.abs(this.#now - at) < SETTLE_MS;
    const all: Entry[] = [];
    for (const entry of entries) {
      all.push(entry);
      const call = entry.kind === "tool-call" ? spawned.find(({ id }) => id === entry.callId) : undefined;
      if (call === undefined) continue;
      const linked = this.#linkedTo(call);
      if (linked.length === 0 && young) return undefined;
      for (const child of linked) {
        this.#used.set(child.id, child);
        if (this.#isAtCall(child, call)) all.push(entryOf(child, entry.at, start, call));
      }
    }
    for (const naming of namings) {
      const named = this.#namedBy(naming, start, at);
      if (named.length === 0 && naming.agent !== undefined && naming.isResult && young) return undefined;
      for (const child of named) {
        this.#used.set(child.id, child);
        if (await this.#isAtNaming(child, naming, start)) all.push(entryOf(child, at, start, naming.call));
      }
    }
    return all;
  }

  /** Whether `child` can have been started in this chat. */
  #isOurs(child: Child): boolean {
    const { agent } = this.#file.scope;
    if (child.id === agent) return false;
    return child.meta?.parent === undefined || child.meta.parent === agent;
  }

  /** The subagents that `call` started, as far as can be told from the call. */
  #linkedTo(call: Call): Child[] {
    const linked = this.#byCall.get(call.id) ?? [];
    const byId = linked.filter((child) => this.#isOurs(child) && isMetaOf(child, call, this.#prompts.timeOf(call)));
    const byPrompt = byId.length > 0 ? undefined : this.#prompts.startedSoon(call);
    return byPrompt === undefined ? byId : [byPrompt];
  }

  /** Whether its place is at `call`: the first that can have started it (ids and prompts may come again). */
  #isAtCall(child: Child, call: Call): boolean {
    if (!this.#started(child, call)) return false;
    return call.start === undefined || !this.#hasCallBefore(child, call.start);
  }

  /** Whether `call` can have started `child` in time to show it, in a record that is shown. */
  #started(child: Child, call: Call): boolean {
    const at = this.#prompts.timeOf(call);
    if (!isSpawnTool(call.tool) || at === undefined) return false;
    if (call.start !== undefined && this.#file.lineAt(call.start) === undefined) return false;
    // One that states no time is not known to have come too late.
    if ((child.first.at ?? at) > at + SETTLE_MS) return false;
    return child.meta?.toolUseId === undefined ? this.#prompts.startedSoon(call) === child : isMetaOf(child, call, at);
  }

  /** Whether a call that shows `child` stands in the 8 MiB before `before`. */
  #hasCallBefore(child: Child, before: ByteOffset): boolean {
    const id = child.meta?.toolUseId;
    if (id === undefined) {
      const { at, prompt } = child.first;
      if (at === undefined || prompt === undefined || !this.#prompts.asked(prompt).includes(child)) return false;
      return this.#prompts.callsFor(prompt, before, LOOK_BACK_BYTES).some((call) => this.#started(child, call));
    }
    for (const call of this.#prompts.callsWith(`"id":${JSON.stringify(id)}`, before, LOOK_BACK_BYTES)) {
      if (this.#started(child, call)) return true;
    }
    return false;
  }

  /** The subagents that a naming at `start` is about. */
  #namedBy({ agent, run, call, callId, isResult }: Naming, start: ByteOffset, at: EpochMs): Child[] {
    // A result without a call belongs to one further back, if anything stands there; ids may come again, but not before.
    const mayBeFar = (first: FirstRecord): boolean => start > LOOK_BACK_BYTES && !isAfter(first, at);
    const ofCall = ({ meta, first }: Child): boolean =>
      isResult && callId !== undefined && meta?.toolUseId === callId && (call !== undefined || mayBeFar(first));
    const tied = this.#children.all.filter(
      (child) => child.id === agent || (run !== undefined && child.run === run) || ofCall(child),
    );
    const ours = tied.filter((child) => this.#isOurs(child));
    if (ours.length > 0 || agent !== undefined || run !== undefined || call === undefined) return ours;
    const byPrompt = isSpawnTool(call.tool) ? this.#prompts.startedLate(call, start, at) : undefined;
    return byPrompt === undefined ? [] : [byPrompt];
  }

  async #isAtNaming(child: Child, naming: Naming, start: ByteOffset): Promise<boolean> {
    if (!isOwnResult(child, naming)) return false;
    const call = naming.isResult ? naming.call : this.#calls.get(start);
    if (call !== undefined && this.#started(child, call)) return false;
    if (this.#hasCallBefore(child, start) || this.#isNamedBefore(child, start)) return false;
    return start <= LOOK_BACK_BYTES || !(await this.#isShownBefore(child, start));
  }

  /** Whether a call or a naming before `start`, anywhere in the file, has shown `child`. */
  async #isShownBefore(child: Child, start: ByteOffset): Promise<boolean> {
    const { spawns, namings } = await this.#evidence();
    const callId = child.meta?.toolUseId ?? this.#prompts.callOf(child, spawns);
    const isNear = (call: SpawnCall): boolean => {
      const at = child.first.at ?? call.at;
      return at !== undefined && call.at !== undefined && Math.abs(at - call.at) <= SETTLE_MS;
    };
    return (
      spawns.some((call) => call.start < start && call.id === callId && isNear(call)) ||
      namings.some(
        (naming) =>
          naming.start < start &&
          isOwnResult(child, naming) &&
          (naming.agent === child.id ||
            (naming.run !== undefined && naming.run === child.run) ||
            (naming.isResult && naming.callId === callId && callId !== undefined && !isAfter(child.first, naming.at))),
      )
    );
  }

  #isNamedBefore(child: Child, before: ByteOffset): boolean {
    const asked = child.first.prompt;
    const byPrompt = this.#prompts.asked(asked).includes(child) && asked !== undefined;
    const calls = byPrompt ? this.#prompts.callsFor(asked, before, LOOK_BACK_BYTES).map(({ id }) => id) : [];
    const needles = [child.id, child.run, child.meta?.toolUseId, ...calls].filter((needle) => needle !== undefined);
    return needles.some((needle) => {
      for (const place of this.#file.places(needle, before)) {
        const line = this.#file.lineAt(place);
        if (line !== undefined && this.#isNamedIn(child, line)) return true;
      }
      return false;
    });
  }

  #isNamedIn(child: Child, { start, bytes }: EarlierLine): boolean {
    return this.#file.records(bytes).some((record) => {
      const at = timeOf(record) ?? this.#file.timeBefore(start);
      return namingsOf(record, this.#callsAnsweredBy(record, start)).some(
        (naming) => isOwnResult(child, naming) && this.#namedBy(naming, start, at).includes(child),
      );
    });
  }

  #callsAnsweredBy(record: JsonObject, start: ByteOffset): Call[] {
    const calls: Call[] = [];
    const ids = namedResults(record).flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
    findCalls(this.#file, new Map(ids.map((id) => [id, [{ start, found: (call) => calls.push(call) }]])));
    return calls;
  }
}

/** A gateway may give the same id to calls of different turns. */
function isMetaOf({ meta, first }: Child, call: Call, at: EpochMs | undefined): boolean {
  return meta?.toolUseId === call.id && (at === undefined || (first.at ?? at) >= at - SETTLE_MS);
}

function isAfter({ at }: FirstRecord, time: EpochMs | undefined): boolean {
  return at !== undefined && time !== undefined && at > time;
}

/** The result of another call than that which started it says nothing of where it stands. */
function isOwnResult({ meta }: Child, { isResult, callId }: Pick<Naming, "isResult" | "callId">): boolean {
  return !isResult || meta?.toolUseId === undefined || meta.toolUseId === callId;
}

function entryOf(child: Child, at: EpochMs, start: ByteOffset, call: Call | undefined): SubagentEntry {
  const said = [child.meta?.description, asText(call?.input?.description), child.meta?.agentType, child.first.prompt];
  const subagent = { id: child.id, title: childTitle(child.id, said), agent: "claude" as const };
  return { kind: "subagent", at, pos: posOf(start), subagent };
}
