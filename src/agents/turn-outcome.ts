import { errorText, Failure } from "../platform/failure.ts";
import { AgentError } from "./acp/agent-error.ts";
import type { AcpConnection } from "./acp/connection.ts";
import type { TurnEndReason, UsageFigures } from "./event.ts";
import { answeredTurn } from "./stop-reason.ts";
import type { Turn } from "./turn.ts";

/** What a turn's outcome depends on besides the agent's answer. */
export interface TurnWorld {
  readonly connection: AcpConnection;
  /** Told what the turn used. */
  spent(usage: UsageFigures | undefined): void;
  /** Why the turn ends, if someone ends the session. */
  stopping(): TurnEndReason | undefined;
  /** Why the agent is gone, if it is. */
  whyGone(): Promise<string> | undefined;
}

/** Has the agent do `text`; how that ended. What went wrong is noted in the turn. Never fails. */
export async function turnOutcome(turn: Turn, text: string, world: TurnWorld): Promise<TurnEndReason> {
  try {
    const end = await world.connection.prompt(text);
    world.spent(end.usage);
    const { reason, error } = answeredTurn(end.stopReason);
    if (error !== undefined) turn.failed(error, end.stopReason);
    return (reason === "cancelled" ? world.stopping() : undefined) ?? reason;
  } catch (error) {
    const stopping = world.stopping();
    if (stopping !== undefined) return stopping;
    if (turn.cancelled) return "cancelled";
    // That the agent is gone is told in the same turn of the loop as that it will not answer.
    await new Promise(setImmediate);
    const whyGone = await world.whyGone();
    const code = error instanceof Failure && error.cause instanceof AgentError ? error.cause.code : undefined;
    turn.failed(whyGone ?? errorText(error), code);
    return whyGone === undefined ? "error" : "exited";
  }
}
