import type { Clock } from "../platform/clock.ts";
import type { Environment } from "../platform/environment.ts";
import type { Watcher } from "../platform/watch.ts";
import type { AgentName } from "../transcript/names.ts";
import { openClaude } from "./claude/open.ts";
import { openCodex } from "./codex/open.ts";
import { openHermes } from "./hermes/open.ts";
import { openOpenCode } from "./opencode/open.ts";
import type { KnownSessions } from "./recorded/known.ts";
import { openRecorded } from "./recorded/open.ts";
import type { Store } from "./store.ts";

/** What a store is opened with. */
export interface StoreParts {
  readonly environment: Environment;
  readonly clock: Clock;
  readonly watcher: Watcher;
  /** Further folders to look in, by agent: `stores` in `config.json`. */
  readonly extraRoots: { readonly [agent in AgentName]?: readonly string[] };
  /** What is known of recorded sessions besides their recordings. */
  readonly known?: KnownSessions;
}

/** Opens one agent's store. Opening reads nothing, so it can't fail. */
export type OpenStore = (parts: StoreParts) => Store;

/** The agents that are read: one line each. */
const AGENTS: readonly OpenStore[] = [openClaude, openCodex, openOpenCode, openHermes, openRecorded];

/** Every store there is. @throws Error when two are of one agent, which is a fault of ours. */
export function openStores(parts: StoreParts, agents: readonly OpenStore[] = AGENTS): readonly Store[] {
  const stores = agents.map((open) => open(parts));
  if (new Set(stores.map((store) => store.agent)).size < stores.length) throw new Error("two stores of one agent");
  return stores;
}
