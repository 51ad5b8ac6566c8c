import { lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { identityOf } from "../../platform/process-identity.ts";

const PREFIX = "agent-bridge-demo-";
const NAME = new RegExp(`^${PREFIX}(\\d{1,10})-[A-Za-z0-9]+$`);

/** Makes a folder of its own for a demo in `temporary`; its name holds `pid`, so that it can be told from a leftover. */
export function makeDemoFolder(temporary: string, pid: number): string {
  return realpathSync(mkdtempSync(join(temporary, `${PREFIX}${pid}-`)));
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
