import type { StoreParts } from "../registry.ts";
import type { Store } from "../store.ts";
import { ClaudeChats } from "./chats.ts";
import { systemProcesses } from "./live-registry.ts";
import { ClaudeStore } from "./store.ts";

/** Opens the history of Claude Code. */
export function openClaude({ environment, clock, watcher, extraRoots }: StoreParts): Store {
  return new ClaudeStore({
    environment,
    clock,
    watcher,
    processes: systemProcesses(environment.platform),
    extraRoots: extraRoots.claude ?? [],
    chats: (isLive, counter) => new ClaudeChats({ clock, isLive, counter }),
  });
}
