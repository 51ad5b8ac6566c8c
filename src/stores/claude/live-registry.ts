import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { type FileStamp, sameStamp, stampFrom, stampOf } from "../../platform/files.ts";
import { isAlive } from "../../platform/process-identity.ts";
import { asCount, asObject, asString, asText } from "../../platform/read.ts";
import { sessionIdOf } from "../../transcript/names.ts";
import type { LiveProof } from "../store.ts";

/** Tells whether a process is the one that wrote down its start. */
export interface ProcessProof {
  /** Whether `pid` exists now and, where the system tells (`start`: field 22 of Linux' `/proc/<pid>/stat`), began then. */
  isRunning(pid: number, start: string | undefined): boolean;
}

/** The system's processes. What Claude Code calls the start of a process is known of Linux alone. */
export function systemProcesses(platform: NodeJS.Platform): ProcessProof {
  return {
    isRunning: (pid, start) => isAlive({ pid, ...(platform === "linux" && start !== undefined && { start }) }),
  };
}

/** A process that wrote itself down in `<root>/sessions/<pid>.json`. */
interface Registered {
  readonly proof: LiveProof;
  /** The start of the process as it stated it. */
  readonly start: string | undefined;
}

interface Held {
  readonly stamp: FileStamp;
  readonly registered: Registered | undefined;
}

/** Only `<pid>.json`: the `.key` file beside it is a secret and is never opened. */
const REGISTRATION = /^[1-9]\d{0,9}\.json$/;

/** A registration is some 600 bytes long. */
const LARGEST = 64 * 1024;

/** How long an answer is taken to hold: ms. */
const FRESH_MS = 1_000;

/** Bytes of a text that comes from a registration and is shown. */
const LONGEST_TEXT = 128;

/**
 * Which sessions a Claude Code process has open, by the files that running processes keep in `<root>/sessions` (2.1.332). A
 * killed process leaves its file, so a file proves nothing until the process itself is found.
 */
export class LiveRegistry {
  readonly #clock: Clock;
  readonly #processes: ProcessProof;
  #folders: readonly string[] = [];
  #held = new Map<string, Held>();
  #answer: { readonly at: EpochMs; readonly live: readonly LiveProof[] } | undefined;

  constructor(clock: Clock, processes: ProcessProof) {
    this.#clock = clock;
    this.#processes = processes;
  }

  /** The `sessions` folders to look in from now on. */
  lookIn(folders: readonly string[]): void {
    if (folders.join("\n") !== this.#folders.join("\n")) this.refresh();
    this.#folders = folders;
  }

  /** The next question asks the system anew. */
  refresh(): void {
    this.#answer = undefined;
  }

  /** The sessions that a process has open, as of a second ago at most; where several have one, the newest process. */
  live(): readonly LiveProof[] {
    const now = this.#clock.now();
    if (this.#answer !== undefined && Math.abs(now - this.#answer.at) < FRESH_MS) return this.#answer.live;
    this.#held = this.#read();
    const newest = new Map<string, LiveProof>();
    for (const { registered } of this.#held.values()) {
      if (registered === undefined || !this.#processes.isRunning(registered.proof.pid, registered.start)) continue;
      const { proof } = registered;
      const other = newest.get(proof.id);
      if (other === undefined || other.startedAt <= proof.startedAt) newest.set(proof.id, proof);
    }
    this.#answer = { at: now, live: [...newest.values()] };
    return this.#answer.live;
  }

  /** What the registrations say; only those that changed are read again. */
  #read(): Map<string, Held> {
    const held = new Map<string, Held>();
    for (const folder of this.#folders.flatMap((named) => quietly(() => realpathSync.native(named)) ?? [])) {
      for (const name of namesIn(folder)) {
        const path = join(folder, name);
        const stamp = stampOf(path);
        const before = this.#held.get(path);
        if (stamp === undefined) continue;
        const same = before !== undefined && sameStamp(before.stamp, stamp);
        held.set(path, same ? before : { stamp, registered: quietly(() => registrationAt(path)) });
      }
    }
    return held;
  }
}

function namesIn(folder: string): string[] {
  return (quietly(() => readdirSync(folder)) ?? []).filter((name) => REGISTRATION.test(name));
}

/** Reads a registration in a folder without links; a link in the last place is not followed. */
function registrationAt(path: string): Registered | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) return undefined;
    const { size, mtimeNs } = stampFrom(path, stats);
    const bytes = Buffer.alloc(Math.min(size, LARGEST));
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
    return registration(JSON.parse(text), epochMsOf(Number(mtimeNs / 1_000_000n)) ?? (0 as EpochMs));
  } finally {
    closeSync(descriptor);
  }
}

/** What a registration says; undefined when it names no session or process. */
function registration(value: unknown, writtenAt: EpochMs): Registered | undefined {
  const record = asObject(value);
  const pid = asCount(record?.pid);
  const id = sessionIdOf(record?.sessionId);
  if (record === undefined || pid === undefined || pid === 0 || id === undefined) return undefined;
  const activity = asText(record.status)?.slice(0, LONGEST_TEXT);
  const name = asText(record.name)?.slice(0, LONGEST_TEXT);
  const proof: LiveProof = {
    id,
    pid,
    cwd: asString(record.cwd) ?? "",
    startedAt: epochMsOf(record.startedAt) ?? writtenAt,
    ...(activity !== undefined && { activity }),
    ...(name !== undefined && { name }),
  };
  return { proof, start: asText(record.procStart) ?? asCount(record.procStart)?.toString() };
}

/** A registration comes and goes with its process: one that vanishes or is half written while it is read says nothing. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
