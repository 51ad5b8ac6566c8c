import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode, Failure } from "../../platform/failure.ts";
import { identityOf } from "../../platform/process-identity.ts";

const PREFIX = "agent-bridge-demo-";
const NAME = new RegExp(`^${PREFIX}(\\d{1,10})-[A-Za-z0-9]+$`);

/**
 * Makes a folder of its own for a demo in `temporary`; its name holds `pid`, so that it can be told from a leftover.
 * @throws Failure failed
 */
export function makeDemoFolder(temporary: string, pid: number): string {
  try {
    return realpathSync(mkdtempSync(join(temporary, `${PREFIX}${pid}-`)));
  } catch (error) {
    throw demoImpossible(temporary, error);
  }
}

/** That a demo can't be written in `temporary`. */
export function demoImpossible(temporary: string, error: unknown): Failure {
  const reason = errorCode(error) ?? "unknown error";
  const advice = "see to its permissions and its space, or name another folder in TMPDIR";
  return new Failure("failed", `the demo can't be written into ${temporary} (${reason}): ${advice}`, error);
}

/**
 * Removes the folders of demos that were killed before they could do it themselves: those of this user in `temporary` whose
 * process has ended. What can't be removed stays.
 */
export function removeLeftovers(temporary: string): void {
  for (const name of namesIn(temporary)) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!(pid > 0) || identityOf(pid) !== undefined) continue;
    const path = join(temporary, name);
    if (isOwnFolder(path)) removeQuietly(path);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isOwnFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is in nobody's way.
  }
}
