import { constants, realpathSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EpochMs } from "../platform/clock.ts";
import { errorCode } from "../platform/failure.ts";
import { withFileNow } from "../platform/files.ts";
import { withLock } from "../platform/lock.ts";
import { isAlive } from "../platform/process-identity.ts";
import { asObject, type JsonObject } from "../platform/read.ts";
import { hostOf } from "./job.ts";
import type { JobStoreTools } from "./job-store.ts";
import { entryText } from "./log.ts";
import { readLogFacts } from "./log-file.ts";
import { namedRun } from "./names.ts";
import { damaged, parseOwn, readOwn } from "./own-json.ts";
import { timeOfDay, WRITER } from "./write.ts";

/** A job of a session of ours whose process is gone. */
export interface InterruptedJob {
  readonly job: string;
  /** The id of the session's recording. */
  readonly recording: string;
  /** When the session began. */
  readonly since: EpochMs;
}

/**
 * Gives the last logs of the job their end, `interrupted`, as of when they were written last: those that this program has
 * written, whose process is gone. Everything else stays as it is.
 * @throws Failure failed: metadata that is damaged, locked by another for too long · the system's error
 */
export async function endInterruptedLogs(
  { bridgeHome, wait }: JobStoreTools,
  { job, recording, since }: InterruptedJob,
  alive: typeof isAlive = isAlive,
): Promise<void> {
  const runs = join(bridgeHome, "runs");
  const [agent, id] = [job.slice(0, -"-job-01234567".length), job.slice(-8)];
  const isOfJob = (name: string): boolean => {
    const named = namedRun(name);
    return named.agent === agent && named.id === id && (named.startedAt ?? 0) + 1000 > since;
  };
  const isGone = (metadata: JsonObject | undefined): boolean => {
    // The log comes first: of a run that was only just beginning, its name alone tells whose it is.
    if (metadata === undefined) return true;
    const host = hostOf(metadata);
    return metadata.writer === WRITER && metadata.recording === recording && host !== undefined && !alive(host);
  };
  await withLock(
    bridgeHome,
    async () => {
      const files = await readdir(runs).catch(noFolder);
      const names = files.filter((file) => file.endsWith(".log")).map((file) => file.slice(0, -".log".length));
      // The newest first, until one is met that is ended, or is not ours to end.
      for (const name of names.filter(isOfJob).sort().reverse()) {
        if (!isGone(metadataAt(join(runs, `${name}.json`), name)) || !(await endLog(runs, name))) return;
      }
    },
    wait,
  );
}

function noFolder(error: unknown): readonly string[] {
  if (errorCode(error) !== "ENOENT") throw error;
  return [];
}

function metadataAt(path: string, name: string): JsonObject | undefined {
  const file = `the metadata of ${name}`;
  const bytes = readOwn(path);
  if (bytes === undefined) return undefined;
  const metadata = asObject(parseOwn(bytes, file));
  if (metadata === undefined) throw damaged(file);
  return metadata;
}

/** Whether the log had no end and was given one, as of when it was written last. */
async function endLog(runs: string, name: string): Promise<boolean> {
  const path = join(runs, `${name}.log`);
  const { outcome, size, endsLine, writtenAt, ino } = withFileNow(realpathSync(runs), path, (file) => {
    const last = Buffer.alloc(1);
    file.read(last, Math.max(0, file.size - 1));
    return {
      outcome: readLogFacts(file).outcome,
      size: file.size,
      endsLine: last.toString() === "\n",
      writtenAt: Number(file.stamp.mtimeNs / 1_000_000n),
      ino: file.stamp.ino,
    };
  });
  if (outcome !== undefined || size === 0) return false;
  const seconds = Math.max(0, Math.round((writtenAt - (namedRun(name).startedAt ?? writtenAt)) / 1000));
  const entry = entryText(timeOfDay(writtenAt as EpochMs), `finished after ${seconds}s · interrupted`);
  const log = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW).catch(noFile);
  if (log === undefined) return false;
  try {
    if ((await log.stat({ bigint: true })).ino !== ino) return false;
    await log.writeFile(`${endsLine ? "" : "\n"}${entry}`);
    await log.sync();
    // It ended then, and not when that was found.
    await log.utimes(writtenAt / 1000, writtenAt / 1000);
  } finally {
    await log.close();
  }
  return true;
}

/** What is no file of its own is none that we have written. */
function noFile(error: unknown): undefined {
  if (errorCode(error) !== "ELOOP") throw error;
}
