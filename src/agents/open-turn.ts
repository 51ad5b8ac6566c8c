import { type ByteOffset, byteOffsetOf } from "../jsonl/cursor.ts";
import { LookBack } from "../jsonl/look-back.ts";
import { type ByteSource, readRange } from "../jsonl/source.ts";
import { asNumber, asObject, asText, type JsonObject, parseJson } from "../platform/read.ts";
import type { SessionEvent, UsageFigures } from "./event.ts";

/** What a turn that has no end has left open. */
export interface OpenTurn {
  /** The calls of its questions that nobody has answered, oldest first. */
  readonly questions: readonly string[];
  /** Its calls without a result, oldest first. */
  readonly calls: readonly string[];
  /** What the session had used, as it was told last. */
  readonly usage: UsageFigures;
}

/** So far back from the end of a recording is looked for what a turn left open: bytes. */
const TURN_BYTES = 64 * 1024 * 1024;
/** So far back before the turn is looked for what was used up to then: it stands at the end of the turn before. */
const USAGE_BYTES = 8 * 1024 * 1024;
/** Records of usage are far shorter, and so are the names of calls. */
const MOST_BYTES = 256 * 1024;

/** The last turn of a recording of ours when its last prompt has no `turn-end` behind it; else undefined. */
export function openTurn(file: ByteSource, id: string): OpenTurn | undefined {
  const back = new LookBack(file, file.size);
  try {
    const records = new Records(file, back, id);
    const prompt = records.last("user-prompt");
    if (prompt === undefined || prompt < (records.last("turn-end") ?? 0)) return undefined;
    const turn = Math.min(records.end - prompt, TURN_BYTES);
    return {
      questions: less(records.calls("agent-prompt", turn), records.calls("permission-resolved", turn)),
      calls: unended(records.calls("tool-call", turn), records.calls("tool-result", turn)),
      usage: usageIn(records, turn),
    };
  } finally {
    back.close();
  }
}

/** The records of a recording of ours by their kinds, without reading the others. */
class Records {
  /** Behind the last whole record. */
  readonly end: ByteOffset;
  readonly #file: ByteSource;
  readonly #back: LookBack;
  readonly #id: string;

  constructor(file: ByteSource, back: LookBack, id: string) {
    this.#file = file;
    this.#back = back;
    this.#id = id;
    const line = (back.lastPlace(NEWLINE, byteOffsetOf(file.size)) ?? -1) + 1;
    this.end = byteOffsetOf(isRecord(readRange(file, line, file.size)) ? file.size : line);
  }

  /** Where the kind of the last record of this kind stands. */
  last(kind: SessionEvent["kind"], window?: number): ByteOffset | undefined {
    for (const place of this.#places(kind, window)) return place;
    return undefined;
  }

  /** The record whose kind stands at `place`, when it is of a usual length. */
  at(place: ByteOffset): JsonObject | undefined {
    const line = this.#back.lineAround(place, MOST_BYTES);
    return line && asObject(parseJson(line.bytes.toString("utf8")));
  }

  /** The calls that the records of this kind in the last `window` bytes are about, in the order of the file. */
  calls(kind: SessionEvent["kind"], window: number): readonly string[] {
    const calls: string[] = [];
    for (const place of this.#places(kind, window)) {
      const fields = place + this.#needle(kind).length;
      const [, name] = CALL.exec(readRange(this.#file, fields, fields + MOST_BYTES).toString("utf8")) ?? [];
      const call = name === undefined ? undefined : asText(parseJson(name));
      if (call !== undefined) calls.unshift(call);
    }
    return calls;
  }

  *#places(kind: SessionEvent["kind"], window?: number): Generator<ByteOffset> {
    for (const place of this.#back.places(this.#needle(kind), this.end, window)) {
      const before = readRange(this.#file, Math.max(0, place - ENVELOPE), place).toString("latin1");
      if (BEGINNING.test(before)) yield place;
    }
  }

  #needle(kind: SessionEvent["kind"]): Buffer {
    return Buffer.from(`,"kind":"${kind}","sessionId":"${this.#id}"`);
  }
}

const NEWLINE = Buffer.from("\n");
/** What stands before the kind of a record of ours, at the end of so many bytes. Inside a record it may stand as well. */
const BEGINNING = /(?:^|\n)\{"seq":\d+,"ts":"[^"]{24}"$/;
const ENVELOPE = 64;
/** What stands behind the envelope of a record about a call. */
const CALL = /^,"toolCallId":("(?:[^"\\]|\\.)*")/;

/** Whether a last line without its newline lacks nothing else. */
function isRecord(line: Buffer): boolean {
  try {
    return asObject(parseJson(line.toString("utf8"))) !== undefined;
  } catch {
    return false;
  }
}

/** `all` without one of each that is in `gone`: a call may be asked about more than once. */
function less(all: readonly string[], gone: readonly string[]): readonly string[] {
  const left = [...all];
  for (const each of gone) {
    const index = left.indexOf(each);
    if (index >= 0) left.splice(index, 1);
  }
  return left;
}

function unended(calls: readonly string[], results: readonly string[]): readonly string[] {
  const ended = new Set(results);
  return [...new Set(calls)].filter((call) => !ended.has(call));
}

const FIGURES = [
  ...(["costUsd", "tokensIn", "tokensOut", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const),
  ...(["contextSize", "contextUsed"] as const),
];

/** What was used up to the last turn, and what was told of that since. */
function usageIn(records: Records, turn: number): UsageFigures {
  const snapshot = records.last("usage_snapshot", turn + USAGE_BYTES);
  const update = records.last("usage_update", turn);
  const before = snapshot === undefined ? undefined : records.at(snapshot);
  const since = update === undefined ? undefined : records.at(update);
  const told: JsonObject = { ...before, ...stated(since) };
  const figures = FIGURES.map((name) => [name, asNumber(told[name])] as const);
  const model = asText(told.model);
  return {
    ...(model !== undefined && { model }),
    ...Object.fromEntries(figures.filter(([, figure]) => figure !== undefined)),
  };
}

function stated(update: JsonObject | undefined): JsonObject {
  const { size, used, cost, model } = update ?? {};
  const named = Object.entries({ contextSize: size, contextUsed: used, costUsd: cost, model });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}
