import { setImmediate as turn } from "node:timers/promises";
import { Continuity } from "../../jsonl/continuity.ts";
import { type ByteOffset, byteOffsetOf } from "../../jsonl/cursor.ts";
import type { OpenFile } from "../../platform/files.ts";
import { asText, type JsonObject } from "../../platform/read.ts";
import { Recent } from "../../platform/recent.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { type ChatFile, type Reading, withChat } from "./chat-file.ts";
import { MAIN_CHAT, sidechainKey } from "./chat-scope.ts";
import { type ChildTail, type FirstRecord, firstOf, TailReader } from "./child-facts.ts";
import { holds, isSpaced, readHead } from "./line-head.ts";
import { isSidechain, promptOf, timeOf } from "./records.ts";

/** A subagent whose records stand in its parent's file (Claude Code 2.0 and older). */
export interface Sidechain {
  readonly id: SessionId;
  readonly first: FirstRecord;
  tail(): ChildTail;
}

/** The subagents in a session's own file, as far as its first 8 MiB tell. */
export interface Sidechains {
  readonly all: readonly Sidechain[];
  /** The first record above `uuid`, for records that name no agent. */
  rootOf(uuid: string): string | undefined;
}

/** Bytes at a file's start in which such subagents are looked for. */
const SCAN_BYTES = LOOK_BACK_BYTES;
/** Bytes after which others get their turn. */
const STEP_BYTES = 512 * 1024;
const SESSIONS = 32;

interface Growing {
  first: FirstRecord;
  readonly tail: TailReader;
}

interface Scan {
  readonly edition: number;
  /** Behind the last line that was read. */
  to: ByteOffset;
  /** How long the part of the file was that was read. */
  size: number;
  readonly found: Map<string, Growing>;
  readonly roots: Map<string, string>;
}

/** Finds inline subagents; a file is scanned once, and what is appended to it is added. */
export class SidechainFinder {
  readonly #scans = new Recent<string, Scan>(SESSIONS);
  readonly #continuity = new Continuity(SESSIONS);
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  async of(file: OpenFile): Promise<Sidechains> {
    const { path, size } = file.stamp;
    const { edition } = this.#continuity.now(file);
    let scan = this.#scans.get(path);
    if (scan?.edition !== edition) {
      scan = { edition, to: byteOffsetOf(0), size: 0, found: new Map(), roots: new Map() };
    }
    this.#scans.set(path, scan);
    const scanned = Math.min(size, SCAN_BYTES);
    if (scan.size !== scanned) await this.#goOn(scan, file, scanned);
    scan.size = scanned;
    return sidechainsOf(scan);
  }

  #goOn(scan: Scan, file: OpenFile, size: number): Promise<void> {
    return withChat(file, MAIN_CHAT, this.#reading, (chat) => scanTo(scan, chat, size));
  }
}

async function scanTo(scan: Scan, chat: ChatFile, size: number): Promise<void> {
  const end = lastLineEnd(chat, size);
  let next = scan.to + STEP_BYTES;
  for (const line of chat.linesFrom(scan.to, end)) {
    if (line.start < scan.to) continue;
    scan.to = byteOffsetOf(line.start + line.bytes.length + 1);
    if (mayBeSidechain(line.bytes) && readHead(line.bytes).kind !== "skip") {
      for (const record of chat.parse(line.bytes)) if (isSidechain(record)) add(scan, record);
    }
    if (line.start < next) continue;
    next = line.start + STEP_BYTES;
    await turn();
  }
}

function mayBeSidechain(line: Buffer): boolean {
  return holds(line, '"isSidechain":true') || (isSpaced(line) && holds(line, '"isSidechain": true'));
}

function add(scan: Scan, record: JsonObject): void {
  const uuid = asText(record.uuid);
  const parent = asText(record.parentUuid);
  const root = (parent === undefined ? undefined : scan.roots.get(parent)) ?? uuid;
  if (uuid !== undefined && root !== undefined && !scan.roots.has(uuid)) scan.roots.set(uuid, root);
  const key = sidechainKey(record, (id) => scan.roots.get(id));
  if (key === undefined) return;
  const known = scan.found.get(key);
  const growing = known ?? { first: firstOf(record, promptOf(record), true), tail: new TailReader() };
  if (growing.first.at === undefined) growing.first = { ...growing.first, at: timeOf(record) };
  growing.tail.next(record);
  scan.found.set(key, growing);
}

function sidechainsOf(scan: Scan): Sidechains {
  const all = [...scan.found].flatMap(([key, { first, tail }]) => {
    const id = sessionIdOf(key);
    return id === undefined ? [] : [{ id, first, tail: () => tail.tail() }];
  });
  return { all, rootOf: (uuid) => scan.roots.get(uuid) };
}

/** Behind the last newline before `end`. */
function lastLineEnd(chat: ChatFile, end: number): ByteOffset {
  return chat.lineStart(byteOffsetOf(end)) ?? byteOffsetOf(0);
}
