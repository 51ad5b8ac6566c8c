import type { Permit } from "../sessions.ts";
import type { Choice } from "./choice.ts";

/**
 * The modes in which agents ask before they change anything or run what could, by their ids: the most usable first.
 * In others an agent decides by itself, and may never ask.
 */
const ASKING: readonly string[] = [
  // Claude Code ("Manual"), Gemini CLI, Qwen Code and others.
  "default",
  // Goose.
  "approve",
  // Codex: it reads in a sandbox, and asks for all else. In its "workspace-write" it changes files unasked.
  "read-only",
];

/** Modes in which an agent changes nothing unasked: who has set one up is not moved out of it. */
const CAREFUL: readonly string[] = [...ASKING, "plan"];

/** Modes in which a model of the agent's own looks at what it wants to do, and may refuse it: Claude Code, Codex, Goose. */
const REVIEWED: readonly string[] = ["auto", "agent", "smart_approve"];

/** Modes in which nobody refuses but who is asked. */
const UNREVIEWED: readonly string[] = ["default", "approve", "workspace-write"];

/**
 * The mode to set so that what the agent wants to do is up to `permit`; undefined when it is already, or when no mode is
 * offered that is known for that.
 */
export function modeFor(permit: Permit, { current = "", offers }: Choice): string | undefined {
  const isOffered = (mode: string): boolean => offers.some(({ id }) => id === mode);
  if (permit === "allow") return REVIEWED.includes(current) ? UNREVIEWED.find(isOffered) : undefined;
  return CAREFUL.includes(current) ? undefined : ASKING.find(isOffered);
}
