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
  const ended = endingOf(told, tail.promptAt) ?? endingOf(result, tail.promptAt);
  if (ended !== undefined) return ended;
  if (meta?.finished) return tail.failed ? "failed" : "done";
  if (live) return tail.open ? "running" : "unknown";
  // Releases that write when a subagent ends also register live processes: it was cut off.
  return tail.open && meta?.tellsEnd ? "interrupted" : "unknown";
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
