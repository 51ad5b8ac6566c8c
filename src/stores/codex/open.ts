import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { CodexStore } from "./store.ts";

/** Opens the history of Codex. */
export function openCodex({ environment, clock, watcher, extraRoots }: StoreParts): Store {
  return new CodexStore({ environment, clock, watcher, extraRoots: extraRoots.codex ?? [] });
}
