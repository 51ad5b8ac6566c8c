import type { ByteOffset } from "../../jsonl/cursor.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import { type ChatFile, type EarlierLine, posOf } from "./chat-file.ts";
import { isCopy } from "./copies.ts";
import { timeOf } from "./records.ts";
import { earliestRepeat } from "./repeats.ts";

/** A tool call: where it stands and what it asked for. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject | undefined;
  /** When its record was written, as far as that says. */
  readonly at: EpochMs | undefined;
  /** The start of its record; undefined when that is too far back to be found. */
  readonly start: ByteOffset | undefined;
}

/** A result that waits for its call. */
export interface Waiting {
  readonly start: ByteOffset;
  found(call: Call): void;
}

const ID = Buffer.from('"id":');
const NAME_BEHIND_ID = /^"id": ?"[^"]*", ?"name": ?"([^"\\]{1,200})"/;

/** The tool calls that a record makes. */
export function callsOf(record: JsonObject, start: ByteOffset): Call[] {
  if (record.type !== "assistant") return [];
  return (asArray(asObject(record.message)?.content) ?? []).flatMap((block) => {
    const fields = asObject(block);
    const id = asText(fields?.id);
    if (id === undefined || !asString(fields?.type)?.endsWith("tool_use")) return [];
    const tool = asText(fields?.name) ?? "tool";
    return [{ id, tool, input: asObject(fields?.input), at: timeOf(record), start }];
  });
}

/** Finds the calls that stand before the page, in one search for all of them. */
export function findCalls(file: ChatFile, waiting: ReadonlyMap<string, readonly Waiting[]>): void {
  if (waiting.size === 0) return;
  const looked = new Map<ByteOffset, Call | undefined>();
  file.nearest(ID, waiting, (asker, place) => {
    if (!looked.has(place)) looked.set(place, callAt(file, place));
    const call = looked.get(place);
    if (call !== undefined) asker.found(call);
    return call !== undefined;
  });
}

/** The name and the position of a call, as its result states them. */
export function callReference(call: Call): { readonly tool: string; readonly of?: ReturnType<typeof posOf> } {
  return { tool: call.tool, ...(call.start !== undefined && { of: posOf(call.start) }) };
}

/** The call whose id stands at `place`; undefined when what stands there is no call. */
function callAt(file: ChatFile, place: ByteOffset): Call | undefined {
  const line = file.lineAt(place);
  return line === undefined ? callInLongLine(file, place) : callInLine(file, line, file.textAt(place + ID.length));
}

function callInLine(file: ChatFile, line: EarlierLine, id: string | undefined): Call | undefined {
  for (const record of file.records(line.bytes)) {
    const call = callsOf(record, line.start).find((candidate) => candidate.id === id);
    if (call === undefined || isCopy(file, record, line.start)) continue;
    const first = earliestRepeat(file, record, line.start, call.id);
    const firstLine = first === line.start ? undefined : file.lineAt(first);
    return (firstLine && callInLine(file, firstLine, id)) ?? call;
  }
  return undefined;
}

/** A record that is too long for a page is not parsed: the name stands behind the id. */
function callInLongLine(file: ChatFile, place: ByteOffset): Call | undefined {
  const bytes = file.slice(place, place + 512).toString("utf8");
  const tool = NAME_BEHIND_ID.exec(bytes)?.[1];
  const id = file.textAt(place + ID.length);
  if (tool === undefined || id === undefined) return undefined;
  return { id, tool, input: undefined, at: undefined, start: file.lineStart(place) };
}
