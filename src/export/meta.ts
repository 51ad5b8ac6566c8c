import { setTimeout as pause } from "node:timers/promises";
import type { EpochMs } from "../platform/clock.ts";
import type { SessionRef, Store, Totals } from "../stores/store.ts";
import type { Count } from "./body.ts";
import type { ExportedChat } from "./document.ts";
import type { ExportMeta } from "./model.ts";

/** How often totals that are still being counted are asked for: ms. */
const COUNTING_MS = 20;

/** What is known of the session as a whole. @throws Failure as the store does · the signal's reason */
export async function metaOf(
  { store, ref, source, agent = store.agent }: ExportedChat,
  count: Count,
  signal: AbortSignal | undefined,
): Promise<ExportMeta> {
  const facts = await factsOf(store, ref);
  const { tokens, costUsd } = await totalsOf(store, ref, signal);
  const model = count.model ?? facts.model;
  const { title, cwd, startedAt, isLive } = facts;
  return {
    agent,
    sessionId: ref.id,
    ...(ref.child !== undefined && { child: ref.child }),
    ...(title !== undefined && title !== "" && { title }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && cwd !== "" && { cwd }),
    ...(startedAt !== undefined && startedAt > 0 && { startedAt }),
    ...(count.lastAt !== undefined && !isLive && { endedAt: count.lastAt }),
    messageCount: count.messages,
    toolCallCount: count.toolCalls,
    tokens,
    ...(costUsd !== undefined && { costUsd }),
    source,
  };
}

interface Facts {
  readonly title?: string;
  readonly model?: string;
  readonly cwd?: string;
  readonly startedAt?: EpochMs;
  readonly isLive?: boolean;
}

async function factsOf(store: Store, ref: SessionRef): Promise<Facts> {
  const listed = (await store.list("quick")).find(({ id }) => id === ref.id);
  const row = listed ?? (await store.unlisted?.({ ...ref }));
  if (ref.child === undefined) return { ...row, isLive: row?.live !== undefined };
  const session = await store.find(ref.id);
  const child =
    session && (await store.children(session, Number.POSITIVE_INFINITY)).children.find(({ id }) => id === ref.child);
  return {
    ...(row !== undefined && { cwd: row.cwd }),
    ...(child !== undefined && { title: child.title, startedAt: child.startedAt }),
    isLive: child?.status === "running",
  };
}

/** The totals, however long they take to be counted. */
async function totalsOf(store: Store, ref: SessionRef, signal: AbortSignal | undefined): Promise<Totals> {
  for (;;) {
    const totals = await store.totals(ref);
    if (totals !== undefined) return totals;
    await pause(COUNTING_MS, undefined, signal && { signal });
  }
}
