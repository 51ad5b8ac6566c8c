import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { RecordedStore } from "./store.ts";

/** Opens the sessions that were recorded. */
export function openRecorded({ environment, clock, watcher, extraRoots }: StoreParts): Store {
  return new RecordedStore({ environment, clock, watcher, extraRoots: extraRoots.daemon ?? [] });
}
