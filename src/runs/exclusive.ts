import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { errorCode, Failure } from "../platform/failure.ts";
import { stampOf } from "../platform/files.ts";
import { type LockWait, withLock } from "../platform/lock.ts";
import { createPrivate, readPrivate } from "../platform/private-file.ts";
import { isAlive, ourIdentity, type ProcessIdentity } from "../platform/process-identity.ts";
import { asNumber, asObject, asText } from "../platform/read.ts";
import { mtimeOf } from "./folder-view.ts";
import { requireFile } from "./own-json.ts";

const NOTICE_BYTES = 4_096;
/** A notice that nobody can read is left behind when it is older than anyone takes to write one: ms. */
const UNREADABLE_MS = 10_000;

/**
 * Calls `use` while nobody else may write `jobs.json`: `lock.db` keeps other processes of this program out, and
 * `jobs.json.lock`, {pid, start, boot}, tells programs that do not know of that. One left behind by a process that is gone
 * is taken over. `use` must not ask for it again.
 * @throws Failure failed: another has held it for longer than the wait (5 s) · NotAFile: the notice is none that can be written
 */
export function exclusively<T>(bridgeHome: string, use: () => Promise<T>, wait: LockWait = {}): Promise<T> {
  return withLock(
    bridgeHome,
    async () => {
      const notice = join(bridgeHome, "jobs.json.lock");
      await putNotice(notice, wait);
      try {
        return await use();
      } finally {
        await rm(notice, { force: true });
      }
    },
    wait,
  );
}

async function putNotice(path: string, { waitMs = 5_000, tryEveryMs = 20 }: LockWait): Promise<void> {
  const us = ourIdentity();
  for (let left = Math.ceil(waitMs / tryEveryMs); !(await createPrivate(path, `${JSON.stringify(us)}\n`)); left--) {
    requireFile(path);
    if (isLeftBehind(path, us)) {
      await rm(path, { force: true });
      continue;
    }
    if (left <= 0) throw new Failure("failed", "another program is writing jobs.json; try again in a moment");
    await pause(tryEveryMs);
  }
}

/** Whether the notice is of a process that is gone, or ours: this process does not hold the lock twice. */
function isLeftBehind(path: string, us: ProcessIdentity): boolean {
  const stamp = stampOf(path);
  if (stamp === undefined) return false;
  const holder = holderIn(path);
  if (holder === undefined) return Date.now() - mtimeOf(stamp) > UNREADABLE_MS;
  return holder.pid === us.pid || !isAlive(holder);
}

function holderIn(path: string): ProcessIdentity | undefined {
  try {
    const fields = asObject(JSON.parse(readPrivate(path, NOTICE_BYTES)?.bytes.toString("utf8") ?? ""));
    const pid = asNumber(fields?.pid);
    const [start, boot] = [asText(fields?.start), asText(fields?.boot)];
    if (pid === undefined) return undefined;
    return { pid, ...(start !== undefined && { start }), ...(boot !== undefined && { boot }) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Failure || errorCode(error) !== undefined) return undefined;
    throw error;
  }
}
