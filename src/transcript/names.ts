import { Failure } from "../platform/failure.ts";

/** The agents whose stores are read, by the name that routes, runs, jobs and peers use. */
export const AGENT_NAMES = ["claude", "codex", "opencode", "hermes", "daemon"] as const;

/** `claude`, `codex`, `opencode`, `hermes`, or `daemon` for recorded sessions. */
export type AgentName = (typeof AGENT_NAMES)[number];

declare const sessionId: unique symbol;

/** The id of a session or of a child, as its CLI wrote it; checked by pattern, so it is safe inside a file name. */
export type SessionId = string & { readonly [sessionId]: true };

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** `text` as an id, or undefined when no id can look like that. */
export function sessionIdOf(text: unknown): SessionId | undefined {
  return typeof text === "string" && ID.test(text) ? (text as SessionId) : undefined;
}

/** `text` as an agent's name, or undefined. */
export function agentNameOf(text: unknown): AgentName | undefined {
  return AGENT_NAMES.find((name) => name === text);
}

/** `text` as an id. @throws Failure not-found: an id that cannot exist names nothing. */
export function requireSessionId(text: string): SessionId {
  const id = sessionIdOf(text);
  if (id === undefined) throw new Failure("not-found", "no session has such an id");
  return id;
}
