import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { HermesStore } from "./store.ts";

/** Opens the history of Hermes. */
export function openHermes({ environment, clock, watcher, extraRoots }: StoreParts): Store {
  return new HermesStore({ environment, clock, watcher, extraRoots: extraRoots.hermes ?? [] });
}
