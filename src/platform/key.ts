import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, Failure } from "./failure.ts";
import { type FileStamp, sameStamp, stampOf } from "./files.ts";
import { createPrivate, NotAFile, notWritable, readPrivate, writePrivate } from "./private-file.ts";
import { notAFolder } from "./private-folder.ts";

/** The cookie that carries the key. */
export const KEY_COOKIE = "ab_ui";

const FORM = /^[0-9a-f]{48}$/;
const LIMIT_BYTES = 256;

/**
 * The dashboard key, made when there is none yet; of several first starts at once one makes it and all get the same. A
 * file that others may read is closed to them, and `warn` is told.
 * @param folder our own home folder
 * @throws Failure failed: the file is damaged or can't be read or made; it is left as it is
 */
export async function ensureKey(folder: string, warn: (message: string) => void): Promise<string> {
  const file = keyFile(folder);
  try {
    if (readPrivate(file, LIMIT_BYTES) === undefined) await createPrivate(file, newKey());
  } catch (error) {
    throw unusableHere(folder, error);
  }
  // Something stands there that can't be read: neither a key nor room for one.
  if (readIfUsable(folder) === undefined) throw new Failure("failed", DEAD_LINK);
  const { key, tooOpen } = readKey(folder);
  if (tooOpen) {
    warn(
      "others could read the dashboard key: its file is now closed to them; `agent-bridge token --reset` makes a new key",
    );
    await chmod(file, 0o600).catch((error: unknown) => {
      throw unusableHere(folder, error);
    });
  }
  return key;
}

/** Replaces the dashboard key, whatever is there, and gives the new one. @throws Failure failed: it can't be written */
export async function resetKey(folder: string): Promise<string> {
  const key = newKey();
  try {
    await writePrivate(keyFile(folder), key);
  } catch (error) {
    throw unusableHere(folder, error);
  }
  return key;
}

/**
 * Gives the key as it is now: one stat a call, and the file is read again when it has changed.
 * @throws (each call) Failure failed: the file is gone, damaged or can't be read
 */
export function keyReader(folder: string): () => string {
  const file = keyFile(folder);
  let held: { readonly key: string; readonly stamp: FileStamp } | undefined;
  return () => {
    const stamp = stampOf(file);
    if (held !== undefined && stamp !== undefined && sameStamp(held.stamp, stamp)) return held.key;
    held = undefined;
    const { key } = readKey(folder);
    // The stamp was taken before the file was read: a change in between shows the next time.
    if (stamp !== undefined) held = { key, stamp };
    return key;
  };
}

function keyFile(folder: string): string {
  return join(folder, "dashboard-key");
}

function newKey(): string {
  return randomBytes(24).toString("hex");
}

function readKey(folder: string): { readonly key: string; readonly tooOpen: boolean } {
  const found = readIfUsable(folder);
  if (found === undefined) {
    throw new Failure("failed", "there is no dashboard key: `agent-bridge token` makes one");
  }
  const key = found.bytes.toString("latin1").trim();
  if (!FORM.test(key)) throw unusable(folder);
  return { key, tooOpen: found.tooOpen };
}

function readIfUsable(folder: string): ReturnType<typeof readPrivate> {
  try {
    return readPrivate(keyFile(folder), LIMIT_BYTES);
  } catch (error) {
    // A server that runs tells this to whoever asks, so no path may stand in it.
    if (notAFolder(folder, error) !== undefined) return undefined;
    throw unusable(folder, error);
  }
}

const DEAD_LINK = "dashboard-key is a link that leads nowhere: `agent-bridge token --reset` replaces it";

/** As `unusable`, for who runs the program: they may read where the file is. */
function unusableHere(folder: string, cause: unknown): Failure {
  if (errorCode(cause) === undefined) return unusable(folder, cause);
  return notAFolder(folder, cause) ?? notWritable("dashboard-key", folder, cause);
}

function unusable(folder: string, cause?: unknown): Failure {
  if (cause instanceof NotAFile) return cause;
  const code = errorCode(cause);
  const noFolder = notAFolder(folder, cause);
  if (noFolder !== undefined) return noFolder;
  const reason =
    code === undefined
      ? "is damaged (it must hold 48 hexadecimal digits): `agent-bridge token --reset` replaces it"
      : `can't be used (${code}): look at the permissions of agent-bridge's own folder and the space on its disk`;
  return new Failure("failed", `the file dashboard-key ${reason}`, cause);
}
