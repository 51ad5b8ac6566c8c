import { readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type EpochMs, epochMsOf } from "../../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf, withFileNow } from "../../platform/files.ts";
import { asCount, asObject, asString, asText } from "../../platform/read.ts";
import { sessionIdOf } from "../../transcript/names.ts";
import type { LiveProof } from "../store.ts";

/** Tells whether a process is the one that wrote down its start. */
export interface ProcessProof {
  /** Whether `pid` exists now and, where the system tells (`start`: field 22 of Linux' `/proc/<pid>/stat`), began then. */
  isRunning(pid: number, start: string | undefined): boolean;
}

/** A process that wrote itself down in `<root>/sessions/<pid>.json`. */
interface Registered {
  readonly proof: LiveProof;
  /** The start of the process as it stated it. */
  readonly start: string | undefined;
}

/** Only `<pid>.json`: the `.key` file beside it is a secret and is never opened. */
const REGISTRATION = /^[1-9]\d{0,9}\.json$/;

/** A registration is some 600 bytes long. */
const LARGEST = 64 * 1024;

/** How long what the folders said is taken to hold: ms. */
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
  #held = new Map<string, { readonly stamp: FileStamp; readonly registered: Registered | undefined }>();
  #readAt: number | undefined;

  constructor(clock: Clock, processes: ProcessProof) {
    this.#clock = clock;
    this.#processes = processes;
  }

  /** The `sessions` folders to look in from now on. */
  lookIn(folders: readonly string[]): void {
    if (folders.length === this.#folders.length && folders.every((folder, index) => folder === this.#folders[index])) {
      return;
    }
    this.#folders = folders;
    this.#readAt = undefined;
  }

  /** The next question reads the folders again. */
  refresh(): void {
    this.#readAt = undefined;
  }

  /** The sessions that a process has open now; where several have one, the newest process. */
  live(): readonly LiveProof[] {
    const newest = new Map<string, LiveProof>();
    for (const { registered } of this.#read().values()) {
      if (registered === undefined || !this.#processes.isRunning(registered.proof.pid, registered.start)) continue;
      const { proof } = registered;
      const other = newest.get(proof.id);
      if (other === undefined || other.startedAt <= proof.startedAt) newest.set(proof.id, proof);
    }
    return [...newest.values()];
  }

  #read(): ReadonlyMap<string, { readonly registered: Registered | undefined }> {
    const now = this.#clock.now();
    if (this.#readAt !== undefined && Math.abs(now - this.#readAt) < FRESH_MS) return this.#held;
    this.#readAt = now;
    const held = new Map<string, { readonly stamp: FileStamp; readonly registered: Registered | undefined }>();
    for (const folder of this.#folders) {
      for (const name of namesIn(folder)) {
        const path = join(folder, name);
        const stamp = quietly(() => stampOf(path));
        const before = this.#held.get(path);
        if (stamp === undefined) continue;
        const same = before !== undefined && sameStamp(before.stamp, stamp);
        held.set(path, same ? before : { stamp, registered: quietly(() => registrationAt(folder, path, stamp)) });
      }
    }
    this.#held = held;
    return held;
  }
}

function namesIn(folder: string): string[] {
  return (quietly(() => readdirSync(folder)) ?? []).filter((name) => REGISTRATION.test(name));
}

function registrationAt(folder: string, path: string, stamp: FileStamp): Registered | undefined {
  const text = withFileNow(realpathSync.native(folder), path, (file) => {
    const bytes = Buffer.alloc(Math.min(file.size, LARGEST));
    return bytes.toString("utf8", 0, file.read(bytes, 0));
  });
  return registration(JSON.parse(text), epochMsOf(Number(stamp.mtimeNs / 1_000_000n)) ?? (0 as EpochMs));
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
