import { readdir, realpath, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode, Failure } from "../platform/failure.ts";
import { withFile } from "../platform/files.ts";
import { parseJson } from "../platform/read.ts";

/**
 * The bytes of a file of ours, or undefined when there is none.
 * @throws Failure failed: it is there and can't be read
 */
export async function readOwn(path: string): Promise<Buffer | undefined> {
  try {
    const root = await realpath(dirname(path));
    await realpath(path);
    return await withFile(root, path, (file) => {
      const bytes = Buffer.allocUnsafe(file.size);
      return bytes.subarray(0, file.read(bytes, 0));
    });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * The JSON of a file of ours that is to be changed.
 * @throws Failure failed: it is damaged. Then it stays as it is: what is in it may yet be saved by hand.
 */
export function parseOwn(bytes: Buffer, name: string): unknown {
  try {
    return parseJson(bytes.toString("utf8"));
  } catch (error) {
    throw damaged(name, error);
  }
}

/** The failure of a file that is not what it should be. */
export function damaged(name: string, cause?: unknown): Failure {
  return new Failure("failed", `${name} is damaged and is left as it is: move it away to go on`, cause);
}

/** Refuses to change what a newer version wrote. @throws Failure failed */
export function requireKnownVersion(version: unknown, known: number, name: string): void {
  if (version === undefined || (typeof version === "number" && version <= known)) return;
  throw new Failure("failed", `${name} was written by a newer agent-bridge, which alone may change it`);
}

/** Removes what writers that were killed have left in `folder`. Only while nobody can be writing there. */
export async function removeLeftovers(folder: string, of: RegExp): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const left = names.filter((name) => /^\..+\.[0-9a-f]{12}\.tmp$/.test(name) && of.test(name.slice(1)));
  for (const name of left) await rm(join(folder, name), { force: true });
}
