import type { TurnEndReason } from "./event.ts";

/** What an agent's answer to a prompt says of the turn. */
export interface AnsweredTurn {
  readonly reason: TurnEndReason;
  /** What went wrong: one line for a person. */
  readonly error?: string;
}

/** What ACP's `stopReason` means. */
export function answeredTurn(stopReason: string): AnsweredTurn {
  switch (stopReason) {
    case "end_turn":
      return { reason: "completed" };
    case "cancelled":
      return { reason: "cancelled" };
    case "max_turn_requests":
      return { reason: "max_turns" };
    case "max_tokens":
      return { reason: "error", error: "the model stopped at its longest answer" };
    case "refusal":
      return { reason: "error", error: "the agent refuses to go on" };
    default:
      return { reason: "error", error: "the agent ended the turn in a way that is not known" };
  }
}
