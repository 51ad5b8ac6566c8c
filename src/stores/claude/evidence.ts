import { setImmediate as turn } from "node:timers/promises";
import { Continuity } from "../../jsonl/continuity.ts";
import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import type { EpochMs } from "../../platform/clock.ts";
import type { OpenFile } from "../../platform/files.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { Recent } from "../../platform/recent.ts";
import { PAGE_BYTES } from "../../transcript/limits.ts";
import type { SessionId } from "../../transcript/names.ts";
import { callsOf } from "./calls.ts";
import { type ChatFile, type Reading, withChat } from "./chat-file.ts";
import type { ChatScope } from "./chat-scope.ts";
import { promptMark } from "./child-facts.ts";
import { readHead } from "./line-head.ts";
import { isSpawnTool, namedResults, notificationOf, progressLink, taskStatusOf } from "./links.ts";
import { timeOf } from "./records.ts";

/** How a chat says that a subagent ended. */
export interface Ending {
  readonly at: EpochMs | undefined;
  /** `completed`, `failed`, `stopped`, `killed`, or another word. */
  readonly status: string;
}

/** A call that started a subagent. */
export interface SpawnCall extends Described {
  readonly id: string;
  readonly start: ByteOffset;
}

/** A result or a notification that names subagents. */
interface NamingPlace {
  readonly start: ByteOffset;
  readonly at: EpochMs | undefined;
  readonly isResult: boolean;
  readonly callId: string | undefined;
  readonly agent: SessionId | undefined;
  readonly run: string | undefined;
}

/** What a call asked for. */
export interface Described {
  readonly at: EpochMs | undefined;
  readonly description: string | undefined;
  readonly prompt: string | undefined;
}

/** What a chat says of the subagents that it started. */
export interface Evidence {
  /** What a call asked for, by its id. */
  readonly described: ReadonlyMap<string, Described>;
  /** The call that started a subagent, as its result, a progress record or a notification names it. */
  readonly callOf: ReadonlyMap<SessionId, string>;
  /** How the result of a call says that it ended, by the call's id. */
  readonly results: ReadonlyMap<string, Ending>;
  /** The newest notification of a subagent. */
  readonly told: ReadonlyMap<SessionId, Ending>;
  /** The calls that start subagents in records that are shown, the first first. */
  readonly spawns: readonly SpawnCall[];
  /** What names subagents, the first first. */
  readonly namings: readonly NamingPlace[];
}

/** No more than this is read of a file's end for a list of what stands there. */
const END_BYTES = 128 * 1024 * 1024;
/** No more than this is read of a file's start for what a chat shows first. */
const START_BYTES = 1024 * 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
const FILES = 64;
/** Kept of a file at most, of each kind. */
const MOST = 5_000;

/** Lines that hold one of these are parsed: calls that start subagents, and what is told of tasks. */
const NEEDLES = ['"name":"Agent"', '"name":"Task"', "<task-id>", '"task_status"', '"agent_progress"'].map((text) =>
  Buffer.from(text),
);
/** In the session's own chat these name subagents also in results of other calls; a subagent's own records all do. */
const NAMES = ['"agentId":"', '"runId":"'].map((text) => Buffer.from(text));
const SPAWN = /"id":"([^"\\]{1,200})","name":"(?:Agent|Task)"$/;
const RESULT = Buffer.from('"tool_use_id":"');

interface Scan {
  readonly edition: number;
  /** Behind the last line that was read. */
  to: number;
  readonly described: Map<string, Described>;
  readonly callOf: Map<SessionId, string>;
  readonly results: Map<string, Ending>;
  readonly told: Map<SessionId, Ending>;
  readonly spawns: SpawnCall[];
  readonly namings: NamingPlace[];
}

/** Collects what chats say of their subagents; a file is scanned once, and what is appended to it is added. */
export class EvidenceFinder {
  readonly #scans = new Recent<string, Scan>(FILES);
  readonly #continuity = new Continuity(FILES);
  readonly #reading: Reading;
  /** One for every step, which is taken without a pause. */
  readonly #buffer = Buffer.allocUnsafeSlow(STEP_BYTES);

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  /** What the open transcript says as one chat of it shows it: its last 128 MiB, or its first GiB. */
  async of(file: OpenFile, scope: ChatScope, part: "end" | "start"): Promise<Evidence> {
    const { path, size } = file.stamp;
    const { edition } = this.#continuity.now(file);
    const key = `${scope.agent ?? ""}\n${path}${part === "start" && size > END_BYTES ? "\nstart" : ""}`;
    const known = this.#scans.get(key);
    const from = part === "start" ? 0 : Math.max(0, size - END_BYTES);
    const scan = known?.edition === edition ? known : newScan(edition, from);
    this.#scans.set(key, scan);
    const end = part === "start" ? Math.min(size, START_BYTES) : size;
    await withChat(file, scope, this.#reading, async (chat) => {
      while (scan.to < end && step(scan, chat, this.#buffer)) await turn();
    });
    return scan;
  }
}

function newScan(edition: number, to: number): Scan {
  const maps = { described: new Map(), callOf: new Map(), results: new Map(), told: new Map() };
  return { edition, to, ...maps, spawns: [], namings: [] };
}

/** Reads one step further; false when no whole line is left. */
function step(scan: Scan, chat: ChatFile, buffer: Buffer): boolean {
  const base = scan.to;
  const bytes = buffer.subarray(0, chat.source.read(buffer, base));
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end === 0) {
    // A line longer than a step is passed over; what calls it makes stands at its start.
    for (const needle of NEEDLES) for (const place of placesOf(bytes, needle)) noteLong(scan, bytes, place, needle);
    scan.to += bytes.length === STEP_BYTES ? bytes.length : 0;
    return bytes.length === STEP_BYTES;
  }
  scan.to = base + end;
  const whole = bytes.subarray(0, end);
  const starts = new Set<number>();
  const needles = chat.scope.agent === undefined ? [...NEEDLES, ...NAMES] : NEEDLES;
  for (const needle of needles) {
    for (const place of placesOf(whole, needle)) {
      const start = lineStartOf(whole, place);
      if (whole.indexOf(0x0a, place) - start >= PAGE_BYTES) noteLong(scan, whole, place, needle);
      else starts.add(start);
    }
  }
  read(scan, chat, base, whole, starts);
  // The results of the calls that are known by now, those of this step included.
  const results = new Set<number>();
  if (scan.described.size > 0) {
    for (const place of placesOf(whole, RESULT)) {
      const from = place + RESULT.length;
      const id = whole.toString("latin1", from, whole.indexOf(0x22, from));
      if (scan.described.has(id) && !starts.has(lineStartOf(whole, place))) results.add(lineStartOf(whole, place));
    }
  }
  read(scan, chat, base, whole, results);
  return true;
}

function read(scan: Scan, chat: ChatFile, base: number, bytes: Buffer, starts: ReadonlySet<number>): void {
  for (const start of [...starts].sort((a, b) => a - b)) {
    const end = bytes.indexOf(0x0a, start);
    if (end - start >= PAGE_BYTES) continue;
    const line = bytes.subarray(start, end);
    const head = readHead(line);
    if (head.kind !== "unsure" && !chat.scope.mayInclude(head)) continue;
    for (const record of chat.parse(line)) {
      if (chat.scope.includes(record)) note(scan, record, byteOffsetOf(base + start));
    }
  }
}

/** The call that stands at `place` in a record that is too long to be parsed. */
function noteLong(scan: Scan, bytes: Buffer, place: number, needle: Buffer): void {
  const id = SPAWN.exec(bytes.toString("latin1", Math.max(0, place - 256), place + needle.length))?.[1];
  if (id !== undefined) put(scan.described, id, { at: undefined, description: undefined, prompt: undefined });
}

function note(scan: Scan, record: JsonObject, start: ByteOffset): void {
  for (const call of callsOf(record, start)) {
    if (!isSpawnTool(call.tool)) continue;
    const described: Described = {
      at: call.at,
      description: asText(call.input?.description)?.slice(0, 2_000),
      prompt: markOf(asText(call.input?.prompt)),
    };
    put(scan.described, call.id, described);
    add(scan.spawns, { ...described, id: call.id, start });
  }
  for (const result of namedResults(record)) {
    const ofSpawn = result.callId !== undefined && scan.described.has(result.callId);
    const agent = result.byText && !ofSpawn ? undefined : result.agent;
    if (ofSpawn || agent !== undefined || result.run !== undefined) {
      add(scan.namings, { start, at: timeOf(record), isResult: true, callId: result.callId, agent, run: result.run });
    }
    if (result.callId === undefined || !ofSpawn) continue;
    if (result.agent !== undefined) put(scan.callOf, result.agent, result.callId);
    if (result.launched) continue;
    const status = result.rejected ? "stopped" : result.isError ? "failed" : "completed";
    put(scan.results, result.callId, { at: timeOf(record), status });
  }
  const link = progressLink(record);
  if (link !== undefined) put(scan.callOf, link.agent, link.callId);
  const notified = notificationOf(record);
  if (notified !== undefined && record.type !== "queue-operation") {
    add(scan.namings, {
      start,
      at: timeOf(record),
      isResult: false,
      callId: notified.callId,
      agent: notified.task,
      run: undefined,
    });
  }
  const told = notified ?? taskStatusOf(record);
  if (told === undefined) return;
  if (told.callId !== undefined && !scan.callOf.has(told.task)) put(scan.callOf, told.task, told.callId);
  if (told.status !== undefined) put(scan.told, told.task, { at: timeOf(record), status: told.status });
}

function markOf(prompt: string | undefined): string | undefined {
  return prompt === undefined ? undefined : promptMark(prompt);
}

function put<K, V>(map: Map<K, V>, key: K, value: V): void {
  if (map.size < MOST || map.has(key)) map.set(key, value);
}

function add<T>(list: T[], value: T): void {
  if (list.length < MOST) list.push(value);
}

function* placesOf(bytes: Buffer, needle: Buffer): Generator<number> {
  for (let place = bytes.indexOf(needle); place >= 0; place = bytes.indexOf(needle, place + 1)) yield place;
}

function lineStartOf(bytes: Buffer, place: number): number {
  return place === 0 ? 0 : bytes.lastIndexOf(0x0a, place - 1) + 1;
}
