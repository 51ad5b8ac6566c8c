import type { FileDiff } from "../transcript/entry.ts";

/** A choice that an agent offers when it asks for permission, as ACP names it. */
export interface PermissionOption {
  readonly optionId: string;
  readonly name: string;
  /** `allow_once`, `allow_always`, `reject_once`, `reject_always`, or what a newer protocol knows. */
  readonly kind: string;
}

/** A step of an agent's plan. */
export interface PlanEntry {
  readonly content: string;
  readonly priority: string;
  readonly status: string;
}

/** Why a turn ended. */
export type TurnEndReason = "completed" | "cancelled" | "max_turns" | "error" | "exited" | "aborted" | "awaiting-input";

/**
 * What happens in an agent session, in the order in which it happened: what a recorder takes, and what the terminal shows.
 * The fields are those of the records of `events.jsonl` without the envelope; text comes in chunks just as the agent sent it.
 */
export type SessionEvent =
  | { readonly kind: "user-prompt"; readonly text: string; readonly source?: string }
  | { readonly kind: "text-delta"; readonly text: string }
  | { readonly kind: "thought"; readonly text: string }
  | {
      readonly kind: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly arguments: unknown;
      readonly isUpdate?: true;
    }
  | {
      readonly kind: "tool-result";
      readonly toolCallId: string;
      readonly result: unknown;
      readonly isError: boolean;
      /** The changes of files that the agent told, where `result` does not hold them. */
      readonly diffs?: readonly FileDiff[];
    }
  | { readonly kind: "agent-prompt"; readonly toolCallId: string; readonly options: readonly PermissionOption[] }
  | {
      readonly kind: "permission-resolved";
      readonly toolCallId: string;
      readonly decision: "approve" | "deny" | "cancelled";
      readonly optionId?: string;
    }
  | { readonly kind: "plan"; readonly entries: readonly PlanEntry[]; readonly title?: string }
  | {
      readonly kind: "usage_update";
      /** The context window and how much of it is used: tokens. */
      readonly size: number;
      readonly used: number;
      readonly cost?: number;
      readonly tokensIn?: number;
      readonly tokensOut?: number;
      readonly model?: string;
    }
  | ({ readonly kind: "usage_snapshot" } & UsageFigures & { readonly source: string })
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "turn-end"; readonly reason: TurnEndReason }
  | {
      readonly kind: "error";
      readonly error: { readonly message: string; readonly code?: number | string; readonly data?: unknown };
    };

/** What a turn or session has used so far; what nobody stated is absent, never 0. Counts are tokens. */
export interface UsageFigures {
  readonly model?: string;
  readonly costUsd?: number;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly contextSize?: number;
  readonly contextUsed?: number;
}
