import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Whether `pid`, which runs, is a program of the user of this process: not another user's, not a thread of the kernel, and
 * not the process that all others come from. What the system does not tell speaks for it.
 */
export function isUsersProgram(pid: number): boolean {
  if (pid <= 1) return false;
  const user = process.getuid?.();
  if (user === undefined) return true;
  return process.platform === "linux" ? isProgramOnLinux(pid, user) : isProgramInPs(pid, user);
}

/** The kernel's threads have no command line. */
function isProgramOnLinux(pid: number, user: number): boolean {
  const owner = /^Uid:\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`) ?? "")?.[1];
  if (owner !== undefined && Number(owner) !== user) return false;
  return textOf(`/proc/${pid}/cmdline`) !== "";
}

function isProgramInPs(pid: number, user: number): boolean {
  try {
    const env = { PATH: "/bin:/usr/bin", LC_ALL: "C" };
    const owner = execFileSync("ps", ["-o", "uid=", "-p", String(pid)], { encoding: "utf8", env, timeout: 2_000 });
    return owner.trim() === "" || Number(owner) === user;
  } catch {
    return true;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
