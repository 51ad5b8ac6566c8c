import type { Choice } from "./choice.ts";

/**
 * The modes in which agents ask before they change anything or run what could, by their ids: the most usable first.
 * In others an agent decides by itself, or by a model of its own, and may never ask.
 */
const ASKING: readonly string[] = [
  // Claude Code ("Manual"), Gemini CLI and Qwen Code.
  "default",
  // Goose, whose "smart_approve" decides by itself what needs a question.
  "approve",
  // The mode of the protocol's own examples: "Request permission before making any changes".
  "ask",
  // Codex: it reads in a sandbox, and asks for all else. In its "workspace-write" it changes files unasked.
  "read-only",
];

/** Modes in which an agent changes nothing: who has set one up is not moved out of it. */
const CAREFUL: readonly string[] = [...ASKING, "plan"];

/** The mode to set so that the agent asks first; undefined when it does already, or offers none that is known to. */
export function askingMode({ current, offers }: Choice): string | undefined {
  if (current !== undefined && CAREFUL.includes(current)) return undefined;
  return ASKING.find((mode) => offers.some(({ id }) => id === mode));
}
