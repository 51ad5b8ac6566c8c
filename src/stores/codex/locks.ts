import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EpochMs } from "../../platform/clock.ts";
import { stampOf } from "../../platform/files.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";

/** A process that has a thread open. */
export interface Writer {
  readonly pid: number;
  /** When it opened the thread. */
  readonly since: EpochMs;
}

/** What the writer locks of a home say. */
export interface WriterLocks {
  /** Whether it can be told at all who holds a lock: by this system, of a home in which Codex made its folder of locks. */
  readonly known: boolean;
  /** The threads that a process has open. */
  readonly held: ReadonlyMap<string, Writer>;
}

/** Reads the system's table of held locks; undefined where there is none. Linux: `/proc/locks`. */
export function systemLocks(): string | undefined {
  try {
    return readFileSync("/proc/locks", "latin1");
  } catch {
    return undefined;
  }
}

const FLOCK = /^\d+: FLOCK\s+\S+\s+WRITE\s+(\d+)\s+\S+:(\d+)\s/gm;

/**
 * Which threads of `home` a process has open: Codex (0.149 and newer) holds `thread-writer-locks/<thread>.lock` with
 * flock meanwhile. Looked up by inode in the system's table, so that no lock is ever touched.
 */
export function writerLocks(home: string, table: string | undefined): WriterLocks {
  const held = new Map<SessionId, Writer>();
  if (table === undefined) return { known: false, held };
  const pids = new Map([...table.matchAll(FLOCK)].map((match) => [match[2] ?? "", Number(match[1])]));
  const folder = join(home, "thread-writer-locks");
  const names = namesIn(folder);
  for (const name of names ?? []) {
    const thread = sessionIdOf(name.endsWith(".lock") ? name.slice(0, -".lock".length) : undefined);
    const stamp = thread === undefined ? undefined : stampOf(join(folder, name));
    const pid = stamp === undefined ? undefined : pids.get(String(stamp.ino));
    if (thread === undefined || stamp === undefined || pid === undefined) continue;
    held.set(thread, { pid, since: Number(stamp.mtimeNs / 1_000_000n) as EpochMs });
  }
  return { known: names !== undefined, held };
}

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}
