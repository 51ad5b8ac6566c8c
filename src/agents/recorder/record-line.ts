import type { Clock } from "../../platform/clock.ts";
import type { JsonObject } from "../../platform/read.ts";
import type { SessionEvent } from "../event.ts";
import { cutJson, valueJson } from "./value.ts";

/** Bytes of a record's fields, so that its line is under 16 MiB; in a longer one each long field is cut. */
const MOST_BYTES = 16 * 1024 * 1024 - 4096;
/** What a field that is cut keeps: also of the characters that JSON writes longest, that many are no more than 6 MiB. */
const CUT_CHARACTERS = 1024 * 1024;

/** The fields of each kind, in the order in which they are written. */
const FIELDS: { readonly [K in SessionEvent["kind"]]: readonly string[] } = {
  "user-prompt": ["text", "source", "blocks", "attachments"],
  "text-delta": ["text", "partial"],
  thought: ["text", "partial"],
  "tool-call": ["toolCallId", "toolName", "arguments", "isUpdate"],
  "tool-result": ["toolCallId", "result", "isError", "diffs"],
  "agent-prompt": ["toolCallId", "options"],
  "permission-resolved": ["toolCallId", "decision", "optionId"],
  plan: ["entries", "title"],
  usage_update: ["size", "used", "cost", "tokensIn", "tokensOut", "model"],
  usage_snapshot: [
    "model",
    "costUsd",
    "tokensIn",
    "tokensOut",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
    "contextSize",
    "contextUsed",
    "source",
  ],
  notice: ["text"],
  "turn-end": ["reason"],
  error: ["error"],
};

/** Fields that stand in a record also when there is nothing in them. */
const ALWAYS: ReadonlySet<string> = new Set(["arguments", "result"]);

/** Whether a recording holds records of this kind. */
export function isRecorded(kind: string): kind is SessionEvent["kind"] {
  return Object.hasOwn(FIELDS, kind);
}

/** Writes records as lines, each stamped with the time at which it is made. */
export class RecordLines {
  readonly #clock: Clock;
  readonly #sessionId: string;
  #stampedAt = Number.NaN;
  #stamp = "";

  constructor(clock: Clock, sessionId: string) {
    this.#clock = clock;
    this.#sessionId = JSON.stringify(sessionId);
  }

  /** A whole line with its newline. */
  line(seq: number, body: SessionEvent): string {
    const envelope = `{"seq":${seq},"ts":"${this.#now()}","kind":"${body.kind}","sessionId":${this.#sessionId}`;
    return `${envelope}${fieldsJson(body)}}\n`;
  }

  /** A whole line of text of the agent: most lines are, and they need no looking after. */
  textLine(seq: number, kind: "text-delta" | "thought", text: string, partial: boolean): string {
    const envelope = `{"seq":${seq},"ts":"${this.#now()}","kind":"${kind}","sessionId":${this.#sessionId}`;
    return `${envelope},"text":${JSON.stringify(text)}${partial ? ',"partial":true' : ""}}\n`;
  }

  #now(): string {
    const now = this.#clock.now();
    if (now !== this.#stampedAt) {
      this.#stampedAt = now;
      this.#stamp = new Date(now).toISOString();
    }
    return this.#stamp;
  }
}

/** `line` with the number `seq` in place of its own. */
export function renumbered(line: string, seq: number): string {
  return line.replace(/^\{"seq":\d+/, `{"seq":${seq}`);
}

/** How many of the lines of `batch` are whole in its first `bytes` bytes: also one that lacks its newline alone. */
export function linesIn(batch: readonly string[], bytes: number): number {
  let count = 0;
  let end = 0;
  for (const line of batch) {
    end += Buffer.byteLength(line);
    if (bytes < end - 1) break;
    count++;
  }
  return count;
}

function fieldsJson(body: SessionEvent): string {
  const values: JsonObject = { ...body };
  const fields: (readonly [name: string, json: string])[] = [];
  for (const name of FIELDS[body.kind]) {
    const value = values[name];
    if (value === undefined && !ALWAYS.has(name)) continue;
    // What a person or the agent said in words is kept as it was said.
    const json = name === "text" && typeof value === "string" ? JSON.stringify(value) : valueJson(value);
    fields.push([name, json]);
  }
  const cut = isOver(
    MOST_BYTES,
    fields.map(([, json]) => json),
  );
  return fields
    .map(([name, json]) => `,"${name}":${cut && json.length > CUT_CHARACTERS ? cutJson(json, CUT_CHARACTERS) : json}`)
    .join("");
}

/** Whether `texts` have more than `bytes` bytes together; counted only when they may. */
function isOver(bytes: number, texts: readonly string[]): boolean {
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  return characters * 3 > bytes && texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) > bytes;
}
