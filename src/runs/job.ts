import { type EpochMs, epochMsFromIso, epochMsOf } from "../platform/clock.ts";
import type { ProcessIdentity } from "../platform/process-identity.ts";
import { asArray, asNumber, asObject, asText, type JsonObject } from "../platform/read.ts";
import { namesOfAgent, publicAgent } from "./names.ts";

/** A job as all files that tell of it say together. */
export interface Job {
  readonly name: string;
  /** Every field, the newest file's value over older ones. */
  readonly fields: JsonObject;
  /** The id of its session in the agent's CLI. */
  readonly session?: string;
  readonly status?: string;
  /** It stands in `jobs.json`, not in archives alone. */
  readonly active: boolean;
}

/** Where a file with jobs stands among the others. */
export interface JobFileName {
  /** `jobs.json` itself: the newest. */
  readonly active: boolean;
  /** The number that orders it among the others; none: its mtime does. */
  readonly number?: number;
}

/** What a file in our own folder or in its `archive/` is, when it may hold jobs. */
export function jobFileOf(fileName: string, folder: "home" | "archive"): JobFileName | undefined {
  if (folder === "home" && fileName === "jobs.json") return { active: true };
  const named =
    folder === "home"
      ? /^jobs\.json(?:\.backup-|\.overflow\.json$)/.test(fileName)
      : /^jobs(?:\.json[.-]|-.*\.json$)/.test(fileName) && !/^jobs\.json\.lock(?:$|[.-])/.test(fileName);
  if (!named) return undefined;
  const [, number] = /(?:^jobs-|\.backup-|\.overflow\.json-|^jobs\.json-)(\d{1,15})/.exec(fileName) ?? [];
  return { active: false, ...(number !== undefined && { number: Number(number) }) };
}

/** The records of a parsed file: `{version, jobs}`, the same without a version, or a bare list. Undefined: neither. */
export function jobRecordsOf(document: unknown): readonly unknown[] | undefined {
  return asArray(document) ?? asArray(asObject(document)?.jobs);
}

/** The name of a job, when it is one that a URL can hold: 1 to 128 characters without `/`, controls and halves of pairs. */
export function jobNameOf(value: unknown): string | undefined {
  const name = asText(value);
  return name !== undefined && name.length <= 128 && !/[/\p{Cc}\p{Cs}]|^\.\.?$/u.test(name) ? name : undefined;
}

/** A job with what a newer file says of it. A newer null does not hide an older session id. */
export function mergedJob(older: Job | undefined, name: string, record: JsonObject, active: boolean): Job {
  const kept = SESSION_FIELDS.filter((key) => (record[key] ?? undefined) === undefined && older?.fields[key] != null);
  const session = sessionOf(record) ?? older?.session;
  const status = asText(record.status) ?? asText(record.state) ?? older?.status;
  return {
    name,
    fields: { ...older?.fields, ...record, ...Object.fromEntries(kept.map((key) => [key, older?.fields[key]])) },
    ...(session !== undefined && { session }),
    ...(status !== undefined && { status }),
    active: active || older?.active === true,
  };
}

/** A time as records of jobs hold it: ms since the epoch, also as a text of digits, or ISO 8601. */
export function timeOf(value: unknown): EpochMs | undefined {
  const isDigits = typeof value === "string" && /^\d{1,16}(?:\.\d{1,16})?$/.test(value);
  return isDigits ? epochMsOf(Number(value)) : epochMsFromIso(value);
}

/** When a job began; 0 when that can't be read. */
export function jobStart({ fields }: Job): EpochMs {
  const at = timeOf(fields.startedAt);
  return at === undefined || at < 0 ? (0 as EpochMs) : at;
}

/**
 * The agent that did it, by its public name. A record that names none tells by the form of its job's name, or by having a
 * `threadId`, which Codex alone calls its sessions' ids.
 */
export function jobAgent({ name, fields }: Job): string | undefined {
  const agent = asText(fields.agent) ?? partsOf(name)?.agent;
  if (agent !== undefined) return publicAgent(agent);
  return asText(fields.threadId) === undefined ? undefined : "codex";
}

/** The parts of a job's name that was made from them: `<agent>-job-<8 hex>`. */
function partsOf(name: string): { readonly agent: string; readonly id: string } | undefined {
  const [, agent, id] = /^([a-z][a-z-]*)-job-([0-9a-f]{8})$/.exec(name) ?? [];
  return agent === undefined || id === undefined ? undefined : { agent, id };
}

/** The process that the record (of a job or of a run) says runs it. */
export function hostOf(fields: JsonObject | undefined): ProcessIdentity | undefined {
  const host = asObject(fields?.host);
  const pid = asNumber(host?.pid);
  const [start, boot] = [asText(host?.start), asText(host?.boot)];
  if (pid === undefined) return undefined;
  const noted = { pid, ...(start !== undefined && { start }), ...(boot !== undefined && { boot }) };
  // Others note when it began to run the job: their process was there by then.
  const seenAt = start === undefined ? timeOf(host?.startedAt) : undefined;
  return seenAt === undefined ? noted : { ...noted, seenAt };
}

/** What may stand at the end of the name of each of a job's logs. */
export function logTails(job: Job): readonly { readonly id: string; readonly tail: string }[] {
  const [agent, id] = [jobAgent(job), asText(job.fields.id) ?? partsOf(job.name)?.id];
  if (agent === undefined || id === undefined) return [];
  return namesOfAgent(agent).map((name) => ({ id, tail: `-${name}-${id}` }));
}

const SESSION_FIELDS = ["sessionId", "threadId", "session"] as const;

function sessionOf(record: JsonObject): string | undefined {
  return asText(record.sessionId) ?? asText(record.threadId) ?? asText(record.session);
}
