import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { notWritable, readPrivate, writePrivate } from "./private-file.ts";
import { notAFolder } from "./private-folder.ts";
import { isAlive } from "./process-identity.ts";
import { asNumber, asObject, asString, asText } from "./read.ts";

/** Where the running server is: `dashboard.json` in our own home folder. */
export interface RuntimeNotice {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** When that process started, in the system's own words, so that no other can be taken for it; see `startOf`. */
  readonly start?: string | undefined;
  /** What tells this start of the server from every other. */
  readonly bootNonce: string;
}

const LIMIT_BYTES = 4096;

/** A new boot nonce: 32 hex digits. */
export function newBootNonce(): string {
  return randomBytes(16).toString("hex");
}

/** Says that the server of `notice` runs. @throws Failure failed: it can't be written */
export async function writeNotice(folder: string, notice: RuntimeNotice): Promise<void> {
  const { url, port, pid, start, bootNonce } = notice;
  try {
    await writePrivate(noticeFile(folder), `${JSON.stringify({ url, port, pid, start, bootNonce })}\n`);
  } catch (error) {
    throw notAFolder(folder, error) ?? notWritable("dashboard.json", folder, error);
  }
}

/** What `dashboard.json` says; undefined when there is none, or none that can be read: it is written anew by each start. */
export function readNotice(folder: string): RuntimeNotice | undefined {
  try {
    const file = readPrivate(noticeFile(folder), LIMIT_BYTES);
    return file && noticeFrom(JSON.parse(file.bytes.toString("utf8")));
  } catch {
    return undefined;
  }
}

/**
 * Takes the notice away if it is still that of this start; another server's stays. One that can't be taken away misleads
 * nobody: whoever reads it asks after its process.
 */
export async function removeNotice(folder: string, bootNonce: string): Promise<void> {
  if (readNotice(folder)?.bootNonce !== bootNonce) return;
  await rm(noticeFile(folder), { force: true }).catch(() => {});
}

/**
 * Whether the process that wrote `notice` can still be there. Where the system tells no starts, its number may belong to
 * another program by now, so whoever relies on it asks the server itself.
 */
export function mayBeRunning({ pid, start }: RuntimeNotice): boolean {
  return isAlive({ pid, ...(start !== undefined && { start }) });
}

function noticeFile(folder: string): string {
  return join(folder, "dashboard.json");
}

function noticeFrom(value: unknown): RuntimeNotice | undefined {
  const fields = asObject(value);
  const port = asNumber(fields?.port);
  const pid = asNumber(fields?.pid);
  const bootNonce = asString(fields?.bootNonce);
  if (port === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  // 0 and below mean groups of processes to `kill`.
  if (pid === undefined || !Number.isInteger(pid) || pid < 1) return undefined;
  if (bootNonce === undefined || !/^[0-9a-f]{32}$/.test(bootNonce)) return undefined;
  // The key is sent there, so it is never an address that the file alone vouches for.
  const start = asText(fields?.start);
  return { url: `http://127.0.0.1:${port}`, port, pid, ...(start !== undefined && { start }), bootNonce };
}
