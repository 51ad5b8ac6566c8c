import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { LockWait } from "../platform/lock.ts";
import { createPrivate, writePrivate } from "../platform/private-file.ts";
import { asArray, asObject, type JsonObject } from "../platform/read.ts";
import { exclusively } from "./exclusive.ts";
import { jobNameOf, timeOf } from "./job.ts";
import { damaged, parseOwn, readOwn, removeLeftovers, requireKnownVersion } from "./own-json.ts";

/** The version of `jobs.json` that is written. */
const VERSION = 2;
const FILE = "jobs.json";

/** What the job store writes with. */
export interface JobStoreTools {
  /** Our own folder. */
  readonly bridgeHome: string;
  readonly clock: Clock;
  readonly wait?: LockWait;
}

/** `jobs.json` as it is to be written. */
interface Document {
  readonly fields: JsonObject;
  readonly jobs: readonly unknown[];
  /** The file's bytes, when it is of an older layout. */
  readonly older?: Buffer;
}

/**
 * Changes the record of the job `name` in `jobs.json`, or adds it: `change` gets the record as it is and gives the fields
 * that are to be another, undefined when it is to stay as it is; every other field, also one that nobody here knows, is
 * kept. Written only when something changes; whether it was. A file of an older layout is first kept as
 * `jobs.json.backup-<ms>-<uuid>`.
 * @throws Failure failed: damaged, of a newer version, locked by another for too long · the system's error
 */
export async function changeJob(
  { bridgeHome, clock, wait }: JobStoreTools,
  name: string,
  change: (before: JsonObject | undefined) => JsonObject | undefined,
): Promise<boolean> {
  if (jobNameOf(name) === undefined) throw new RangeError(`${JSON.stringify(name)} is no name for a job`);
  return exclusively(
    bridgeHome,
    async () => {
      await removeLeftovers(bridgeHome, /^jobs\.json/);
      const path = join(bridgeHome, FILE);
      const { fields, jobs, older } = documentOf(readOwn(path));
      const index = jobs.findLastIndex((job) => asObject(job)?.name === name);
      const before = asObject(jobs[index]);
      const changes = change(before);
      if (changes === undefined) return false;
      const after = { ...before, ...changes, name };
      if (before !== undefined && JSON.stringify(after) === JSON.stringify(before)) return false;
      const others = jobs.filter((_, i) => i !== index);
      const sorted = [...others, after].sort((a, b) => startOf(a) - startOf(b));
      if (older !== undefined) {
        await createPrivate(join(bridgeHome, `${FILE}.backup-${clock.now()}-${randomUUID()}`), older);
      }
      await writePrivate(path, `${JSON.stringify({ ...fields, version: VERSION, jobs: sorted })}\n`);
      return true;
    },
    wait,
  );
}

function documentOf(bytes: Buffer | undefined): Document {
  if (bytes === undefined) return { fields: {}, jobs: [] };
  const document = parseOwn(bytes, FILE);
  const list = asArray(document);
  if (list !== undefined) return { fields: {}, jobs: list, older: bytes };
  const fields = asObject(document);
  const jobs = asArray(fields?.jobs);
  if (fields === undefined || jobs === undefined) throw damaged(FILE);
  requireKnownVersion(fields.version, VERSION, FILE);
  return { fields, jobs, ...(fields.version !== VERSION && { older: bytes }) };
}

function startOf(job: unknown): number {
  return timeOf(asObject(job)?.startedAt) ?? 0;
}
