import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { asCount, asObject, asText, type JsonObject } from "../../platform/read.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";

/** Why a thread exists: a person's own, an agent that another one spawned, or a helper of the CLI's own (reviews, …). */
export type ThreadRole = "user" | "spawned" | "helper";

/** What a thread's history goes on from (Codex 0.149 and newer): the first bytes of another segment. */
export interface HistoryBase {
  /** A segment's id, which is a thread's id only for its first file; undefined where it can't be one. */
  readonly segment: SessionId | undefined;
  /** The first ordinal that is no longer part of it. */
  readonly endOrdinal: number | undefined;
  /** Bytes of the base's uncompressed file. */
  readonly endOffset: number | undefined;
}

/** The first `session_meta` of a rollout, or the first line of a flat one (0.31 and older). */
export interface Header {
  readonly id: SessionId;
  /** Whether records stand in an envelope of type and payload (0.32 and newer). */
  readonly enveloped: boolean;
  /** `history_mode: "paginated"`: messages are told by `item_completed` (0.149 and newer by default). */
  readonly paginated: boolean;
  readonly role: ThreadRole;
  /** The thread that started this one; never set by an ordinary fork. */
  readonly parent?: SessionId;
  readonly forkedFrom?: SessionId;
  readonly historyBase?: HistoryBase;
  /** The first ordinal of a child's own history. */
  readonly ownOrdinal?: number;
  readonly nickname?: string;
  readonly agentRole?: string;
  /** A V2 agent's path, `/root/worker_one`. */
  readonly agentPath?: string;
  readonly cwd?: string;
  readonly branch?: string;
  readonly cliVersion?: string;
  readonly startedAt?: EpochMs;
  /** When the record was written, which for a child is when it appeared. */
  readonly writtenAt?: EpochMs;
}

/** `record` as a header, or undefined when it is none. */
export function headerOf(record: unknown): Header | undefined {
  const line = asObject(record);
  if (line === undefined) return undefined;
  if (line.type === "session_meta") return envelopedHeader(line, asObject(line.payload) ?? {});
  return line.type === undefined && line.record_type === undefined ? flatHeader(line) : undefined;
}

/** What the name of a file tells whose header is lost, or not written yet. */
export function headerByName(id: SessionId, enveloped: boolean): Header {
  return { id, enveloped, paginated: false, role: "user" };
}

/** 0.20: `{"id","timestamp","instructions","git"}` without a type. */
function flatHeader(line: JsonObject): Header | undefined {
  const id = sessionIdOf(line.id);
  if (id === undefined) return undefined;
  const branch = asText(asObject(line.git)?.branch);
  const startedAt = timeOf(line.timestamp);
  return {
    id,
    enveloped: false,
    paginated: false,
    role: "user",
    ...(branch !== undefined && { branch }),
    ...(startedAt !== undefined && { startedAt, writtenAt: startedAt }),
  };
}

function envelopedHeader(line: JsonObject, meta: JsonObject): Header | undefined {
  const id = sessionIdOf(meta.id);
  if (id === undefined) return undefined;
  const source = asObject(meta.source);
  const spawn = asObject(asObject(source?.subagent)?.thread_spawn);
  const startedAt = timeOf(meta.timestamp) ?? timeOf(line.timestamp);
  return {
    id,
    enveloped: true,
    paginated: meta.history_mode === "paginated",
    role: roleOf(meta, source, spawn),
    startedAt,
    writtenAt: timeOf(line.timestamp) ?? startedAt,
    // A thread that names itself started on its own: who walks from parent to child must come to an end.
    parent: [meta.parent_thread_id, spawn?.parent_thread_id].map(sessionIdOf).find((other) => other && other !== id),
    forkedFrom: sessionIdOf(meta.forked_from_id),
    historyBase: historyBaseOf(meta.history_base),
    ownOrdinal: asCount(meta.subagent_history_start_ordinal),
    nickname: asText(meta.agent_nickname) ?? asText(spawn?.agent_nickname),
    agentRole: asText(meta.agent_role) ?? asText(meta.agent_type) ?? asText(spawn?.agent_role),
    agentPath: asText(meta.agent_path) ?? asText(spawn?.agent_path),
    cwd: asText(meta.cwd),
    branch: asText(asObject(meta.git)?.branch),
    cliVersion: asText(meta.cli_version),
  };
}

/** `source` (0.58 and newer): a word for a person's session, `{subagent: …}` or `{internal: …}` for all others. */
function roleOf(meta: JsonObject, source: JsonObject | undefined, spawn: JsonObject | undefined): ThreadRole {
  if (spawn !== undefined) return "spawned";
  if (source?.subagent !== undefined || source?.internal !== undefined) return "helper";
  return meta.thread_source === "memory_consolidation" ? "helper" : "user";
}

/** Whatever is stated: a pointer that can't be followed is a history that is missing. */
function historyBaseOf(stated: unknown): HistoryBase | undefined {
  if (stated === undefined || stated === null) return undefined;
  const base = asObject(stated);
  return {
    segment: sessionIdOf(base?.thread_id),
    endOrdinal: asCount(base?.end_ordinal_exclusive),
    endOffset: asCount(base?.end_byte_offset),
  };
}

/** A time as text, or as a number of seconds or milliseconds (files that other tools converted). */
export function timeOf(value: unknown): EpochMs | undefined {
  return epochMsFromIso(typeof value === "number" && Math.abs(value) < 1e11 ? value * 1000 : value);
}

/** What a spawned agent is called: its path's last part (V2), its nickname, its role; before 0.107 only its task tells. */
export function agentTitle({ nickname, agentRole, agentPath }: Header, task?: string): string {
  const path = agentPath?.split("/").filter(Boolean).at(-1);
  const names = [path, nickname, agentRole === "default" ? undefined : agentRole].filter((name) => name !== undefined);
  const [first, ...rest] = names;
  if (first === undefined) return task ?? agentRole ?? "agent";
  return rest.length === 0 ? first : `${first} (${rest.join(", ")})`;
}

/** Whether the CLI that began the thread is at least 0.`minor`. */
export function isSince({ cliVersion }: Header, minor: number): boolean {
  const match = /^(\d+)\.(\d+)\./.exec(cliVersion ?? "");
  return match !== null && (Number(match[1]) > 0 || Number(match[2]) >= minor);
}
