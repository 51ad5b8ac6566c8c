import { type Dirent, realpathSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Environment } from "../../platform/environment.ts";
import { errorCode } from "../../platform/failure.ts";
import { isWithin } from "../../platform/files.ts";
import type { Problems } from "./problems.ts";

/** A folder in which OpenCode keeps its data, or may come to. */
export interface OpenCodeRoot {
  /** As it is named. */
  readonly path: string;
  /** Its real path; undefined while there is none. */
  readonly real: string | undefined;
  /** Real paths of the databases in it. */
  readonly databases: readonly string[];
  /** What a person should know of it. */
  readonly note?: string;
}

/** Databases by name (1.18.33): `opencode.db`, or `opencode-<channel>.db`. Side files and backups end otherwise. */
const DATABASE = /^opencode(?:-[A-Za-z0-9._-]+)?\.db$/;

/**
 * Where OpenCode (1.18.33) keeps its sessions: `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`, on every system;
 * the database that `OPENCODE_DB` names, a relative name in that folder; then the extra roots of our configuration (a data
 * folder, the home that it is in, or a database).
 */
export async function openCodeRoots(
  environment: Environment,
  extra: readonly string[],
  problems: Problems,
): Promise<readonly OpenCodeRoot[]> {
  const base = environment.variable("XDG_DATA_HOME");
  const data =
    base === undefined ? join(environment.home, ".local", "share", "opencode") : join(resolve(base), "opencode");
  const roots = [await rootAt(data, base === undefined ? undefined : "from XDG_DATA_HOME", problems)];
  const named = environment.variable("OPENCODE_DB");
  if (named !== undefined && named !== ":memory:") {
    roots.push(...(await databaseRoot(resolve(data, named), "from OPENCODE_DB", problems)));
  }
  for (const folder of extra) roots.push(...(await extraRoots(environment, folder, problems)));
  return distinct(roots);
}

/** Each database once; a root that adds nothing to the ones before it is left out. */
function distinct(roots: readonly OpenCodeRoot[]): OpenCodeRoot[] {
  const folders = new Set<string>();
  const databases = new Set<string>();
  return roots.flatMap((root) => {
    const fresh = root.databases.filter((path) => !databases.has(path));
    for (const path of fresh) databases.add(path);
    const known = folders.has(root.real ?? root.path);
    folders.add(root.real ?? root.path);
    return known && fresh.length === 0 ? [] : [{ ...root, databases: fresh }];
  });
}

async function extraRoots(environment: Environment, folder: string, problems: Problems): Promise<OpenCodeRoot[]> {
  const path = resolve(/^~(?=$|[/\\])/.test(folder) ? join(environment.home, folder.slice(1)) : folder);
  const note = "from config.json";
  if (await isFile(path)) return databaseRoot(path, note, problems);
  const places = [path, join(path, "opencode"), join(path, ".local", "share", "opencode")];
  const roots = await Promise.all(places.map((place) => rootAt(place, note, problems)));
  const holding = await Promise.all(
    roots.map(async (root) => root.databases.length > 0 || (await isFolder(join(root.path, "storage", "session")))),
  );
  const found = roots.filter((_, index) => holding[index]);
  return found.length > 0 ? found : roots.slice(0, 1);
}

async function databaseRoot(path: string, note: string, problems: Problems): Promise<OpenCodeRoot[]> {
  const folder = dirname(path);
  const real = realOf(path);
  if (real === undefined) return [{ path, real: undefined, databases: [], note }];
  if (await isDatabaseFile(real, problems)) return [{ path: folder, real: dirname(real), databases: [real], note }];
  return [];
}

async function rootAt(path: string, note: string | undefined, problems: Problems): Promise<OpenCodeRoot> {
  const real = realOf(path);
  const said = note === undefined ? {} : { note };
  if (real === undefined) return { path, real, databases: [], ...said };
  let entries: Dirent[];
  try {
    entries = await readdir(real, { withFileTypes: true });
  } catch (error) {
    const denied = errorCode(error) === "EACCES" ? { note: "permission denied" } : said;
    return { path, real: undefined, databases: [], ...denied };
  }
  const databases: string[] = [];
  for (const { name } of entries) {
    if (!DATABASE.test(name)) continue;
    const file = realOf(join(real, name));
    if (file === undefined || !isWithin(real, file))
      problems.add("a link that leads out of the store", join(real, name));
    else if (await isDatabaseFile(file, problems)) databases.push(file);
  }
  return { path, real, databases: databases.sort(byName), ...said };
}

/** `opencode.db` before the databases of channels. */
function byName(a: string, b: string): number {
  const [one, other] = [basename(a), basename(b)];
  return one.length - other.length || (one < other ? -1 : 1);
}

/** An empty file is what a database is before its first write. */
async function isDatabaseFile(path: string, problems: Problems): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || (stats.isFile() && stats.size === 0)) return false;
  if (stats.isFile()) return true;
  problems.add("no regular file", path);
  return false;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
