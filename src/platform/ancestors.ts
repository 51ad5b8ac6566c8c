import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A process as the system lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The words that it was started with; where the system gives them as one text, split at spaces. */
  readonly words: readonly string[];
}

/** More than any tree of processes is deep. */
const MOST = 64;

/**
 * The processes that the process `pid` descends from, its parent first, as far as the system tells (not on Windows). The
 * first process of the system is not among them.
 */
export function ancestorsOf(
  pid: number,
  look: (pid: number) => ListedProcess | undefined = listedProcess,
): readonly ListedProcess[] {
  const ancestors: ListedProcess[] = [];
  for (let next = look(pid)?.parent; next !== undefined && next > 1 && ancestors.length < MOST; ) {
    const found = look(next);
    if (found === undefined) break;
    ancestors.push(found);
    next = found.parent;
  }
  return ancestors;
}

function listedProcess(pid: number): ListedProcess | undefined {
  if (process.platform === "win32") return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): ListedProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command in brackets may hold spaces and brackets itself.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return { pid, parent: Number(parent), words: words.at(-1) === "" ? words.slice(0, -1) : words };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): ListedProcess | undefined {
  try {
    const text = execFileSync("ps", ["-o", "ppid=,command=", "-p", String(pid)], {
      encoding: "utf8",
      env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
      timeout: 2_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [parent = "", ...words] = text.trim().split(/\s+/);
    return /^\d+$/.test(parent) ? { pid, parent: Number(parent), words } : undefined;
  } catch {
    return undefined;
  }
}
