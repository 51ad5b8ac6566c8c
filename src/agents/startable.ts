import type { Clock } from "../platform/clock.ts";
import type { KnownAgent } from "./agent-command.ts";

/** How long it is trusted which agents are installed: looking goes through all folders of the PATH. ms. */
const TRUST_MS = 10_000;

/** Tells which agents can be started here. */
export interface StartableAgents {
  /** All that can be asked for; looked for anew at most every 10 seconds. */
  list(): readonly KnownAgent[];
}

/** `look` is what looks for them. */
export function startableAgents(look: () => readonly KnownAgent[], clock: Clock): StartableAgents {
  let held: { readonly agents: readonly KnownAgent[]; readonly at: number } | undefined;
  return {
    list() {
      const now = clock.now();
      const age = held === undefined ? -1 : now - held.at;
      // A clock that was set back says nothing of an age.
      if (held === undefined || age < 0 || age >= TRUST_MS) held = { agents: look(), at: now };
      return held.agents;
    },
  };
}
