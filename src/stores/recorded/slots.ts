import type { EpochMs } from "../../platform/clock.ts";
import { asArray, asNumber, asObject, asString, asText, type JsonObject, jsonText } from "../../platform/read.ts";
import { oneLine } from "../../transcript/clip.ts";
import type { Cursor } from "../../transcript/cursor.ts";
import type { Entry, FileDiff } from "../../transcript/entry.ts";
import { diffsOf } from "./diffs.ts";
import type { RecordedEvent } from "./record.ts";
import { resultText } from "./value-text.ts";

/** Where a record stands, and what it is called. */
export interface RecordPlace {
  readonly start: number;
  readonly pos: Cursor;
  readonly id: string;
  readonly at: EpochMs;
  /** Bytes of its line. */
  readonly size: number;
}

/** What an item has from its first record. */
export interface SlotHead {
  readonly id: string;
  readonly pos: Cursor;
  readonly at: EpochMs;
  /** Where the first record starts. */
  readonly start: number;
}

/** Text of one kind that belongs together, as far as it has been read. */
export interface TextSlot extends SlotHead {
  readonly kind: "text-delta" | "thought";
  readonly parts: string[];
  /** Where the text began of which this is a part: a very long one is told in several items. */
  readonly chainStart: number;
  lastStart: number;
  /** Its last record says that more of the same line follows. */
  partial: boolean;
  /** What has come since its last record. */
  since: "nothing" | "another";
}

/** A tool call with its updates and its result, as far as they have been read. */
export interface CallSlot extends SlotHead {
  readonly kind: "call";
  readonly callId: string;
  /** Begun by an announcement, not by an update of one that is not there. */
  readonly announced: boolean;
  /** It goes on with a call whose records stand further back than is looked. */
  readonly continues: boolean;
  tool: string;
  input: unknown;
  /** Bytes of the line that its input is from. */
  weight: number;
  lastStart: number;
  /** `orphan`: its turn ended without a result; `left`: the writer said so in the result's place. */
  state: "open" | "done" | "orphan" | "left";
  output: string | undefined;
  diffs: readonly FileDiff[];
  isError: boolean;
}

/** What an agent asked leave for, and what was answered. */
export interface PermissionSlot extends SlotHead {
  readonly kind: "permission";
  readonly callId: string;
  readonly tool: string | undefined;
  readonly options: unknown;
  readonly weight: number;
  decision: string | undefined;
}

/** How a turn failed; its `error` record and its end may both say so. */
export interface ErrorSlot extends SlotHead {
  readonly kind: "error";
  text: string | undefined;
  summary: string | undefined;
}

/** What a record alone says. */
export interface PlainSlot {
  readonly kind: "plain";
  readonly entry: Entry;
}

/** One item of a recording while it is put together from its records. */
export type Slot = TextSlot | CallSlot | PermissionSlot | ErrorSlot | PlainSlot;

/** What a slot shows as far as it has been read; undefined for a text that is empty so far. */
export function entryOf(slot: Slot): Entry | undefined {
  if (slot.kind === "plain") return slot.entry;
  const { id, pos, at } = slot;
  switch (slot.kind) {
    case "text-delta":
    case "thought": {
      const text = slot.parts.join("");
      return text === "" ? undefined : { kind: slot.kind === "thought" ? "reasoning" : "assistant", at, pos, id, text };
    }
    case "call":
      return {
        kind: "tool-call",
        at,
        pos,
        id,
        tool: slot.tool,
        callId: slot.callId,
        input: slot.input,
        ...(slot.output !== undefined && { output: slot.output }),
        ...(slot.diffs.length > 0 && { diffs: slot.diffs }),
        ...(slot.state !== "open" && { isError: slot.isError }),
        ...(slot.continues && { continues: true }),
      };
    case "permission":
      return {
        kind: "tool-call",
        at,
        pos,
        id,
        tool: "permission",
        isNotice: true,
        input: slot.options,
        summary: permissionSummary(slot),
        ...(slot.decision !== undefined && { output: slot.decision }),
      };
    case "error":
      return {
        kind: "marker",
        at,
        pos,
        id,
        marker: "error",
        ...(slot.summary !== undefined && { summary: slot.summary }),
        ...(slot.text !== undefined && { text: slot.text }),
        isError: true,
      };
  }
}

/** A call as its first record announces it. */
export function newCall(place: RecordPlace, callId: string, fields: JsonObject, continues = false): CallSlot {
  return {
    ...slotHead(place),
    kind: "call",
    callId,
    announced: fields.isUpdate !== true,
    continues,
    tool: asText(fields.toolName) ?? "tool",
    input: inputOf(fields.arguments) ?? {},
    weight: place.size,
    lastStart: place.start,
    state: "open",
    output: undefined,
    diffs: [],
    isError: false,
  };
}

/** Takes in another `tool-call` record of a call: it supersedes the input, where it gives one, and the name likewise. */
export function updateCall(
  call: CallSlot,
  { start, size }: Pick<RecordPlace, "start" | "size">,
  fields: JsonObject,
): void {
  const input = inputOf(fields.arguments);
  const tells = input !== undefined && !(isEmpty(input) && !isEmpty(call.input));
  if (tells) Object.assign(call, { input, weight: size });
  call.tool = asText(fields.toolName) ?? call.tool;
  call.lastStart = start;
}

/**
 * Takes in a call's result: the first, of which a result of nothing that is an error (how the writer ends a call that was
 * left open) is none.
 */
export function finishCall(call: CallSlot, start: number, fields: JsonObject): void {
  call.lastStart = start;
  if (call.state === "done") return;
  const isLeft = isLeaving(fields);
  call.state = isLeft ? "left" : "done";
  call.output = isLeft ? undefined : resultText(fields.result);
  call.diffs = diffsOf(fields);
  call.isError = fields.isError === true;
}

/** Whether a result is only how the writer ends a call that was left open. */
export function isLeaving({ result, isError }: JsonObject): boolean {
  return result === null && isError === true;
}

/** A call's turn ends, and there is no result. */
export function orphanCall(call: CallSlot): void {
  call.state = "orphan";
  call.isError = true;
}

/** The input as it stands: some adapters write it as JSON text. */
function inputOf(value: unknown): unknown {
  const text = asString(value);
  if (text === undefined) return value ?? undefined;
  if (!/^\s*[{[]/.test(text)) return text === "" ? undefined : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isEmpty(value: unknown): boolean {
  const fields = asObject(value);
  return fields !== undefined ? Object.keys(fields).length === 0 : asArray(value)?.length === 0;
}

/** The tool that wants leave, and between what one may choose. */
function permissionSummary({ tool, options }: PermissionSlot): string {
  const names = (asArray(options) ?? []).flatMap((option) => {
    const fields = asObject(option);
    return asText(fields?.name) ?? asText(fields?.optionId) ?? asText(option) ?? [];
  });
  return oneLine([tool, names.join(" / ")].filter((part) => part !== undefined && part !== "").join(": "));
}

/** What an `error` record says. */
export function errorText(fields: JsonObject): { text: string | undefined; summary: string | undefined } {
  const error = asObject(fields.error);
  const code = asText(error?.code) ?? asNumber(error?.code)?.toString();
  const message = asText(error?.message) ?? asText(fields.error) ?? asText(fields.message);
  const data = error?.data === undefined || error.data === null ? "" : resultText(error.data);
  const tellsMore = data !== "" && data !== "{}" && data !== "[]" && !message?.includes(data);
  const text = message !== undefined && tellsMore ? `${message}\n${data}` : message;
  return { text: text ?? (error === undefined ? undefined : jsonText(error)), summary: code };
}

/** What slots show, those that show nothing yet left out; an item that was met twice once, as it was last. */
export function entriesOf(slots: readonly Slot[]): Entry[] {
  const entries = new Map<string | undefined, Entry>();
  for (const slot of slots) {
    const entry = entryOf(slot);
    if (entry !== undefined) entries.set(entry.id, entry);
  }
  return [...entries.values()];
}

/** What an `agent-prompt` record asks. */
export function permissionOf(
  fields: RecordedEvent["fields"],
  place: RecordPlace,
  tool: string | undefined,
): PermissionSlot {
  const callId = asText(fields.toolCallId) ?? "";
  const { size: weight } = place;
  const options = fields.options ?? [];
  return { ...slotHead(place), kind: "permission", callId, tool, options, weight, decision: undefined };
}

/** What of an item's place its slot keeps. */
export function slotHead({ id, pos, at, start }: RecordPlace): SlotHead {
  return { id, pos, at, start };
}

/** What of an item's place its entry has. */
export function head({ id, pos, at }: RecordPlace): { id: string; pos: Cursor; at: EpochMs } {
  return { id, pos, at };
}

/** The entry of a `plan` record. */
export function planEntry({ fields }: RecordedEvent, place: RecordPlace): Entry {
  const title = asText(fields.title);
  const plan = asArray(fields.entries) ?? [];
  return {
    ...head(place),
    kind: "tool-call",
    tool: "plan",
    isNotice: true,
    input: { ...(title !== undefined && { title }), plan },
  };
}

/**
 * A text that is longer than one block and goes on into a third is told in several items, so that where an item begins
 * can be told from the 8 MiB before any of its records. Bytes of the file.
 */
const BLOCK_BYTES = 3 * 1024 * 1024;

/** Whether a record at `start` is the first in its block of a text that began before the block before that. */
export function isNextPart(run: TextSlot, start: number): boolean {
  const block = Math.floor(start / BLOCK_BYTES);
  return Math.floor(run.lastStart / BLOCK_BYTES) < block && run.chainStart < (block - 1) * BLOCK_BYTES;
}
