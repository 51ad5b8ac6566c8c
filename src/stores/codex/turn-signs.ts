import { parseRecords } from "../../jsonl/parse.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asCount, asObject, asString } from "../../platform/read.ts";
import { START } from "../../transcript/cursor.ts";
import { type SourceKind, toEntries } from "./entries.ts";
import { glanceAt } from "./glance.ts";
import type { Header } from "./header.ts";

/** What a record means for the counting of turns: a rollback is the number of turns that it takes back. */
export type TurnSign = "prompt" | "start" | "end" | number;

const SIGNS: ReadonlyMap<string, "start" | "end"> = new Map([
  ["task_started", "start"],
  ["turn_started", "start"],
  ["task_complete", "end"],
  ["turn_complete", "end"],
  ["turn_aborted", "end"],
]);
const ROLLBACK = "thread_rolled_back";

/** Whether a line that begins so may hold a sign. */
export function mayHaveSign(head: Buffer, kind: SourceKind): boolean {
  const { type, inner, item, role } = glanceAt(head);
  if (type === undefined) return true;
  if (type === "event_msg") {
    if (inner === undefined || inner === ROLLBACK || SIGNS.has(inner)) return true;
    if (inner === "item_completed") return kind === "items" && (item === undefined || item === "UserMessage");
    return kind === "events" && inner === "user_message";
  }
  return kind === "responses" && inner === "message" && (role === undefined || role === "user");
}

/** The signs on a line of a file of that kind. A `!cmd`, and what agents ask of each other, begin no turn of the user's. */
export function signsOn(line: Buffer, kind: SourceKind, header: Header): TurnSign[] {
  return parseRecords(line).flatMap((record): TurnSign[] => {
    const payload = asObject(asObject(record)?.payload);
    const type = asString(payload?.type) ?? "";
    if (asObject(record)?.type === "event_msg") {
      if (type === ROLLBACK) return [asCount(payload?.num_turns) ?? 0];
      const sign = SIGNS.get(type);
      if (sign !== undefined) return [sign];
    }
    const shown = toEntries(record, { ...ALONE, kind, header });
    const isTask = type === "agent_message" || asObject(record)?.type === "inter_agent_communication";
    return shown.length === 1 && shown[0]?.kind === "user" && !isTask ? ["prompt"] : [];
  });
}

/** For a record of which only its kind matters. */
const ALONE = {
  pos: START,
  at: 0 as EpochMs,
  copied: false,
  call: () => undefined,
  model: () => undefined,
  promptBefore: () => undefined,
};
