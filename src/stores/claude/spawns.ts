import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import type { Entry, SubagentEntry } from "../../transcript/entry.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES, SETTLE_MS } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { type Call, callsOf, findCalls } from "./calls.ts";
import { type ChatFile, posOf } from "./chat-file.ts";
import type { ChatRecord } from "./chat-records.ts";
import { childTitle, promptMark } from "./child-facts.ts";
import type { Child, Children } from "./children.ts";
import { isSpawnTool, type NamedResult, namedResults, notificationOf } from "./links.ts";
import { timeOf } from "./records.ts";

/*
 * Where a subagent stands in the chat of whoever started it: at the call, when its first record is at most 5 s younger
 * than the call; else at the first result or notification that names it. The call is found from the subagent's meta
 * file; without one (2.1.1 and older) by its prompt, at the first of several calls with the same one.
 */

/** The subagents of a page, and where it must stop because one may yet appear. */
export interface Placed {
  readonly records: readonly { readonly start: ByteOffset; readonly entries: readonly Entry[] }[];
  /** The first record that waits for its subagent. */
  readonly stop: ByteOffset | undefined;
  /** The subagents that the page was decided by. */
  readonly used: readonly Child[];
}

/** Whether anything in these records has to do with subagents; if not, nothing need be known of them. */
export function mentionsSubagents(records: readonly ChatRecord[]): boolean {
  for (const { record, entries, calls } of records) {
    if (record === undefined) continue;
    if (record.type !== "assistant") {
      if (namingsOf(record, calls).length > 0) return true;
    } else if (entries.some((entry) => entry.kind === "tool-call" && isSpawnTool(entry.tool))) return true;
  }
  return false;
}

/** Puts subagents at their places. `now` decides alone whether the page has to wait. */
export async function placeSubagents(
  file: ChatFile,
  records: readonly ChatRecord[],
  children: Children,
  now: EpochMs,
): Promise<Placed> {
  const placing = new Placing(file, children, now);
  const placed: { start: ByteOffset; entries: readonly Entry[] }[] = [];
  placing.findCallsOfNotified(records);
  for (const record of records) {
    const entries = placing.record(record);
    if (entries === undefined) return { records: placed, stop: record.start, used: placing.used() };
    placed.push({ start: record.start, entries });
  }
  return { records: placed, stop: undefined, used: placing.used() };
}

/** A result or a notification that names subagents. */
interface Naming {
  readonly callId: string | undefined;
  /** Its call, when it is a result and the call was found. */
  readonly call: Call | undefined;
  readonly agent: SessionId | undefined;
  readonly run: string | undefined;
  readonly isResult: boolean;
}

function namingsOf(record: JsonObject, calls: ChatRecord["calls"]): Naming[] {
  const told = notificationOf(record);
  if (told !== undefined) {
    return [{ callId: told.callId, call: undefined, agent: told.task, run: undefined, isResult: false }];
  }
  if (!mayName(record, calls)) return [];
  return namedResults(record).flatMap((result: NamedResult) => {
    const call = calls.find(({ id }) => id === result.callId);
    const ofSpawn = call !== undefined && isSpawnTool(call.tool);
    const agent = result.byText && call !== undefined && !ofSpawn ? undefined : result.agent;
    if (agent === undefined && result.run === undefined && !ofSpawn) return [];
    return [{ callId: result.callId, call, agent, run: result.run, isResult: true }];
  });
}

/** Spares the many results that have nothing to do with subagents a closer look. */
function mayName(record: JsonObject, calls: ChatRecord["calls"]): boolean {
  if (record.type !== "user") return false;
  const structured = asObject(record.toolUseResult);
  if (structured?.agentId !== undefined || structured?.runId !== undefined || calls.length === 0) return true;
  return calls.some(({ tool }) => isSpawnTool(tool));
}

class Placing {
  readonly #file: ChatFile;
  readonly #children: Children;
  readonly #now: EpochMs;
  readonly #used = new Map<SessionId, Child>();
  /** The calls that notified subagents were started by, by where the notification stands. */
  readonly #calls = new Map<ByteOffset, Call>();

  constructor(file: ChatFile, children: Children, now: EpochMs) {
    this.#file = file;
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
  record({ record, entries, calls, start }: ChatRecord): readonly Entry[] | undefined {
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
      const named = this.#namedBy(naming);
      if (named.length === 0 && naming.agent !== undefined && naming.isResult && young) return undefined;
      for (const child of named) {
        this.#used.set(child.id, child);
        if (this.#isAtNaming(child, naming, start)) all.push(entryOf(child, at, start, naming.call));
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
    return this.#children.all.filter((child) => this.#isOurs(child) && this.#isLinked(child, call));
  }

  #isLinked(child: Child, call: Call): boolean {
    const at = this.#timeOf(call);
    if (child.meta?.toolUseId !== undefined) {
      // A gateway may give the same id to calls of different turns.
      return child.meta.toolUseId === call.id && (at === undefined || (child.first.at ?? at) >= at - SETTLE_MS);
    }
    const prompt = asText(call.input?.prompt);
    if (prompt === undefined || at === undefined || this.#file.scope.agent !== undefined) return false;
    const started = child.first.at;
    if (started === undefined || child.first.prompt !== promptMark(prompt)) return false;
    return Math.abs(started - at) <= SETTLE_MS;
  }

  /** Whether its place is at `call`: the first that can have started it (ids and prompts may come again). */
  #isAtCall(child: Child, call: Call): boolean {
    if (!this.#started(child, call)) return false;
    return call.start === undefined || !this.#hasCallBefore(child, call.start, PAGE_BYTES);
  }

  /** Whether `call` can have started `child` in time to show it. */
  #started(child: Child, call: Call): boolean {
    const at = this.#timeOf(call);
    if (!isSpawnTool(call.tool) || at === undefined) return false;
    // One that states no time is not known to have come too late.
    return (child.first.at ?? at) <= at + SETTLE_MS && this.#isLinked(child, call);
  }

  /** Whether a call that shows `child` stands before `before`, at most `window` bytes back. */
  #hasCallBefore(child: Child, before: ByteOffset, window: number): boolean {
    const id = child.meta?.toolUseId;
    const [key, value] = id === undefined ? ["prompt", child.first.prompt] : ["id", id];
    if (value === undefined) return false;
    const needle = `"${key}":${JSON.stringify(value.slice(0, 100)).replace(/"$/, "")}`;
    for (const place of this.#file.places(needle, before)) {
      if (place < before - window) return false;
      const line = this.#file.lineAt(place);
      const calls = line ? this.#file.records(line.bytes).flatMap((record) => callsOf(record, line.start)) : [];
      if (calls.some((call) => this.#started(child, call))) return true;
    }
    return false;
  }

  #namedBy({ agent, run, call }: Naming): Child[] {
    const tied = this.#children.all.filter(
      ({ id, run: ofRun, meta }) =>
        id === agent || (run !== undefined && ofRun === run) || (call !== undefined && meta?.toolUseId === call.id),
    );
    return tied.filter((child) => this.#isOurs(child));
  }

  #isAtNaming(child: Child, naming: Naming, start: ByteOffset): boolean {
    const own = child.meta?.toolUseId;
    if (!isOwnResult(child, naming)) return false;
    const callId = own ?? (naming.isResult ? undefined : naming.callId);
    const call = naming.isResult ? naming.call : this.#calls.get(start);
    // Whoever knows the call and can't see it any more trusts that the subagent was shown there.
    if (call === undefined && callId !== undefined) return false;
    if (call !== undefined && this.#started(child, call)) return false;
    return !this.#hasCallBefore(child, start, LOOK_BACK_BYTES) && !this.#isNamedBefore(child, start);
  }

  #isNamedBefore(child: Child, before: ByteOffset): boolean {
    const needles = [child.id, child.run, child.meta?.toolUseId].filter((needle) => needle !== undefined);
    return needles.some((needle) => {
      for (const place of this.#file.places(needle, before)) {
        const line = this.#file.lineAt(place);
        for (const record of line ? this.#file.records(line.bytes) : []) {
          const namings = line ? namingsOf(record, this.#callsAnsweredBy(record, line.start)) : [];
          if (namings.some((naming) => isOwnResult(child, naming) && this.#namedBy(naming).includes(child)))
            return true;
        }
      }
      return false;
    });
  }

  #callsAnsweredBy(record: JsonObject, start: ByteOffset): Call[] {
    const calls: Call[] = [];
    const ids = namedResults(record).flatMap(({ callId }) => (callId === undefined ? [] : [callId]));
    findCalls(this.#file, new Map(ids.map((id) => [id, [{ start, found: (call) => calls.push(call) }]])));
    return calls;
  }

  #timeOf(call: Call): EpochMs | undefined {
    return call.at ?? (call.start === undefined ? undefined : this.#file.timeBefore(call.start));
  }
}

/** The result of another call than that which started it says nothing of where it stands. */
function isOwnResult({ meta }: Child, { isResult, callId }: Naming): boolean {
  return !isResult || meta?.toolUseId === undefined || meta.toolUseId === callId;
}

function entryOf(child: Child, at: EpochMs, start: ByteOffset, call: Call | undefined): SubagentEntry {
  const said = [child.meta?.description, asText(call?.input?.description), child.meta?.agentType, child.first.prompt];
  const subagent = { id: child.id, title: childTitle(child.id, said), agent: "claude" as const };
  return { kind: "subagent", at, pos: posOf(start), subagent };
}
