import { mkdir, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { Breather } from "../platform/breather.ts";
import { errorCode } from "../platform/failure.ts";
import { stampOf, withFile } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";
import { syncFolder } from "../platform/private-file.ts";
import { asObject, parseJson } from "../platform/read.ts";
import { readLogFacts } from "./log-file.ts";
import { namedRun, runFileOf } from "./names.ts";
import { readOwn, removeLeftovers } from "./own-json.ts";
import { WRITER } from "./write.ts";

/**
 * Moves the oldest runs that this program wrote and that have ended to `runs/archive/`, so that `keep` of them stay; how
 * many it moved. Everything is renamed, nothing deleted or written over; a move that was broken off is brought to its end.
 * @throws Failure failed: locked by another for too long · the system's error
 */
export async function archiveRuns(bridgeHome: string, keep: number): Promise<number> {
  return withLock(bridgeHome, async () => {
    const folders = { runs: join(bridgeHome, "runs"), archive: join(bridgeHome, "runs", "archive") };
    await removeLeftovers(folders.runs, /\.(?:log|json)\./);
    const files = (await namesIn(folders.runs)).flatMap((name) => runFileOf(name, false) ?? []);
    const logs = new Set(files.filter(({ kind }) => kind === "log").map(({ name }) => name));
    await mkdir(folders.archive, { recursive: true, mode: 0o700 });
    const breather = new Breather();
    let [kept, moved] = [0, 0];
    for (const name of [...logs].sort().reverse()) {
      await breather.pause();
      if (!(await isOursAndEnded(folders, name))) continue;
      if (kept++ < keep) continue;
      // The log goes first: with its metadata left behind it is still found and still ours.
      if (await move(folders, `${name}.log`)) moved++;
      await move(folders, `${name}.json`);
    }
    for (const { name } of files.filter(({ kind, name }) => kind === "metadata" && !logs.has(name))) {
      const wasLeftBehind = stampOf(join(folders.archive, `${name}.log`)) !== undefined;
      if (wasLeftBehind && (await isOurs(folders.runs, name))) await move(folders, `${name}.json`);
    }
    await syncFolder(folders.archive);
    await syncFolder(folders.runs);
    return moved;
  });
}

interface Folders {
  readonly runs: string;
  readonly archive: string;
}

async function isOursAndEnded(folders: Folders, name: string): Promise<boolean> {
  if (namedRun(name).startedAt === undefined || !(await isOurs(folders.runs, name))) return false;
  try {
    const root = await realpath(folders.runs);
    const { outcome } = await withFile(root, join(folders.runs, `${name}.log`), readLogFacts);
    return outcome !== undefined;
  } catch {
    // What can't be read stays where it is, and the inventory tells of it.
    return false;
  }
}

async function isOurs(folder: string, name: string): Promise<boolean> {
  try {
    const bytes = await readOwn(join(folder, `${name}.json`));
    return bytes !== undefined && asObject(parseJson(bytes.toString("utf8")))?.writer === WRITER;
  } catch {
    return false;
  }
}

/** Whether the file was there to be moved. One that would be written over keeps both where they are. */
async function move({ runs, archive }: Folders, fileName: string): Promise<boolean> {
  if (stampOf(join(archive, fileName)) !== undefined) return false;
  try {
    await rename(join(runs, fileName), join(archive, fileName));
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}
