import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { RecordedStore } from "./store.ts";

/** Opens the sessions that were recorded. */
export function openRecorded({ environment, clock, watcher, extraRoots, known }: StoreParts): Store {
  const more = known === undefined ? {} : { known };
  return new RecordedStore({ environment, clock, watcher, extraRoots: extraRoots.daemon ?? [], ...more });
}
