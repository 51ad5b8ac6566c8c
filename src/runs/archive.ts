import { mkdir, readdir, realpath, rename } from "node:fs/promises";
import { join } from "node:path";
import { Breather } from "../platform/breather.ts";
import type { Clock } from "../platform/clock.ts";
import { errorCode } from "../platform/failure.ts";
import { withFile } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";
import { syncFolder } from "../platform/private-file.ts";
import { isAlive } from "../platform/process-identity.ts";
import { asObject, type JsonObject, parseJson } from "../platform/read.ts";
import { mtimeOf } from "./folder-view.ts";
import { hostOf } from "./job.ts";
import { readLogFacts } from "./log-file.ts";
import { namedRun, runFileOf } from "./names.ts";
import { isTaken, readOwn, removeLeftovers } from "./own-json.ts";
import { isFresh, type Liveness } from "./summary.ts";
import { WRITER } from "./write.ts";

/** What archiving works with. */
export interface ArchiveTools {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  /** Whether that very process still runs. */
  readonly alive?: Liveness["alive"];
}

/**
 * Moves the oldest runs that this program wrote and that have ended to `runs/archive/`, so that `keep` of them stay; how
 * many it moved. A run without an end has ended when the process that wrote it is gone; its log stays as it is. Everything
 * is renamed, nothing deleted or written over; a move that was broken off is brought to its end.
 * @throws Failure failed: locked by another for too long · the system's error
 */
export async function archiveRuns({ bridgeHome, clock, alive = isAlive }: ArchiveTools, keep: number): Promise<number> {
  return withLock(bridgeHome, async () => {
    const folders = { runs: join(bridgeHome, "runs"), archive: join(bridgeHome, "runs", "archive") };
    await removeLeftovers(folders.runs, /\.(?:log|json)\./);
    const files = (await namesIn(folders.runs)).flatMap((name) => runFileOf(name, false) ?? []);
    const logs = new Set(files.filter(({ kind }) => kind === "log").map(({ name }) => name));
    await mkdir(folders.archive, { recursive: true, mode: 0o700 });
    const liveness = { now: clock.now(), alive };
    const breather = new Breather();
    let [kept, moved] = [0, 0];
    for (const name of logs.size > keep ? [...logs].sort().reverse() : []) {
      await breather.pause();
      if (!(await isOursAndEnded(folders, name, liveness))) continue;
      if (kept++ < keep) continue;
      // The log goes first: with its metadata left behind it is still found and still ours.
      if (await move(folders, `${name}.log`)) moved++;
      await move(folders, `${name}.json`);
    }
    for (const { name } of files.filter(({ kind, name }) => kind === "metadata" && !logs.has(name))) {
      const wasLeftBehind = isTaken(join(folders.archive, `${name}.log`));
      if (wasLeftBehind && (await ourMetadata(folders.runs, name)) !== undefined) await move(folders, `${name}.json`);
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

async function isOursAndEnded(folders: Folders, name: string, liveness: Liveness): Promise<boolean> {
  const ours = namedRun(name).startedAt === undefined ? undefined : await ourMetadata(folders.runs, name);
  if (ours === undefined) return false;
  try {
    const root = await realpath(folders.runs);
    return await withFile(root, join(folders.runs, `${name}.log`), (log) => {
      return readLogFacts(log).outcome !== undefined || wasLeft(ours, mtimeOf(log.stamp), liveness);
    });
  } catch {
    // What can't be read stays where it is, and the inventory tells of it.
    return false;
  }
}

/**
 * Whether nobody will write the log any more. A process of another machine, which may share the folder, looks gone
 * from here; its log is written every minute.
 */
function wasLeft(metadata: JsonObject, mtime: number, { now, alive }: Liveness): boolean {
  const host = hostOf(metadata);
  return host !== undefined && !alive(host) && !isFresh(mtime, now);
}

/** The metadata of a run, when this program wrote it. */
async function ourMetadata(folder: string, name: string): Promise<JsonObject | undefined> {
  try {
    const bytes = readOwn(join(folder, `${name}.json`));
    const metadata = bytes && asObject(parseJson(bytes.toString("utf8")));
    return metadata?.writer === WRITER ? metadata : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the file was there to be moved. One that would be written over keeps both where they are. */
async function move({ runs, archive }: Folders, fileName: string): Promise<boolean> {
  if (isTaken(join(archive, fileName))) return false;
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
