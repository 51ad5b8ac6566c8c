import type { EpochMs } from "../../platform/clock.ts";
import { SETTLE_MS } from "../../transcript/limits.ts";

/** A call, or a subagent, that nothing but its prompt links to the other. */
export interface Prompted {
  readonly id: string;
  readonly at: EpochMs | undefined;
}

/**
 * Which subagent each call started, of calls (in the order of the chat) and subagents with one and the same prompt; by the
 * call's id. Every subagent is used once. A call takes the first that began within 5 s of it: so far the later calls have
 * no say, which makes this known at the call. Of what is left the last subagents belong to the last calls before them,
 * since an earlier call may have started none.
 */
export function matchByPrompt<T extends Prompted>(calls: readonly Prompted[], subagents: readonly T[]): Map<string, T> {
  const left = new Set([...subagents].sort(byStart));
  const matched = new Map<string, T>();
  for (const { id, at } of calls) {
    const own = [...left].find((subagent) => isNear(subagent.at, at));
    if (own === undefined) continue;
    matched.set(id, own);
    left.delete(own);
  }
  for (const { id, at } of [...calls].reverse()) {
    const own = matched.has(id) ? undefined : [...left].findLast((subagent) => isAfter(subagent.at, at));
    if (own === undefined) continue;
    matched.set(id, own);
    left.delete(own);
  }
  return matched;
}

function byStart(a: Prompted, b: Prompted): number {
  return (a.at ?? 0) - (b.at ?? 0) || (a.id < b.id ? -1 : 1);
}

function isNear(a: EpochMs | undefined, b: EpochMs | undefined): boolean {
  return a !== undefined && b !== undefined && Math.abs(a - b) <= SETTLE_MS;
}

/** Without a time nothing speaks against it. */
function isAfter(subagent: EpochMs | undefined, call: EpochMs | undefined): boolean {
  return subagent === undefined || call === undefined || subagent >= call - SETTLE_MS;
}
