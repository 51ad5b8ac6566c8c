import type { RunOutcome } from "../runs/write.ts";
import { agentNameOf } from "../transcript/names.ts";
import type { TurnEndReason } from "./event.ts";
import type { SessionDescriptor } from "./sessions.ts";
import type { PromptLog, PromptLogging } from "./turn.ts";
import { type RunTools, TurnRun } from "./turn-run.ts";

/** Begins to write a prompt of `session` down as a run of its job. */
export function logPrompt(
  tools: RunTools,
  session: SessionDescriptor,
  prompt: string,
  { source = "user", after }: PromptLogging,
): PromptLog {
  const { id, agent = "agent", cwd, model, name, permit = "deny", startedAt, nativeSessionId } = session;
  // The agents whose own store is read, by the name of that store; of any other the recording is all there is.
  const chat = agentNameOf(agent) === undefined ? id : (nativeSessionId ?? id);
  const run = new TurnRun(tools, { id, agent, cwd, model, name, permit, startedAt, chat }, prompt, {
    by: source,
    after,
  });
  return {
    begun: run.begun,
    happened: (event) => run.happened(event),
    end: (reason, error) => run.end(outcomeOf(reason, error)),
  };
}

/** What the log of a run says of a turn that ended so. */
export function outcomeOf(reason: TurnEndReason, error: string | undefined): RunOutcome {
  switch (reason) {
    case "completed":
      return "done";
    case "cancelled":
    case "aborted":
    case "awaiting-input":
      return "interrupted";
    case "max_turns":
      return { failed: error ?? "the agent came to the most requests that it may make in a turn" };
    case "error":
      return { failed: error ?? "the agent answered with an error" };
    case "exited":
      return { failed: error ?? "the agent ended" };
  }
}
