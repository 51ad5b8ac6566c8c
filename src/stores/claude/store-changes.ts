import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Watcher } from "../../platform/watch.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import type { Change, LiveProof } from "../store.ts";
import type { Catalogue } from "./catalogue.ts";
import type { LiveRegistry } from "./live-registry.ts";
import { Mailbox, Pumps } from "./mailbox.ts";
import { isClaudeSession, sessionOfName } from "./project-folders.ts";

/**
 * What changes in the store, by watching the `projects` folders, every project folder in them and the `sessions` folders
 * (who is live), and for `projects` folders that are not there yet. Each look of the catalogue brings the folders that are watched up to date; a folder that is new is told as a
 * change once it is watched, so that what was written into it before is not missed.
 */
export async function* storeChanges(
  catalogue: Catalogue,
  registry: LiveRegistry,
  watcher: Watcher,
  signal: AbortSignal,
): AsyncGenerator<Change, void, undefined> {
  const changes = new Mailbox<Change>();
  const pumps = new Pumps((error) => changes.fail(error));
  const watched = new Map<string, () => void>();
  const tell = (id?: SessionId): void => changes.put(id ?? "", id === undefined ? {} : { id });
  const lives = new LiveDifference(registry);

  const watch = (folder: string, take: (name: string | undefined) => void, key = folder): boolean => {
    if (watched.has(key)) return false;
    watched.set(
      key,
      pumps.run((ended) => watcher.folder(folder, ended), take),
    );
    return true;
  };
  const inProjects = (): void => {
    tell();
    // Looking is what finds the new folder; it ends in `follow`.
    catalogue.look("quick").catch((error: unknown) => changes.fail(error));
  };
  // Only a sweep looks for roots anew.
  const appeared = (): void => {
    catalogue.look("sweep").catch((error: unknown) => changes.fail(error));
  };
  const inProject = (folder: string) => (name: string | undefined) => {
    const id = name === undefined ? undefined : sessionOfName(name);
    const side = name !== undefined && isClaudeSession(name) ? sessionIdOf(name) : undefined;
    if (name === undefined) catalogue.touch(folder);
    else if (id !== undefined) catalogue.touch(join(folder, name));
    if (name === undefined || (id !== undefined && catalogue.known(id) === undefined)) tell();
    const told = id ?? side;
    if (told !== undefined) tell(told);
  };
  const inSessions = (): void => {
    for (const id of lives.changed()) tell(id);
  };
  const follow = (): void => {
    const roots = catalogue.roots ?? [];
    const wanted = new Set<string>();
    let fresh = false;
    for (const { config, projects, real } of roots) {
      if (real === undefined) {
        const key = `until there is ${projects}`;
        wanted.add(key);
        if (watch(projects, appeared, key) && existsSync(projects)) appeared();
        continue;
      }
      wanted.add(join(config, "sessions")).add(real);
      watch(join(config, "sessions"), inSessions);
      fresh = watch(real, inProjects) || fresh;
    }
    for (const folder of catalogue.folders) {
      wanted.add(folder);
      fresh = watch(folder, inProject(folder)) || fresh;
    }
    for (const [folder, stop] of watched) {
      if (wanted.has(folder)) continue;
      stop();
      watched.delete(folder);
    }
    if (fresh) tell();
  };

  const leave = catalogue.afterLook(follow);
  try {
    if (catalogue.roots === undefined) await catalogue.look("sweep");
    else follow();
    yield* changes.take(signal);
  } finally {
    leave();
    pumps.close();
  }
}

/** Which sessions' liveness is not what it was when it was last asked. */
class LiveDifference {
  readonly #registry: LiveRegistry;
  #before: ReadonlyMap<SessionId, string>;

  constructor(registry: LiveRegistry) {
    this.#registry = registry;
    this.#before = shown(registry.live());
  }

  changed(): SessionId[] {
    this.#registry.refresh();
    const before = this.#before;
    const now = shown(this.#registry.live());
    this.#before = now;
    return [...new Set([...before.keys(), ...now.keys()])].filter((id) => before.get(id) !== now.get(id));
  }
}

function shown(live: readonly LiveProof[]): Map<SessionId, string> {
  return new Map(live.map((proof) => [proof.id, `${proof.pid} ${proof.activity ?? ""} ${proof.name ?? ""}`]));
}
