import { parseRecords } from "../../jsonl/parse.ts";
import { type EpochMs, epochMsFromIso } from "../../platform/clock.ts";
import { asNumber, asObject, asString, type JsonObject } from "../../platform/read.ts";

/** One record of a recording: what its envelope says, and its fields. */
export interface RecordedEvent {
  readonly kind: string;
  /** From 1, one more each; absent when the writer gave none. */
  readonly seq: number | undefined;
  readonly at: EpochMs | undefined;
  readonly fields: JsonObject;
}

/** The events on one line: mostly one, several where a crash glued them, none where it is no record of this format. */
export function eventsOf(line: Buffer): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  for (const record of parseRecords(line)) {
    const fields = asObject(record);
    const kind = asString(fields?.kind);
    if (fields === undefined || kind === undefined) continue;
    const seq = asNumber(fields.seq);
    events.push({ kind, seq: Number.isSafeInteger(seq) ? seq : undefined, at: epochMsFromIso(fields.ts), fields });
  }
  return events;
}

/** Whether a recording's first line says that it is one of a plain command: no `kind`, but what ran and how it ended. */
export function isCommandRecord(line: Buffer): boolean {
  return parseRecords(line).some((record) => {
    const fields = asObject(record);
    return fields !== undefined && fields.kind === undefined && "command" in fields && "exitCode" in fields;
  });
}
