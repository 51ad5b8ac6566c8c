import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Environment } from "../../platform/environment.ts";
import { errorCode } from "../../platform/failure.ts";
import { isWithin } from "../../platform/files.ts";

const DATABASE = "state.db";
const A_LINK = "a link that leads out of the store";

/** A Hermes home (or one of its profiles) with its database, whether there is one or not. */
export interface HermesRoot {
  readonly database: string;
  /** The name of the profile, for those that are one. */
  readonly profile: string | undefined;
  /** Whether the `hermes` command looks here by itself, so that it can go on with these sessions. */
  readonly own: boolean;
  readonly found: boolean;
  readonly note?: string;
}

/**
 * Where Hermes (schema 30 and older) keeps its sessions: `$HERMES_HOME`, else `~/.hermes` (`%LOCALAPPDATA%\hermes` on
 * Windows), there in `state.db`, and in `profiles/<name>/state.db`; then the extra roots of our configuration, each such
 * a home or a `state.db`. A database that is a link out of its home is not followed.
 */
export function hermesRoots(environment: Environment, extra: readonly string[]): readonly HermesRoot[] {
  const set = environment.variable("HERMES_HOME");
  const note = set === undefined ? undefined : "from HERMES_HOME";
  const roots = homeRoots(set === undefined ? defaultHome(environment) : resolve(set), true, note);
  for (const folder of extra) {
    const path = resolve(/^~(?=$|[/\\])/.test(folder) ? join(environment.home, folder.slice(1)) : folder);
    roots.push(...homeRoots(basename(path) === DATABASE ? dirname(path) : path, false, "from config.json"));
  }
  const seen = new Set<string>();
  return roots.filter(({ database }) => !seen.has(database) && seen.add(database));
}

function defaultHome(environment: Environment): string {
  if (environment.platform !== "win32") return join(environment.home, ".hermes");
  return join(environment.variable("LOCALAPPDATA") ?? join(environment.home, "AppData", "Local"), "hermes");
}

function homeRoots(home: string, own: boolean, note: string | undefined): HermesRoot[] {
  const real = realPathOf(home);
  const profiles = join(real, "profiles");
  const named = foldersIn(profiles).map((name) => rootAt(real, join(profiles, name, DATABASE), name, own, note));
  return [
    rootAt(real, join(real, DATABASE), undefined, own, note),
    ...named.filter(({ found, note }) => found || note === A_LINK),
  ];
}

function rootAt(
  home: string,
  database: string,
  profile: string | undefined,
  own: boolean,
  note: string | undefined,
): HermesRoot {
  const root = { database, profile, own };
  try {
    const real = realpathSync.native(database);
    if (!isWithin(home, real)) return { ...root, found: false, note: A_LINK };
    return { ...root, database: real, found: true, ...(note !== undefined && { note }) };
  } catch (error) {
    const told = errorCode(error) === "EACCES" ? "permission denied" : note;
    return { ...root, found: false, ...(told !== undefined && { note: told }) };
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    // No profiles, or none that may be looked at: what can be read is read.
    return [];
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
