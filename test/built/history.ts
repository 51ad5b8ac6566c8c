import type { Machine } from "./product.ts";

/** A session with every kind of item and one subagent. */
export const SESSION = "1b0e4c52-8f6d-4b7e-9a41-0d5f3c2e7a10";
/** Its subagent. */
export const CHILD = "a1f0c2d4e6b80912a";
/** A session of several pages. */
export const LONG_SESSION = "2c7f9d13-4a5b-4c8d-8e62-1f6a4d3b8c21";
/** The prompts in it. */
export const LONG_PROMPTS = 60;

const START = Date.parse("2026-11-30T09:00:00.000Z");

/** Writes a small history, by and by, in the way of Claude Code 2.1.332. */
export function writeHistory(machine: Machine): void {
  const call = { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "npm test" } };
  const spawn = {
    type: "tool_use",
    id: "toolu_2",
    name: "Agent",
    input: { description: "Look around", prompt: "Look." },
  };
  machine.append(SESSION, [
    { type: "custom-title", customTitle: "Fix the redirect", sessionId: SESSION },
    user(1, "Fix it."),
    assistant(2, [{ type: "text", text: `I will. ${"x".repeat(20_000)}` }]),
    assistant(3, [call]),
    user(4, [{ type: "tool_result", tool_use_id: "toolu_1", content: "Exit code 1", is_error: true }]),
    assistant(5, [spawn]),
    {
      ...user(6, [{ type: "tool_result", tool_use_id: "toolu_2", content: "Seen." }]),
      toolUseResult: { status: "completed", agentId: CHILD },
    },
  ]);
  machine.append(SESSION, [user(5, "Look.", CHILD), assistant(6, [{ type: "text", text: "Seen." }], CHILD)], CHILD);
  const prompts = Array.from({ length: LONG_PROMPTS }, (_, index) =>
    user(index, `prompt ${index} ${"y".repeat(30_000)}`),
  );
  machine.append(LONG_SESSION, prompts);
}

/** A user's line, `second` seconds after the start. */
export function user(second: number, content: unknown, agentId?: string): object {
  return record("user", second, { role: "user", content }, agentId);
}

/** A line of the agent's. */
export function assistant(second: number, content: unknown, agentId?: string): object {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20 };
  const message = { id: `msg_${agentId ?? ""}${second}`, type: "message", role: "assistant", model: "claude-sonnet-5" };
  return record("assistant", second, { ...message, content, usage }, agentId);
}

function record(type: string, second: number, message: object, agentId: string | undefined): object {
  return {
    isSidechain: agentId !== undefined,
    ...(agentId !== undefined && { agentId }),
    type,
    message,
    timestamp: new Date(START + second * 1000).toISOString(),
    sessionId: SESSION,
    cwd: "/home/dev/work",
    gitBranch: "main",
    version: "2.1.332",
  };
}
