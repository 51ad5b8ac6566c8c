import { readdirSync, readFileSync } from "node:fs";

/** The processes whose home is `home`, this one not counted. Linux. */
export function processesIn(home: string): { readonly pid: number; readonly command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(pid, "environ").includes(`HOME=${home}`))
    .map((pid) => ({ pid: Number(pid), command: read(pid, "cmdline").join(" ").trim() }));
}

/** What a process was started with; nothing when it has ended. */
function read(pid: string, name: "environ" | "cmdline"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8").split("\0");
  } catch {
    return [];
  }
}
