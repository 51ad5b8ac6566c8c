import type { RunOutcome } from "../runs/write.ts";
import type { TurnEndReason } from "./event.ts";
import { jobSessionOf } from "./session-job.ts";
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
  const run = new TurnRun(tools, jobSessionOf(session), prompt, { by: source, after });
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
