import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type EpochMs, epochMsOf } from "./clock.ts";
import { errorCode } from "./failure.ts";

/** What tells a process from every other, also from one that gets its number after it, or after a restart. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own words: see `startOf`. Absent where the system does not tell. */
  readonly start?: string;
  /** The run of the machine that it belongs to. Absent where the system does not tell. */
  readonly boot?: string;
  /** A time at which it was running, where its start was not noted: one that began later is another. */
  readonly seenAt?: EpochMs;
}

/** This process. */
export function ourIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid };
}

/** The process that has the number `pid` now, or undefined when none has. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  if (!exists(pid)) return undefined;
  const stat = process.platform === "linux" ? textOf(`/proc/${pid}/stat`) : undefined;
  const start = stat === undefined ? startOf(pid) : startFromStat(stat);
  // One that has ended keeps its number until its parent has asked how.
  if (stat !== undefined && start === undefined) return undefined;
  const boot = bootId();
  return { pid, ...(start !== undefined && { start }), ...(boot !== undefined && { boot }) };
}

/** Whether that very process still runs. Where nothing tells more, the number alone decides. */
export function isAlive(identity: ProcessIdentity): boolean {
  const now = identityOf(identity.pid);
  if (now === undefined) return false;
  if (!agrees(now.start, identity.start) || !agrees(now.boot, identity.boot)) return false;
  if (identity.seenAt === undefined) return true;
  const startedAt = now.start === undefined ? undefined : timeOfStart(now.start);
  return startedAt === undefined || startedAt <= identity.seenAt + CLOCK_SLACK_MS;
}

/** How far the clock may have been set forward or back since a process was seen: ms. */
const CLOCK_SLACK_MS = 60_000;
/** The ticks that Linux tells other programs of are 10 ms on every machine. */
const TICK_MS = 10;

/** When a process started, of what `startOf` says; undefined where that can't be told. */
function timeOfStart(start: string): number | undefined {
  if (process.platform !== "linux") return epochMsOf(Date.parse(`${start} UTC`));
  const uptime = Number.parseFloat(textOf("/proc/uptime") ?? "");
  return epochMsOf(Date.now() - uptime * 1_000 + Number(start) * TICK_MS);
}

function agrees(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

/**
 * When the process `pid` started: on Linux the clock ticks since boot, in decimal, as Claude Code writes them too
 * (`procStart`, 2.1.332); on other Unixes the time as `ps` prints it. Undefined when it does not run or can't be asked.
 */
export function startOf(pid: number): string | undefined {
  if (!isPid(pid)) return undefined;
  switch (process.platform) {
    case "linux":
      return startFromStat(textOf(`/proc/${pid}/stat`) ?? "");
    case "win32":
      return undefined;
    default:
      return startFromPs(pid);
  }
}

/**
 * The start time in the text of `/proc/<pid>/stat`: field 22. The second field is the command in brackets and may hold
 * spaces and brackets itself, so fields are counted from its last bracket. Undefined for a process that has ended.
 */
export function startFromStat(stat: string): string | undefined {
  const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const start = fields[18];
  if (state === "Z" || state === "X" || start === undefined || !/^\d+$/.test(start)) return undefined;
  return start;
}

function startFromPs(pid: number): string | undefined {
  try {
    // Always in the same words, whoever asks.
    const env = { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC" };
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env,
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return text.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Whether any process has the number; one of another user's that may not be signalled counts. */
function exists(pid: number): boolean {
  if (!isPid(pid)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** 0 and negative numbers would mean groups of processes. */
function isPid(pid: number): boolean {
  return Number.isInteger(pid) && pid > 0 && pid <= 0x7fffffff;
}

function bootId(): string | undefined {
  return process.platform === "linux" ? textOf("/proc/sys/kernel/random/boot_id")?.trim() : undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
