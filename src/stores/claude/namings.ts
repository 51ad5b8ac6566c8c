import { asObject, type JsonObject } from "../../platform/read.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { Call } from "./calls.ts";
import type { ChatRecord } from "./chat-records.ts";
import { isSpawnTool, type NamedResult, namedResults, notificationOf } from "./links.ts";

/** A result or a notification that names subagents. */
export interface Naming {
  readonly callId: string | undefined;
  /** Its call, when it is a result and the call was found. */
  readonly call: Call | undefined;
  readonly agent: SessionId | undefined;
  /** The Workflow run whose subagents it names. */
  readonly run: string | undefined;
  readonly isResult: boolean;
}

/** What `record` names; `calls` are those that its results answer, as far as they stand within 8 MiB before it. */
export function namingsOf(record: JsonObject, calls: ChatRecord["calls"]): Naming[] {
  const told = notificationOf(record);
  if (told !== undefined) {
    return [{ callId: told.callId, call: undefined, agent: told.task, run: undefined, isResult: false }];
  }
  if (!mayName(record, calls)) return [];
  return namedResults(record).flatMap((result: NamedResult) => {
    const call = calls.find(({ id }) => id === result.callId);
    const ofOther = call !== undefined && !isSpawnTool(call.tool);
    const agent = result.byText && ofOther ? undefined : result.agent;
    // The result of a call that is too far back names the subagent whose meta file names that call.
    if (agent === undefined && result.run === undefined && ofOther) return [];
    return [{ callId: result.callId, call, agent, run: result.run, isResult: true }];
  });
}

/** Whether anything in these records has to do with subagents; if not, nothing need be known of them. */
export function mentionsSubagents(records: readonly ChatRecord[]): boolean {
  for (const { record, entries, calls } of records) {
    if (record === undefined) continue;
    if (record.type !== "assistant") {
      if (namingsOf(record, calls).some((naming) => !isOrphan(naming))) return true;
    } else if (entries.some((entry) => entry.kind === "tool-call" && isSpawnTool(entry.tool))) return true;
  }
  return false;
}

/** The calls whose results stand among these records, more than 8 MiB behind them: what they started must be asked for. */
export function orphanedCalls(records: readonly ChatRecord[]): Set<string> {
  const ids = new Set<string>();
  for (const { record, calls } of records) {
    for (const naming of record === undefined ? [] : namingsOf(record, calls)) {
      if (isOrphan(naming) && naming.callId !== undefined) ids.add(naming.callId);
    }
  }
  return ids;
}

function isOrphan({ call, agent, run }: Naming): boolean {
  return call === undefined && agent === undefined && run === undefined;
}

/** Spares the many results that have nothing to do with subagents a closer look. */
function mayName(record: JsonObject, calls: ChatRecord["calls"]): boolean {
  if (record.type !== "user") return false;
  const structured = asObject(record.toolUseResult);
  if (structured?.agentId !== undefined || structured?.runId !== undefined || calls.length === 0) return true;
  return calls.some(({ tool }) => isSpawnTool(tool));
}
