import { Subscription } from "../../platform/subscription.ts";
import type { Watcher } from "../../platform/watch.ts";
import type { Change } from "../store.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Pulses } from "./pulses.ts";

/**
 * That something in the store changed, by following every database and the folders that databases appear in, also ones to come. Each look of
 * the catalogue brings what is followed up to date. Which session it was, no file tells.
 */
export async function* storeChanges(
  catalogue: Catalogue,
  pulses: Pulses,
  watcher: Watcher,
  signal: AbortSignal,
): AsyncGenerator<Change, void, undefined> {
  const followed = new Set<string>();
  const told = new Subscription<undefined>(signal, () => undefined);
  const pump = async (source: AsyncIterable<string | undefined>, take: (name: string | undefined) => void) => {
    for await (const name of source) take(name);
  };
  const once = (path: string, start: () => Promise<void>): void => {
    if (followed.has(path)) return;
    followed.add(path);
    told.tell(undefined);
    // What can't be followed any more is found by the next sweep.
    start().catch(() => followed.delete(path));
  };
  const appearance = async (path: string): Promise<void> => {
    const source = watcher.folder(path, signal);
    // It may have come before it was watched.
    catalogue.touch();
    for await (const _ of source) break;
    catalogue.touch();
    told.tell(undefined);
  };
  const follow = (): void => {
    for (const { path, real } of catalogue.roots) {
      if (real === undefined) {
        const key = `until there is ${path}`;
        once(key, () => appearance(path).then(() => void followed.delete(key)));
        continue;
      }
      once(real, () =>
        pump(watcher.folder(real, signal), (name) => {
          if (name !== undefined && !name.endsWith(".db")) return;
          catalogue.touch();
          told.tell(undefined);
        }),
      );
    }
    for (const { file } of catalogue.databases) {
      once(file.path, () => pump(pulses.of(file, signal), () => told.tell(undefined)));
    }
  };
  const leave = catalogue.afterLook(follow);
  try {
    follow();
    if (catalogue.roots.length === 0) await catalogue.look("quick");
    for await (const _ of told) yield {};
  } finally {
    leave();
    told.return();
  }
}
