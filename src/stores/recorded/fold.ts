import { asString, asText } from "../../platform/read.ts";
import type { MarkerEntry } from "../../transcript/entry.ts";
import { LOOK_BACK_BYTES } from "../../transcript/limits.ts";
import type { LongResult } from "./long-result.ts";
import type { RecordedEvent } from "./record.ts";
import {
  type CallSlot,
  type ErrorSlot,
  errorText,
  finishCall,
  head,
  isLeaving,
  isNextPart,
  newCall,
  orphanCall,
  type PermissionSlot,
  permissionOf,
  planEntry,
  type RecordPlace,
  type Slot,
  type SlotHead,
  slotHead,
  type TextSlot,
  updateCall,
} from "./slots.ts";
import { figuresOf } from "./usage.ts";
import { blocksText, resultText } from "./value-text.ts";

/** What a call counts besides its input and output. */
const CALL_CHARACTERS = 300;

/** What a fold asks of the records before the one in hand. */
export interface Earlier {
  /** The call, as it stood before `before`, whose id is `callId`; not looked for further back than 8 MiB. */
  call(callId: string, before: number): CallSlot | undefined;
  /** What was asked for that call and not answered before `before`. */
  permission(callId: string, before: number): PermissionSlot | undefined;
  /** Whether the record at `start` goes on with the call `callId`, whose other records stand further back than 8 MiB. */
  continues(callId: string, start: number, kind: "call" | "result"): boolean;
}

/**
 * Puts a recording's records, handed over in their order, together to items. What it holds is what a turn's records need
 * of those before them in the same turn: handing over the records from the turn's start on (or of the last 8 MiB) gives
 * the same items as handing over the whole file.
 */
export class Fold {
  readonly #runs = new Map<TextSlot["kind"], TextSlot>();
  /** Where the records begin that it was handed. */
  readonly #since: number;
  /** Those of the last 8 MiB. */
  readonly #calls = new Map<string, CallSlot>();
  /** Calls of this turn, and those of the turn before that had no result: one may still come. */
  #turnCalls = new Set<CallSlot>();
  #formerCalls = new Set<CallSlot>();
  readonly #permissions = new Map<string, PermissionSlot>();
  #error: ErrorSlot | undefined;
  #turnStart = -1;
  #touched = new Set<Slot>();

  /** `since`: where the first record starts that it will be handed. */
  constructor(since: number) {
    this.#since = since;
  }

  /** The items that records handed over since the last time belong to, in order; they go on growing. */
  take(): readonly Slot[] {
    const slots = [...this.#touched];
    this.#touched = new Set();
    return slots;
  }

  /** The items that records to come may still add to. */
  open(): readonly Slot[] {
    const error = this.#error === undefined ? [] : [this.#error];
    const slots = [...this.#runs.values(), ...this.#calls.values(), ...this.#permissions.values(), ...error];
    return slots.filter((slot) => this.isOpen(slot));
  }

  /** Whether records to come may still add to `slot`. */
  isOpen(slot: Slot): boolean {
    switch (slot.kind) {
      case "text-delta":
      case "thought":
        return this.#runs.get(slot.kind) === slot;
      case "call":
        return this.#awaits(slot);
      case "permission":
        return slot.start >= this.#turnStart && this.#permissions.get(slot.callId) === slot;
      case "error":
        return this.#error === slot && slot.text === undefined;
      case "plain":
        return false;
    }
  }

  /** Characters that it holds on to. */
  get weight(): number {
    let sum = 0;
    for (const { parts } of this.#runs.values()) for (const part of parts) sum += part.length;
    for (const { output, diffs, weight } of this.#calls.values()) {
      sum += CALL_CHARACTERS + weight + (output?.length ?? 0);
      for (const { oldText, newText } of diffs) sum += newText.length + (oldText?.length ?? 0);
    }
    for (const { weight } of this.#permissions.values()) sum += CALL_CHARACTERS + weight;
    return sum;
  }

  /** A record that is too long for a page. The call that it answers, if it is a result, is not left without one. */
  oversized(place: RecordPlace, bytes: number, answered: LongResult | undefined, earlier: Earlier): void {
    const call = answered && this.#knownCall(answered.callId, place.start, earlier);
    this.#interrupt();
    if (answered !== undefined && call !== undefined) {
      if (call.state !== "done") Object.assign(call, { state: "done", isError: answered.isError });
      this.#hold(call);
      this.#touch(call);
    }
    this.#tell(place, { marker: "oversized", summary: `a record of ${bytes} bytes` });
  }

  /** Takes in the next record. */
  push(event: RecordedEvent, place: RecordPlace, earlier: Earlier): void {
    const { kind, fields } = event;
    const { start } = place;
    this.#forget(start);
    switch (kind) {
      case "user-prompt":
        this.#endTurn(start);
        this.#turnStart = start;
        this.#error = undefined;
        this.#leaveTurn();
        this.#user(event, place);
        return;
      case "text-delta":
      case "thought":
        this.#text(kind, event, place);
        return;
      case "tool-call":
        this.#call(event, place, earlier);
        return;
      case "tool-result":
        this.#result(event, place, earlier);
        return;
      case "agent-prompt":
        this.#interrupt();
        this.#ask(event, place, earlier);
        return;
      case "permission-resolved":
        this.#answer(event, start, earlier);
        return;
      case "plan":
        this.#touch({ kind: "plain", entry: planEntry(event, place) });
        return;
      case "notice": {
        const text = asText(fields.text);
        if (text === undefined) return;
        this.#interrupt();
        this.#touch({
          kind: "plain",
          entry: { ...head(place), kind: "tool-call", tool: "notice", isNotice: true, input: text },
        });
        return;
      }
      case "usage_update":
      case "usage_snapshot": {
        const figures = figuresOf(event);
        // Cumulative: the largest of a recording counts.
        if (figures !== undefined)
          this.#touch({ kind: "plain", entry: { ...head(place), kind: "usage", key: "session", ...figures } });
        return;
      }
      case "error":
        this.#interrupt();
        this.#fail(event, place);
        return;
      case "turn-end":
        this.#endTurn(start);
        this.#turnEnd(event, place);
        return;
      default:
        // Kinds of newer writers, and those that say nothing to a reader of the chat.
        return;
    }
  }

  #user({ fields }: RecordedEvent, place: RecordPlace): void {
    const text = asString(fields.text) ?? blocksText(fields.blocks) ?? asString(fields.prompt);
    if (text === undefined || text === "") return;
    this.#touch({ kind: "plain", entry: { ...head(place), kind: "user", text } });
  }

  #text(kind: TextSlot["kind"], { fields }: RecordedEvent, place: RecordPlace): void {
    const { start } = place;
    const text = asString(fields.text) ?? "";
    const run = this.#runs.get(kind);
    const goesOn = run !== undefined && (run.since === "nothing" || run.partial);
    const other = this.#runs.get(kind === "thought" ? "text-delta" : "thought");
    if (other !== undefined) this.#interruptRun(other);
    // Agents send empty chunks: a text begins with the first record that has any.
    if (!goesOn && text === "") return;
    if (!goesOn || isNextPart(run, start)) {
      const fresh: TextSlot = {
        ...slotHead(place),
        kind,
        parts: [],
        chainStart: goesOn ? run.chainStart : start,
        lastStart: start,
        partial: false,
        since: "nothing",
      };
      this.#runs.set(kind, fresh);
      this.#append(fresh, text, fields.partial === true, start);
    } else this.#append(run, text, fields.partial === true, start);
  }

  #append(run: TextSlot, text: string, partial: boolean, start: number): void {
    run.parts.push(text);
    run.partial = partial;
    run.since = "nothing";
    run.lastStart = start;
    this.#touch(run);
  }

  /** Something else is told: text that was not left in the middle of a line is complete. */
  #interrupt(): void {
    for (const run of this.#runs.values()) this.#interruptRun(run);
  }

  #interruptRun(run: TextSlot): void {
    if (run.partial) run.since = "another";
    else this.#runs.delete(run.kind);
  }

  #call({ fields }: RecordedEvent, place: RecordPlace, earlier: Earlier): void {
    const { start } = place;
    const callId = asText(fields.toolCallId) ?? place.id;
    const isUpdate = fields.isUpdate === true;
    const known = isUpdate ? this.#knownCall(callId, start, earlier) : this.#openCall(callId, start, earlier);
    if (known !== undefined) {
      updateCall(known, place, fields);
      this.#hold(known);
      this.#touch(known);
      return;
    }
    this.#interrupt();
    const call = newCall(place, callId, fields, earlier.continues(callId, start, "call"));
    this.#hold(call);
    this.#touch(call);
  }

  #result({ fields }: RecordedEvent, place: RecordPlace, earlier: Earlier): void {
    const { start } = place;
    const callId = asText(fields.toolCallId);
    const call = callId === undefined ? undefined : this.#knownCall(callId, start, earlier);
    this.#interrupt();
    if (callId === undefined || call === undefined) {
      const text = isLeaving(fields) ? "" : resultText(fields.result);
      const continues = callId !== undefined && earlier.continues(callId, start, "result");
      const of = { ...(callId !== undefined && { callId }), ...(continues && { continues }) };
      const isError = fields.isError === true;
      this.#touch({ kind: "plain", entry: { ...head(place), kind: "tool-result", ...of, text, isError } });
      return;
    }
    // What is said after the result of a call is a new message, also when the text before the call lacks its line's end.
    for (const [kind, run] of this.#runs) if (run.lastStart < call.start) this.#runs.delete(kind);
    const isSecond = call.state === "done" && !isLeaving(fields);
    const { tool, pos: of } = call;
    const text = isSecond ? resultText(fields.result) : "";
    if (isSecond && text !== call.output) {
      const result = { kind: "tool-result", callId, tool, of, text, isError: fields.isError === true } as const;
      this.#touch({ kind: "plain", entry: { ...head(place), ...result } });
    } else this.#touch(call);
    finishCall(call, start, fields);
    this.#hold(call);
  }

  /** The call that is announced again: some writers do that again and again while its input grows. */
  #openCall(callId: string, start: number, earlier: Earlier): CallSlot | undefined {
    const call = this.#callBefore(callId, start, earlier);
    return call?.state === "open" && call.announced && call.start >= this.#turnStart ? call : undefined;
  }

  #leaveTurn(): void {
    this.#formerCalls = new Set([...this.#turnCalls].filter(({ state }) => state === "orphan"));
    this.#turnCalls = new Set();
  }

  #awaits(call: CallSlot): boolean {
    if (call.state !== "open" && call.state !== "orphan") return false;
    if (this.#calls.get(call.callId) !== call) return false;
    return this.#turnCalls.has(call) || this.#formerCalls.has(call);
  }

  #knownCall(callId: string, start: number, earlier: Earlier): CallSlot | undefined {
    const call = this.#callBefore(callId, start, earlier);
    // The prompt that ended its turn may stand on the very line that is read.
    if (call?.state === "open" && call.start < this.#turnStart) orphanCall(call);
    return call;
  }

  #callBefore(callId: string, start: number, earlier: Earlier): CallSlot | undefined {
    const held = this.#calls.get(callId);
    if (held !== undefined && start - held.lastStart <= LOOK_BACK_BYTES) return held;
    return this.#knowsAll(start) ? undefined : earlier.call(callId, start);
  }

  /** Whether it was handed all the records that one at `start` may hang together with. */
  #knowsAll(start: number): boolean {
    return this.#since === 0 || this.#since <= start - LOOK_BACK_BYTES;
  }

  /** Keeps a call at hand for the records that follow. */
  #hold(call: CallSlot): void {
    this.#calls.delete(call.callId);
    this.#calls.set(call.callId, call);
    this.#turnCalls.add(call);
  }

  /** Lets go what is further behind than is looked back: nothing goes on with it. */
  #forget(start: number): void {
    for (const [callId, call] of this.#calls) {
      if (start - call.lastStart <= LOOK_BACK_BYTES) break;
      this.#calls.delete(callId);
      this.#turnCalls.delete(call);
      this.#formerCalls.delete(call);
    }
    for (const [callId, slot] of this.#permissions) {
      if (isNear(slot, start)) break;
      this.#permissions.delete(callId);
    }
  }

  #ask({ fields }: RecordedEvent, place: RecordPlace, earlier: Earlier): void {
    const callId = asText(fields.toolCallId);
    const call = callId === undefined ? undefined : this.#knownCall(callId, place.start, earlier);
    const slot = permissionOf(fields, place, call?.tool);
    this.#permissions.delete(slot.callId);
    this.#permissions.set(slot.callId, slot);
    this.#touch(slot);
  }

  #answer({ fields }: RecordedEvent, start: number, earlier: Earlier): void {
    const callId = asText(fields.toolCallId) ?? "";
    const held = this.#permissions.get(callId);
    const isKnown = held !== undefined && isNear(held, start);
    const slot = isKnown ? held : this.#knowsAll(start) ? undefined : earlier.permission(callId, start);
    if (slot === undefined) return;
    slot.decision = asText(fields.decision) ?? asText(fields.optionId) ?? "answered";
    this.#permissions.delete(callId);
    this.#touch(slot);
  }

  #fail({ fields }: RecordedEvent, place: RecordPlace): void {
    const { text, summary } = errorText(fields);
    const held = this.#heldError(place.start);
    if (held !== undefined && (held.text === undefined || held.text === text)) {
      if (held.text === undefined) Object.assign(held, { text, summary });
      this.#touch(held);
      return;
    }
    this.#error = { ...slotHead(place), kind: "error", text, summary };
    this.#touch(this.#error);
  }

  #turnEnd({ fields }: RecordedEvent, place: RecordPlace): void {
    const reason = asText(fields.reason);
    if (reason === "error") {
      if (this.#heldError(place.start) !== undefined) return;
      this.#error = { ...slotHead(place), kind: "error", text: undefined, summary: "the turn failed" };
      this.#touch(this.#error);
      return;
    }
    const summary = INTERRUPTIONS.get(reason ?? "");
    if (summary !== undefined) this.#tell(place, { marker: "interrupted", summary });
  }

  #heldError(start: number): ErrorSlot | undefined {
    return this.#error !== undefined && isNear(this.#error, start) ? this.#error : undefined;
  }

  /** Text is complete, and what was still called for is left without a result, when a turn ends. */
  #endTurn(start: number): void {
    this.#runs.clear();
    for (const call of this.#calls.values()) {
      if (call.state !== "open" || call.start < this.#turnStart || start - call.lastStart > LOOK_BACK_BYTES) continue;
      orphanCall(call);
      this.#touch(call);
    }
  }

  #tell(place: RecordPlace, marker: Pick<MarkerEntry, "marker" | "summary">): void {
    this.#touch({ kind: "plain", entry: { ...head(place), kind: "marker", ...marker } });
  }

  #touch(slot: Slot): void {
    this.#touched.add(slot);
  }
}

/** Ends of a turn that somebody or something brought about before the agent was done. */
const INTERRUPTIONS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "cancelled"],
  ["aborted", "aborted"],
  ["exited", "the agent ended"],
  ["max_turns", "the most turns were reached"],
]);

function isNear(slot: SlotHead, start: number): boolean {
  return start - slot.start <= LOOK_BACK_BYTES;
}
