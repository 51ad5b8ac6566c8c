import { h } from "../dom.ts";
import { hashOf } from "../places.ts";
import { AGENTS, type OwnSession } from "../wire.ts";

/** Links to what a session of an agent has said: our recording of it, and what its own store has. */
export function transcriptLinks({ kind, agent, id, nativeSessionId }: OwnSession): readonly HTMLElement[] {
  if (kind !== "agent") return [];
  const recording = h("a", { href: hashOf({ view: "session", agent: "daemon", id }) }, "Recording");
  const known = AGENTS.find((name) => name === agent);
  if (known === undefined || nativeSessionId === undefined) return [recording];
  return [
    recording,
    h("a", { href: hashOf({ view: "session", agent: known, id: nativeSessionId }) }, "The agent's own transcript"),
  ];
}
