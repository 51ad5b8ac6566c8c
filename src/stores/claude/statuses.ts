import type { EpochMs } from "../../platform/clock.ts";
import type { ChildStatus } from "../store.ts";
import type { ChildMeta, ChildTail } from "./child-facts.ts";
import type { Ending } from "./evidence.ts";

/** What is known of how a subagent ended. */
export interface StatusFacts {
  /** The newest notification or note of its state in its parent's chat. */
  readonly told: Ending | undefined;
  /** The result of its call, when that did more than say that it was launched. */
  readonly result: Ending | undefined;
  readonly meta: ChildMeta | undefined;
  readonly tail: ChildTail;
  /** A process has the session open. */
  readonly live: boolean;
}

/**
 * What the store proves of a subagent, by the first evidence there is. A file's time proves nothing: an agent that
 * thinks writes nothing, and one that was killed may have written a moment ago.
 */
export function childStatus({ told, result, meta, tail, live }: StatusFacts): ChildStatus {
  const notified = endingOf(told, tail.promptAt);
  if (notified !== undefined) return notified;
  // 2.1.197 hands an API error on as the result of a call that completed.
  const ended = endingOf(result, tail.promptAt) ?? (meta?.finished ? "done" : undefined);
  if (ended !== undefined) return ended === "done" && tail.failed ? "failed" : ended;
  const open = tail.open || (meta?.recent === true && tail.unstopped);
  if (live) return open ? "running" : "unknown";
  // Recent releases register the processes that live: it was cut off.
  return open && meta?.recent ? "interrupted" : "unknown";
}

/** What `ending` says, unless the subagent was given another prompt since. */
function endingOf(ending: Ending | undefined, promptAt: EpochMs | undefined): ChildStatus | undefined {
  if (ending === undefined) return undefined;
  if (ending.at !== undefined && promptAt !== undefined && promptAt > ending.at) return undefined;
  switch (ending.status) {
    case "completed":
      return "done";
    case "failed":
      return "failed";
    case "stopped":
    case "killed":
      return "interrupted";
    default:
      return undefined;
  }
}
