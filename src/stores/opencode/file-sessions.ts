import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { Breather } from "../../platform/breather.ts";
import { epochMsOf } from "../../platform/clock.ts";
import { type FileStamp, sameStamp, stampOf, withFile } from "../../platform/files.ts";
import { asObject, asText, type JsonObject } from "../../platform/read.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { Revert } from "./chat-rows.ts";
import { isPlaceholder, titleOf } from "./child-names.ts";
import { revertTag } from "./cursor.ts";
import type { Problems } from "./problems.ts";
import type { SessionFacts } from "./session-list.ts";

/** Bytes of a JSON file that is read whole. */
const MOST_BYTES = 512 * 1024;

/** A session in JSON files, as OpenCode kept them up to 1.1. */
export interface FileSession {
  readonly file: string;
  /** Real path of the `storage` folder. */
  readonly storage: string;
  readonly facts: SessionFacts;
  readonly revert: Revert | undefined;
}

interface Held {
  readonly stamp: FileStamp;
  readonly session: FileSession | undefined;
}

/**
 * The sessions that lie in JSON files below a data folder's `storage`. Newer releases left them behind when they moved to a
 * database, not always having taken them over. A file is read once for each of its states.
 */
export class FileSessions {
  readonly #problems: Problems;
  #held = new Map<string, Held>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Every session below `storage` (a real path). */
  async list(storage: string): Promise<readonly FileSession[]> {
    const top = join(storage, "session");
    const breather = new Breather();
    const sessions: FileSession[] = [];
    for (const project of await namesIn(top)) {
      for (const name of await namesIn(join(top, project))) {
        await breather.pause();
        const session = name.endsWith(".json") ? await this.#session(storage, join(top, project, name)) : undefined;
        if (session !== undefined) sessions.push(session);
      }
    }
    return sessions;
  }

  /** The session with this id below `storage`. */
  async find(storage: string, id: SessionId): Promise<FileSession | undefined> {
    const top = join(storage, "session");
    for (const project of await namesIn(top)) {
      const file = join(top, project, `${id}.json`);
      const session = stampOf(file) === undefined ? undefined : await this.#session(storage, file);
      if (session !== undefined) return session;
    }
    return undefined;
  }

  async #session(storage: string, file: string): Promise<FileSession | undefined> {
    const stamp = stampOf(file);
    if (stamp === undefined) return undefined;
    const held = this.#held.get(file);
    if (held !== undefined && sameStamp(held.stamp, stamp)) return held.session;
    const id = sessionIdOf(basename(file, ".json"));
    const data = await readJson(storage, file);
    const facts = id === undefined || data === undefined ? undefined : factsOf(id, data);
    if (facts === undefined) this.#problems.add("a session file that is no session", file);
    const session = facts && { file, storage, facts, revert: data && revertOf(data) };
    this.#held.set(file, { stamp, session });
    return session;
  }
}

/** The object in a JSON file inside `root`; undefined when there is none, or it is of more than `mostBytes`. */
export async function readJson(root: string, file: string, mostBytes = MOST_BYTES): Promise<JsonObject | undefined> {
  try {
    const text = await withFile(root, file, ({ size, read }) => {
      if (size > mostBytes) return undefined;
      const bytes = Buffer.alloc(size);
      return bytes.toString("utf8", 0, read(bytes, 0));
    });
    return text === undefined ? undefined : asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The names in a folder that no link leads out of by `..`; none where it can't be read. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function factsOf(id: SessionId, data: JsonObject): SessionFacts | undefined {
  const time = asObject(data.time);
  const startedAt = epochMsOf(time?.created);
  if (startedAt === undefined) return undefined;
  const stored = asText(data.title) ?? "";
  return {
    id,
    title: titleOf(stored === "" || isPlaceholder(stored) ? "New session" : stored),
    cwd: asText(data.directory) ?? "",
    startedAt,
    updatedAt: epochMsOf(time?.updated) ?? startedAt,
    parent: sessionIdOf(data.parentID),
    model: undefined,
    version: asText(data.version),
    generation: "json",
  };
}

function revertOf(data: JsonObject): Revert | undefined {
  const revert = asObject(data.revert);
  const message = asText(revert?.messageID);
  const part = asText(revert?.partID);
  return message === undefined ? undefined : { message, part, tag: revertTag(message, part) };
}
