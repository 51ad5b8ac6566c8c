import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { OpenCodeStore } from "./store.ts";

/** Opens the history of OpenCode. */
export function openOpenCode({ environment, clock, watcher, extraRoots }: StoreParts): Store {
  return new OpenCodeStore({ environment, clock, watcher, extraRoots: extraRoots.opencode ?? [] });
}
