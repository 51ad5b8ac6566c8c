import type { ByteOffset } from "../../jsonl/cursor.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import type { Clock, EpochMs } from "../../platform/clock.ts";
import { asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import { clip, oneLine } from "../../transcript/clip.ts";
import type { Entry, SubagentLink } from "../../transcript/entry.ts";
import { SETTLE_MS, TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { allText } from "./injected.ts";
import type { Before, PlacedCall } from "./look.ts";

/** A spawned agent, as far as its place in the parent's chat depends on it. */
export interface Spawned {
  readonly id: SessionId;
  readonly title: string;
  /** The time of its first record. */
  readonly firstAt: EpochMs;
  /** A V2 agent's path. */
  readonly path?: string;
  /** What it was asked, where that can be read. */
  readonly task?: string;
}

/** Finds the agents that one thread spawned. */
export interface SpawnedFinder {
  /** Those whose first record falls into this span, the oldest first. */
  between(from: number, to: number): Promise<readonly Spawned[]>;
  byId(id: SessionId): Promise<Spawned | undefined>;
}

/** What a record's subagents are, or that it is too early to say. */
export type Placement = readonly Entry[] | "wait";

/** Where spawned agents show in the chat of the thread that spawned them: each once, by what the files say alone. */
export class Placing {
  readonly #finder: SpawnedFinder;
  readonly #before: Before;
  readonly #clock: Clock;
  /** All agents of the thread, found once for all records that name one by its path alone. */
  #all: Promise<readonly Spawned[]> | undefined;

  constructor(finder: SpawnedFinder, before: Before, clock: Clock) {
    this.#finder = finder;
    this.#before = before;
    this.#clock = clock;
  }

  /** The agent that shows at a call: "wait" while the call is so young that its agent may yet come. */
  async atCall(call: PlacedCall, entry: Entry): Promise<Placement> {
    const agent = await this.#agentOf(call);
    if (agent !== undefined) return [subagentEntry(agent, entry)];
    return call.at !== undefined && this.#clock.now() - call.at < SETTLE_MS ? "wait" : [];
  }

  /** The agents that show at a record that names them: those that show at no call, and were not named before. */
  async atNaming(record: unknown, start: ByteOffset, entry: Pick<Entry, "at" | "pos">): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    for (const named of namedIn(record)) {
      const agent = await this.#resolve(named);
      if (agent === undefined || (await this.#showsAtCall(agent, start)) || this.#namedBefore(agent, named, start))
        continue;
      entries.push(subagentEntry(agent, entry));
    }
    return entries;
  }

  /**
   * The agent that a call spawned: it began at most 5 s later and has the call's path or task. Of several calls that ask
   * the same, the first has the first agent, and so on.
   */
  async #agentOf(call: PlacedCall): Promise<Spawned | undefined> {
    if (call.at === undefined) return undefined;
    let rank = 0;
    let first = call.at;
    for (const other of this.#before.spawns(call.start)) {
      if (other.at === undefined || call.at - other.at > SETTLE_MS) break;
      if (!sameTask(other.input, call.input)) continue;
      rank++;
      first = other.at;
    }
    const agents = await this.#finder.between(first, call.at + SETTLE_MS);
    const agent = agents.filter((candidate) => fits(candidate, call.input))[rank];
    return agent !== undefined && agent.firstAt >= call.at ? agent : undefined;
  }

  async #showsAtCall(agent: Spawned, start: ByteOffset): Promise<boolean> {
    for (const call of this.#before.spawns(start)) {
      if (call.at === undefined || call.at > agent.firstAt) continue;
      if (agent.firstAt - call.at > SETTLE_MS) return false;
      if ((await this.#agentOf(call))?.id === agent.id) return true;
    }
    return false;
  }

  #namedBefore(agent: Spawned, named: Named, start: ByteOffset): boolean {
    for (const text of [agent.id, named.path]) {
      if (text === undefined) continue;
      for (const line of this.#before.lines(text, start)) {
        const earlier = parseRecords(line.bytes).flatMap(namedIn);
        if (earlier.some(({ id, path }) => id === agent.id || (path !== undefined && path === named.path))) return true;
      }
    }
    return false;
  }

  /** An agent without a file has no chat to lead to, so it does not show. */
  async #resolve({ id, path }: Named): Promise<Spawned | undefined> {
    if (id !== undefined) return this.#finder.byId(id);
    if (path === undefined) return undefined;
    this.#all ??= this.#finder.between(0, Number.MAX_SAFE_INTEGER);
    const agents = await this.#all;
    return agents.find((agent) => agent.path === path);
  }
}

/** An agent as a record names it: V1 by id, V2 by path, or both. */
interface Named {
  readonly id?: SessionId;
  readonly path?: string;
}

const NOTIFICATION = /<subagent_notification>\s*([\s\S]*?)\s*<\/subagent_notification>/;

/**
 * The agents that a record names: what a spawn call answers (V1 with an id, V2 with a path), a V2 activity (0.142 and
 * newer), a V1 notification (0.107 and newer).
 */
export function namedIn(record: unknown): Named[] {
  const line = asObject(record);
  const payload = asObject(line?.payload);
  if (line === undefined || payload === undefined) return [];
  if (line.type === "event_msg") {
    if (payload.type === "sub_agent_activity") return activity(payload);
    const item = payload.type === "item_completed" ? asObject(payload.item) : undefined;
    return item?.type === "SubAgentActivity" ? activity(item) : [];
  }
  if (line.type !== "response_item") return [];
  if (payload.type === "function_call_output") return spawnOutput(asString(payload.output));
  if (payload.type !== "message" || payload.role !== "user") return [];
  const notice = jsonOf(NOTIFICATION.exec(allText(payload))?.[1]);
  const id = sessionIdOf(notice?.agent_path) ?? sessionIdOf(notice?.agent_id);
  return id === undefined ? [] : [{ id }];
}

function activity(item: JsonObject): Named[] {
  const id = sessionIdOf(item.agent_thread_id);
  const path = asText(item.agent_path);
  return id === undefined ? [] : [{ id, ...(path !== undefined && { path }) }];
}

function spawnOutput(output: string | undefined): Named[] {
  if (output === undefined || output.length > 1000 || !output.startsWith("{")) return [];
  const answer = jsonOf(output);
  const id = sessionIdOf(answer?.agent_id);
  const path = asText(answer?.task_name);
  if (id === undefined && path === undefined) return [];
  return [{ ...(id && { id }), ...(path !== undefined && { path }) }];
}

/** Whether an agent can be what a call asked for: by path (V2), by task (V1). */
function fits(agent: Spawned, input: unknown): boolean {
  const { task_name: name, message } = asObject(input) ?? {};
  if (typeof name === "string") return agent.path?.split("/").at(-1) === name.split("/").at(-1);
  if (typeof message !== "string") return true;
  return agent.task?.trim() === clipTask(message);
}

/** A task as it is compared: long ones by their beginnings. */
export function clipTask(task: string): string {
  return task.slice(0, TASK_CHARACTERS).trim();
}

const TASK_CHARACTERS = 2000;

function sameTask(a: unknown, b: unknown): boolean {
  const [x, y] = [asObject(a), asObject(b)];
  return x?.task_name === y?.task_name && (typeof x?.task_name === "string" || x?.message === y?.message);
}

function subagentEntry(agent: Spawned, { at, pos }: Pick<Entry, "at" | "pos">): Entry {
  const title = clip(oneLine(agent.title), TITLE_CHARACTERS).text;
  const subagent: SubagentLink = { id: agent.id, title, agent: "codex" };
  return { kind: "subagent", at, pos, subagent };
}

function jsonOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}
