import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { type DemoHistory, jsonLines } from "./history.ts";

/** Between two steps of the session that is at work. */
const STEP_MS = 2_000;
/** Then it has done enough, so that a demo left open does not grow for ever. */
const STEPS = 500;

/** What the process that has the demo's session open says of itself: this one. */
export interface Worker {
  readonly pid: number;
  /** When the system started it, as Claude Code writes it (field 22 of /proc/PID/stat); unknown on other systems. */
  readonly procStart: string | undefined;
}

/**
 * Lets the live session of `history` go on, step by step, until the signal, or until it can't be written: a full disk, or
 * somebody who cleans up the temporary folder, ends no demo.
 * @throws the system's error when not even its beginning can be
 */
export function keepAtWork({ home, live }: DemoHistory, worker: Worker, clock: Clock, signal: AbortSignal): void {
  const folder = join(home, ".claude", "sessions");
  mkdirSync(folder, { recursive: true });
  const now = clock.now();
  const registered = { pid: worker.pid, sessionId: live.session, cwd: live.cwd, startedAt: now, kind: "interactive" };
  writeFileSync(
    join(folder, `${worker.pid}.json`),
    JSON.stringify({ ...registered, procStart: worker.procStart, version: "2.1.332", status: "busy", updatedAt: now }),
  );
  let step = 0;
  const timer = setInterval(() => {
    live.script.jumpTo(clock.now());
    if (step % 3 === 2) live.script.assistant(`Round ${(step + 1) / 3}: all green so far, I go on.`);
    else live.script.tool("Bash", { command: "npm test" }, `✔ ${120 + step} tests`, false);
    const written = appended(live.file, jsonLines(live.script.take()));
    if (++step === STEPS || !written) clearInterval(timer);
  }, STEP_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
}

function appended(file: string, text: string): boolean {
  try {
    appendFileSync(file, text);
    return true;
  } catch {
    return false;
  }
}
