import { isUtf8 } from "node:buffer";
import { lstatSync, realpathSync, type Stats } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Failure } from "../platform/failure.ts";
import { withFileNow } from "../platform/files.ts";
import { NotAFile } from "../platform/private-file.ts";
import { parseJson } from "../platform/read.ts";

/**
 * The bytes of a file of ours that is to be written anew, or undefined when there is none.
 * @throws Failure failed: it can't be read, or is a link, whose place a new file would take · NotAFile
 */
export function readOwn(path: string): Buffer | undefined {
  requireFile(path);
  try {
    const root = realpathSync(dirname(path));
    return withFileNow(root, path, (file) => {
      const bytes = Buffer.allocUnsafe(file.size);
      return bytes.subarray(0, file.read(bytes, 0));
    });
  } catch (error) {
    // It has gone since, or never was there.
    if (statsOf(path) === undefined) return undefined;
    throw new Failure("failed", `${basename(path)} can't be read, and is left as it is`, error);
  }
}

/**
 * Checks that what stands at `path`, if anything, is a regular file and no way to one.
 * @throws NotAFile · Failure failed: it is a link
 */
export function requireFile(path: string): void {
  const stats = statsOf(path);
  if (stats === undefined || stats.isFile()) return;
  if (!stats.isSymbolicLink()) throw new NotAFile(path, stats.isDirectory());
  throw new Failure("failed", `${basename(path)} is a link, and is left as it is: move it away to go on`);
}

/** Whether anything stands at `path`, also a link that leads nowhere. @throws Failure failed: that can't be asked */
export function isTaken(path: string): boolean {
  return statsOf(path) !== undefined;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw new Failure("failed", `${basename(path)} can't be looked at: see to the permissions of its folder`, error);
  }
}

/**
 * The JSON of a file of ours that is to be changed. Whole numbers that no number of ours can hold come as what
 * `JSON.stringify` writes in their own digits.
 * @throws Failure failed: it is damaged, also in its encoding. Then it stays as it is: what is in it may yet be saved by hand.
 */
export function parseOwn(bytes: Buffer, name: string): unknown {
  if (!isUtf8(bytes)) throw damaged(name);
  try {
    const text = bytes.toString("utf8");
    // Most have no such number, and asking of every value takes ten times as long.
    return parseJson(text, /\d{16}/.test(text) ? exactly : undefined);
  } catch (error) {
    throw damaged(name, error);
  }
}

function exactly(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  const isInexact = typeof value === "number" && source !== undefined && /^-?\d{16,}$/.test(source);
  return isInexact && !Number.isSafeInteger(value) ? (JSON as RawJson).rawJSON(source) : value;
}

/** Node.js 22 has it; the types of the language that we are checked against don't. */
type RawJson = typeof JSON & { rawJSON(text: string): unknown };

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
