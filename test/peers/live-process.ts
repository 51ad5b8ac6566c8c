import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { identityOf, type ProcessIdentity } from "../../src/platform/process-identity.ts";

/** A process that runs until it is told to end. */
export interface LiveProcess {
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Ends it; comes back when it has gone. */
  end(): Promise<void>;
}

/** Starts a process that does nothing, for as long as the test lasts. */
export async function liveProcess(t: TestContext): Promise<LiveProcess> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
  await once(child, "spawn");
  const { pid = 0 } = child;
  const identity = identityOf(pid);
  if (identity === undefined) throw new Error("the process is not there");
  t.after(() => ended(child));
  return { pid, identity, end: () => ended(child) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
