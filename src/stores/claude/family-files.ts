import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type FileStamp, stampOf, withFile } from "../../platform/files.ts";
import { asText } from "../../platform/read.ts";
import type { SessionId } from "../../transcript/names.ts";
import { readMeta } from "./child-facts.ts";
import { readable } from "./children.ts";
import { type ClaudePlace, sideFoldersOf } from "./place.ts";

const AGENT_FILE = /^agent-[A-Za-z0-9_-]{1,128}\.jsonl$/;

/** Workflow agents lie two folders below `subagents` (as reported); deeper than this nothing was ever seen. */
const DEEPEST = 6;

/** Entries of a side folder that are looked at. */
const MOST_ENTRIES = 20_000;

/** Owners of old agent files that are remembered. */
const MOST_OWNERS = 20_000;

/** An old agent file's first record names its session within this many bytes. */
const OWNER_BYTES = 16 * 1024;

/**
 * The transcripts of a session and of its agents, all kinds of agents: `<id>/subagents/**` and, up to about 2.1.1, files
 * beside the session whose records carry its id.
 */
export class FamilyFiles {
  readonly #owners = new Map<string, { readonly ino: bigint; readonly owner: string | undefined }>();

  /** The chat's own transcript first; only what is there now. A subagent's family are the agents that it started. */
  async of(place: ClaudePlace): Promise<readonly FileStamp[]> {
    const agents = [...(await this.#agentsOf(place)), ...(await this.#agentsBeside(place))];
    const below = place.file === place.mainFile ? agents : await startedBy(place, agents);
    return [place.file, ...below].flatMap((path) => stampIfThere(path) ?? []);
  }

  async #agentsOf(place: ClaudePlace): Promise<string[]> {
    const budget = { left: MOST_ENTRIES };
    const found: string[] = [];
    for (const folder of sideFoldersOf(place)) {
      found.push(...(await agentsBelow(join(folder, "subagents"), budget, 0)));
    }
    return found;
  }

  async #agentsBeside(place: ClaudePlace): Promise<string[]> {
    const folder = dirname(place.mainFile);
    const found: string[] = [];
    for (const name of (await entriesOf(folder)).files) {
      const path = join(folder, name);
      if (AGENT_FILE.test(name) && (await this.#owner(place.root, path)) === place.session) found.push(path);
    }
    return found;
  }

  /** The session that the old agent file at `path` belongs to. */
  async #owner(root: string, path: string): Promise<SessionId | string | undefined> {
    const stamp = stampIfThere(path);
    if (stamp === undefined) return undefined;
    const held = this.#owners.get(path);
    if (held?.ino === stamp.ino) return held.owner;
    const owner = await ownerStated(root, path);
    if (this.#owners.size >= MOST_OWNERS) this.#owners.clear();
    if (owner !== undefined) this.#owners.set(path, { ino: stamp.ino, owner });
    return owner;
  }
}

/** Those of `agents` that the agent at `place` started, and that these started, as their meta files tell. */
async function startedBy(place: ClaudePlace, agents: readonly string[]): Promise<string[]> {
  const parents = new Map<string, SessionId | undefined>();
  for (const agent of agents) parents.set(agent, await starterOf(place.root, agent));
  const family = new Set([place.file]);
  for (const one of family) {
    const id = basename(one).replace(/^agent-(.+)\.jsonl$/, "$1");
    for (const [agent, parent] of parents) if (parent === id) family.add(agent);
  }
  return [...family].slice(1);
}

async function starterOf(root: string, agent: string): Promise<SessionId | undefined> {
  const meta = agent.replace(/\.jsonl$/, ".meta.json");
  if (stampIfThere(meta) === undefined) return undefined;
  return (await readable(withFile(root, meta, (open) => readMeta(open))))?.parent;
}

async function agentsBelow(folder: string, budget: { left: number }, depth: number): Promise<string[]> {
  if (depth > DEEPEST) return [];
  const { files, folders } = await entriesOf(folder);
  budget.left -= files.length + folders.length;
  const found = files.filter((name) => AGENT_FILE.test(name)).map((name) => join(folder, name));
  for (const name of folders) {
    if (budget.left > 0) found.push(...(await agentsBelow(join(folder, name), budget, depth + 1)));
  }
  return found;
}

/** The names in a folder that may not be there; links are left out. */
async function entriesOf(folder: string): Promise<{ files: string[]; folders: string[] }> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return {
      files: entries.filter((entry) => entry.isFile()).map((entry) => entry.name),
      folders: entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name),
    };
  } catch {
    return { files: [], folders: [] };
  }
}

async function ownerStated(root: string, path: string): Promise<string | undefined> {
  try {
    const start = await withFile(root, path, (file) => {
      const bytes = Buffer.alloc(Math.min(file.size, OWNER_BYTES));
      return bytes.toString("utf8", 0, file.read(bytes, 0));
    });
    return asText(/"sessionId":\s*"([A-Za-z0-9_-]+)"/.exec(start)?.[1]);
  } catch {
    return undefined;
  }
}

function stampIfThere(path: string): FileStamp | undefined {
  try {
    return stampOf(path);
  } catch {
    return undefined;
  }
}
