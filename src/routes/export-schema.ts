import { AGENT, COUNT, ID, list, object, TEXT, TIME, TOKENS, YES } from "./schemas.ts";

const CALL = object({ name: TEXT, input: {} }, { id: TEXT, summary: TEXT });

/** A chat as an export in JSON holds it. */
export const EXPORT = object({
  meta: object(
    {
      agent: TEXT,
      sessionId: ID,
      messageCount: { ...COUNT, description: "Those inside subagents not counted." },
      toolCallCount: COUNT,
      tokens: TOKENS,
      source: { type: "string", enum: ["native", "daemon"] },
    },
    { child: ID, title: TEXT, model: TEXT, cwd: TEXT, startedAt: TIME, endedAt: TIME, costUsd: { type: "number" } },
  ),
  messages: list(
    object(
      { role: { type: "string", enum: ["user", "assistant", "tool", "system"] } },
      {
        at: TIME,
        text: TEXT,
        reasoning: TEXT,
        model: TEXT,
        toolName: TEXT,
        toolCallId: TEXT,
        toolCalls: list(CALL),
        isError: YES,
        isRunning: YES,
        marker: TEXT,
        summary: TEXT,
        subagent: object(
          { id: ID, title: TEXT, agent: AGENT },
          { messages: { ...list({ type: "object" }), description: "As those of the session, when asked for." } },
        ),
        takenBack: { ...YES, description: "The turn it stands in was taken back later." },
        cut: { ...YES, description: "Something was cut off, as was asked." },
      },
    ),
  ),
});
