import { isAbsolute, relative } from "node:path";
import { jsonText } from "../platform/read.ts";
import { PAGE_BUDGET } from "../stores/pages.ts";
import type { Listed, Store } from "../stores/store.ts";
import type { Entry } from "../transcript/entry.ts";
import type { AgentName, SessionId } from "../transcript/names.ts";
import type { Histories } from "./bridge.ts";

/** A session that runs a command right now. */
export interface FoundSession {
  readonly agent: AgentName;
  readonly sessionId: SessionId;
  readonly cwd: string;
  readonly title: string;
}

/** What is looked for. */
export interface Call {
  /** Sessions of this agent alone. */
  readonly agent: AgentName | undefined;
  /** The folder that the command runs in. */
  readonly cwd: string;
  readonly now: number;
  /** All of them stand in the call's input. */
  readonly words: readonly string[];
  /** The name of the tool that is called, where that is known. */
  readonly tool?: RegExp | undefined;
}

/** The last updated sessions of an agent that are looked into: the one that runs a command has just been written to. */
const MOST_SESSIONS = 20;
/** A call that began so long ago was broken off, and is nobody's any more: ms. */
const OLDEST_MS = 60 * 60_000;

/** The sessions in `call.cwd` or above whose newest records hold such a call without a result. */
export async function callingSessions({ stores, inventory }: Histories, call: Call): Promise<readonly FoundSession[]> {
  await inventory.settled();
  const found: FoundSession[] = [];
  for (const store of stores) {
    if (store.agent === "daemon" || (call.agent !== undefined && store.agent !== call.agent)) continue;
    const query = { agent: store.agent, children: true, limit: Number.POSITIVE_INFINITY };
    const { transcripts } = await inventory.query(query);
    const near = transcripts.filter((row) => isAtOrAbove(row.cwd, call.cwd)).slice(0, MOST_SESSIONS);
    for (const row of near) if (await isCalling(store, row, call)) found.push(asFound(row));
  }
  return found;
}

/** Whether `folder` is `cwd` or one of the folders that it lies in. */
function isAtOrAbove(folder: string, cwd: string): boolean {
  const way = relative(folder, cwd);
  return folder !== "" && !isAbsolute(way) && way.split(/[\\/]/)[0] !== "..";
}

async function isCalling(store: Store, row: Listed, { now, words, tool = /^/ }: Call): Promise<boolean> {
  const ref = await store.find(row.id);
  if (ref === undefined) return false;
  // A session that can't be read now is none that is known to call.
  const page = await store.before(ref, "tail", PAGE_BUDGET).catch(() => undefined);
  return openCalls(page?.entries ?? []).some(({ at, tool: called, input }) => {
    const text = typeof input === "string" ? input : jsonText(input);
    return now - at < OLDEST_MS && tool.test(called) && words.every((word) => text.includes(word));
  });
}

type ToolCall = Extract<Entry, { kind: "tool-call" }>;

/** The calls that have no result yet. */
function openCalls(entries: readonly Entry[]): readonly ToolCall[] {
  const results = entries.filter((entry) => entry.kind === "tool-result");
  const isAnswered = ({ pos, callId }: ToolCall): boolean =>
    results.some((result) => result.of === pos || (callId !== undefined && callId === result.callId));
  return entries
    .filter((entry) => entry.kind === "tool-call")
    .filter((call) => call.isRunning || (call.output === undefined && !isAnswered(call)));
}

function asFound({ agent, id, cwd, title }: Listed): FoundSession {
  return { agent, sessionId: id, cwd, title };
}
