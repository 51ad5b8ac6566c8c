import { realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Environment } from "../../platform/environment.ts";
import { errorCode } from "../../platform/failure.ts";

/** A folder that holds, or may come to hold, a Claude Code history. */
export interface ClaudeRoot {
  /** The configuration folder: `sessions/` (who is live) is in it. */
  readonly config: string;
  /** Its `projects` folder as it is named. */
  readonly projects: string;
  /** The real path of `projects`, which everything read must lie in; undefined while there is none. */
  readonly real: string | undefined;
  /** What a person should know of it. */
  readonly note?: string;
}

/** How deep below an extra root Claude Desktop's local agent mode hides its `projects` folders (as reported). */
const NESTED_LEVELS = 8;

/** Folders of an extra root that are looked into at most, so that a wrong one (`/`) costs little. */
const NESTED_FOLDERS = 2_000;

/**
 * Where Claude Code (2.1.332) keeps its sessions: `$CLAUDE_CONFIG_DIR` (one path, NFC), else `~/.claude` and, where older
 * releases left projects in it, `~/.config/claude`; then the extra roots of our configuration. Roots that lead to the
 * same `projects` folder are one.
 */
export async function claudeRoots(environment: Environment, extra: readonly string[]): Promise<readonly ClaudeRoot[]> {
  const nested = await Promise.all(extra.map((folder) => extraRoots(environment, folder)));
  const seen = new Set<string>();
  return [...ownRoots(environment), ...nested.flat()].filter((root) => {
    const key = root.real ?? root.projects;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function ownRoots(environment: Environment): ClaudeRoot[] {
  const set = environment.variable("CLAUDE_CONFIG_DIR");
  if (set !== undefined) return [rootAt(resolve(set.normalize("NFC")), "from CLAUDE_CONFIG_DIR")];
  const older = rootAt(join(environment.home, ".config", "claude"), "used by older releases");
  return [rootAt(join(environment.home, ".claude")), ...(older.real === undefined ? [] : [older])];
}

async function extraRoots(environment: Environment, folder: string): Promise<ClaudeRoot[]> {
  const path = resolve(/^~(?=$|[/\\])/.test(folder) ? join(environment.home, folder.slice(1)) : folder);
  const note = "from config.json";
  const itself = rootAt(basename(path) === "projects" ? dirname(path) : path, note);
  if (itself.real !== undefined) return [itself];
  const nested = await nestedProjects(path);
  return nested.length === 0 ? [itself] : nested.map((config) => rootAt(config, note));
}

/** The folders below `top` that have a `projects` folder, breadth first; links are not followed. */
async function nestedProjects(top: string): Promise<string[]> {
  const found: string[] = [];
  let looked = 0;
  let level = [top];
  for (let depth = 0; depth <= NESTED_LEVELS && level.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of level) {
      if (++looked > NESTED_FOLDERS) return found;
      const names = await foldersIn(folder);
      if (names.includes("projects")) found.push(folder);
      else below.push(...names.map((name) => join(folder, name)));
    }
    level = below;
  }
  return found;
}

/** The names of the folders in `folder`; none where it can't be read. */
async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

function rootAt(config: string, note?: string): ClaudeRoot {
  const projects = join(config, "projects");
  try {
    return { config, projects, real: realpathSync.native(projects), ...(note !== undefined && { note }) };
  } catch (error) {
    const denied = errorCode(error) === "EACCES" ? "permission denied" : note;
    return { config, projects, real: undefined, ...(denied !== undefined && { note: denied }) };
  }
}
