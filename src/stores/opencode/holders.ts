import { statSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { basename } from "node:path";
import { Breather } from "../../platform/breather.ts";
import { type Clock, type EpochMs, epochMsOf } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";

/** A process that holds a file open. */
export interface Holder {
  readonly pid: number;
  /** When it started, where the system tells. */
  readonly startedAt: EpochMs | undefined;
}

/** Finds the processes (besides this one) that hold the file at `path` (real) open; undefined where the system can't tell. */
export type FindHolders = (path: string) => Promise<readonly Holder[] | undefined>;

/** Finds holders by `/proc/<pid>/fd`, on Linux; another user's processes can't be asked, and count as none. */
export function holdersBySystem(environment: Environment, clock: Clock): FindHolders {
  return environment.platform === "linux" ? (path) => holdersOf(path, clock) : async () => undefined;
}

/** How long an answer is trusted: ms. */
const TRUST_MS = 2_000;

/** Keeps what `find` finds for two seconds. */
export function rememberedHolders(find: FindHolders, clock: Clock): FindHolders {
  const answers = new Map<string, { readonly at: number; readonly holders: ReturnType<FindHolders> }>();
  return (path) => {
    const held = answers.get(path);
    const now = clock.now();
    if (held !== undefined && now - held.at >= 0 && now - held.at < TRUST_MS) return held.holders;
    const holders = find(path);
    answers.set(path, { at: now, holders });
    return holders;
  };
}

async function holdersOf(path: string, clock: Clock): Promise<readonly Holder[] | undefined> {
  const processes = await readdir("/proc").catch(() => []);
  const pids = processes.filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  if (pids.length === 0) return undefined;
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return [];
  const breather = new Breather();
  const holders: Holder[] = [];
  for (const pid of pids) {
    await breather.pause();
    if (await holds(pid, basename(path), file)) {
      holders.push({ pid: Number(pid), startedAt: await startOf(pid, clock) });
    }
  }
  return holders;
}

/** Whether one of a process's descriptors is the file: by name first (a container sees another path), then by identity. */
async function holds(
  pid: string,
  name: string,
  file: { readonly dev: number; readonly ino: number },
): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const descriptor of await readdir(folder).catch(() => [])) {
    const target = await readlink(`${folder}/${descriptor}`).catch(() => "");
    if (!target.endsWith(`/${name}`)) continue;
    const open = statSync(`${folder}/${descriptor}`, { throwIfNoEntry: false });
    if (open?.ino === file.ino && open.dev === file.dev) return true;
  }
  return false;
}

/** Ticks of Linux's process clock in a second, as every distribution has it. */
const TICKS = 100;

/** When a process started: its ticks since boot (field 22 of its stat, counted behind the command's bracket). */
async function startOf(pid: string, clock: Clock): Promise<EpochMs | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    const uptime = Number((await readFile("/proc/uptime", "latin1")).split(" ")[0]);
    const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
    return epochMsOf(clock.now() - uptime * 1_000 + (ticks * 1_000) / TICKS);
  } catch {
    return undefined;
  }
}
