import { asText } from "../../platform/read.ts";
import { LOOK_BACK_BYTES, PAGE_BYTES } from "../../transcript/limits.ts";
import { eventsOf, type RecordedEvent } from "./record.ts";

/** What one of a call's records tells, as bits beside the place of its line. */
const ANSWERS = 1;
const NAMES = 2;
const TELLS = 4;
const IS_LONG = 8;
const CALLS = 16;
const BITS = 32;

/** A record of a call. */
export interface SpanRecord {
  /** Where its line starts. */
  readonly start: number;
  /** A `tool-call` or a `tool-result`; else it only asks for leave. */
  readonly kind: "call" | "result" | "question";
  /** It gives the tool's name, or an input. */
  readonly names: boolean;
  readonly tells: boolean;
  /** It is longer than a page. */
  readonly isLong: boolean;
}

/** A call whose records lie further apart than is looked back. */
export class CallSpan {
  readonly callId: string;
  readonly isAnnounced: boolean;
  isAnswered = false;
  /** One of its records is longer than a page. */
  hasLong = false;
  readonly #records: number[] = [];

  constructor(callId: string, isAnnounced: boolean) {
    this.callId = callId;
    this.isAnnounced = isAnnounced;
  }

  /** Where its first record stands. */
  get first(): number {
    return startOf(this.#records[0] ?? 0);
  }

  /** Where its last one does, as far as has been looked. */
  get last(): number {
    return startOf(this.#records.at(-1) ?? 0);
  }

  /** Whether its records lie too far apart to be put together by looking back. */
  get isFar(): boolean {
    return this.last - this.first > LOOK_BACK_BYTES;
  }

  /** Whether one of them is on the line at `start`. */
  has(start: number): boolean {
    return startOf(this.#records[countBelow(this.#records, (start + 1) * BITS) - 1] ?? -BITS) === start;
  }

  /** Those before `end`, the last first. */
  *before(end: number): Generator<SpanRecord> {
    for (let index = countBelow(this.#records, end * BITS) - 1; index >= 0; index--) {
      const record = this.#records[index] ?? 0;
      const bits = record % BITS;
      yield {
        start: startOf(record),
        kind: bits & CALLS ? "call" : bits & ANSWERS ? "result" : "question",
        names: (bits & NAMES) > 0,
        tells: (bits & TELLS) > 0,
        isLong: (bits & IS_LONG) > 0,
      };
    }
  }

  add(start: number, bits: number): void {
    this.#records.push(start * BITS + bits);
    if (bits & ANSWERS) this.isAnswered = true;
    if (bits & IS_LONG) this.hasLong = true;
  }
}

/** Calls without a result that are remembered, however far behind. */
const MOST_OPEN = 100_000;

/**
 * Which calls of a recording have records more than 8 MiB apart, and where those stand: a fact of the whole file, gathered
 * line by line while the file is looked through from its start. Lines as writers put them are not parsed.
 */
export class CallSpans {
  /** By id, the ones whose last record is furthest behind first. */
  readonly #near = new Map<string, CallSpan>();
  /** Without a result, and further behind. */
  readonly #open = new Map<string, CallSpan>();
  readonly #far = new Map<string, CallSpan[]>();
  readonly #byStart = new Map<number, CallSpan>();
  /** Where turns end or begin, ascending. */
  readonly #borders: number[] = [];
  readonly #withLong: boolean;

  /** `withLong`: those count as far, too, that have a record longer than a page, which pages do not look into. */
  constructor(withLong = false) {
    this.#withLong = withLong;
  }

  /** Takes in the next line, the one from `from` to `end` of `bytes`, which starts at `start` in the file. */
  look(bytes: Buffer, from: number, end: number, start: number): void {
    const head = HEAD.exec(bytes.toString("latin1", from, Math.min(end, from + HEAD_BYTES)));
    const kind = head?.groups?.kind;
    if (kind === "user-prompt" || kind === "turn-end") this.#borders.push(start);
    else if (kind !== undefined && !KINDS.has(kind)) return;
    else if (isWhole(head?.groups)) this.#canonical(head?.groups ?? {}, bytes, from, end, start);
    else if (end - from >= PAGE_BYTES) this.#long(bytes, from, end, start);
    else if (NAMED.some((name) => bytes.subarray(from, end).includes(name)))
      for (const event of eventsOf(bytes.subarray(from, end))) this.#event(event, start);
  }

  /** Where the turn before the line at `start` ended or its own began, whichever is later. */
  borderBefore(start: number): number | undefined {
    return this.#borders[countBelow(this.#borders, start) - 1];
  }

  /** The far call with a record on the line at `start`, and of that id. */
  at(callId: string, start: number): CallSpan | undefined {
    return this.#far.get(callId)?.findLast((span) => span.first <= start && span.has(start));
  }

  /** The far call whose first record is on the line at `start`. */
  begunAt(start: number): CallSpan | undefined {
    return this.#byStart.get(start);
  }

  /** All far calls. */
  get far(): readonly CallSpan[] {
    return [...this.#byStart.values()];
  }

  #canonical(
    groups: Readonly<Record<string, string | undefined>>,
    bytes: Buffer,
    from: number,
    end: number,
    start: number,
  ): void {
    const callId = parsed(groups.id);
    if (callId === undefined || callId === "") return;
    const isLong = end - from >= PAGE_BYTES ? IS_LONG : 0;
    if (groups.kind !== "tool-call") {
      this.#add(callId, start, isLong | (groups.kind === "tool-result" ? ANSWERS : 0));
      return;
    }
    const isUpdate = UPDATE.test(bytes.toString("latin1", Math.max(from, end - TAIL_BYTES), end));
    const names = groups.name !== undefined && groups.name !== '""' ? NAMES : 0;
    const tells = groups.input === undefined || NOTHING.test(groups.input) ? 0 : TELLS;
    this.#called(callId, isUpdate, start, names | tells | isLong);
  }

  /** A line that is longer than a page, and not as writers put it: what its start tells, in whatever order. */
  #long(bytes: Buffer, from: number, end: number, start: number): void {
    if (!this.#withLong) return;
    const head = bytes.toString("latin1", from, from + HEAD_BYTES);
    const kind = /"kind": ?"(tool-call|tool-result)"/.exec(head)?.[1];
    const callId = parsed(/"toolCallId": ?("(?:[^"\\]|\\.)*")/.exec(head)?.[1]);
    if (kind === undefined || callId === undefined || callId === "") return;
    if (kind === "tool-result") {
      this.#add(callId, start, IS_LONG | ANSWERS);
      return;
    }
    const isUpdate = /"isUpdate": ?true/.test(head + bytes.toString("latin1", Math.max(from, end - TAIL_BYTES), end));
    const names = /"toolName": ?"[^"]/.test(head) ? NAMES : 0;
    this.#called(callId, isUpdate, start, IS_LONG | TELLS | names);
  }

  #event({ kind, fields }: RecordedEvent, start: number): void {
    if (kind === "user-prompt" || kind === "turn-end") this.#borders.push(start);
    const callId = asText(fields.toolCallId);
    if (callId === undefined) return;
    if (kind === "agent-prompt") this.#add(callId, start, 0);
    if (kind === "tool-result") this.#add(callId, start, ANSWERS);
    if (kind !== "tool-call") return;
    const names = asText(fields.toolName) === undefined ? 0 : NAMES;
    const tells = NOTHING.test(JSON.stringify(fields.arguments ?? null)) ? 0 : TELLS;
    this.#called(callId, fields.isUpdate === true, start, names | tells);
  }

  #called(callId: string, isUpdate: boolean, start: number, bits: number): void {
    const known = this.#known(callId);
    const border = this.borderBefore(start + 1) ?? -1;
    const goesOn =
      known !== undefined && (isUpdate || (known.isAnnounced && !known.isAnswered && known.first > border));
    if (goesOn) this.#add(callId, start, bits | CALLS);
    if (goesOn || (bits & IS_LONG && !this.#withLong)) return;
    this.#near.delete(callId);
    this.#open.delete(callId);
    const span = new CallSpan(callId, !isUpdate);
    span.add(start, bits | CALLS);
    this.#near.set(callId, span);
    if (this.#isApart(span)) this.#keep(span);
    this.#letGo(start);
  }

  #add(callId: string, start: number, bits: number): void {
    const span = this.#known(callId);
    if (span === undefined) return;
    const wasApart = this.#isApart(span);
    span.add(start, bits);
    this.#open.delete(callId);
    this.#near.delete(callId);
    this.#near.set(callId, span);
    if (this.#isApart(span) && !wasApart) this.#keep(span);
    this.#letGo(start);
  }

  #isApart(span: CallSpan): boolean {
    return span.isFar || (this.#withLong && span.hasLong);
  }

  #keep(span: CallSpan): void {
    this.#byStart.set(span.first, span);
    const far = this.#far.get(span.callId);
    if (far === undefined) this.#far.set(span.callId, [span]);
    else far.push(span);
  }

  #known(callId: string): CallSpan | undefined {
    return this.#near.get(callId) ?? this.#open.get(callId);
  }

  /** What is answered and further behind than is looked back is over. */
  #letGo(start: number): void {
    for (const [callId, span] of this.#near) {
      if (start - span.last <= LOOK_BACK_BYTES) break;
      this.#near.delete(callId);
      if (!span.isAnswered) this.#open.set(callId, span);
    }
    for (const callId of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(callId);
    }
  }
}

/** Bytes of a line's start in which all stands that tells of it, and of its end. */
const HEAD_BYTES = 1024;
const TAIL_BYTES = 24;
const KINDS: ReadonlySet<string> = new Set(["tool-call", "tool-result", "agent-prompt"]);
/** The start of a line as writers put it. */
const HEAD =
  /^\{"seq":\d+,"ts":"[^"\\]*","kind":"(?<kind>[^"\\]*)"(?:,"sessionId":"[^"\\]*"(?:,"toolCallId":(?<id>"(?:[^"\\]|\\.)*")(?:,"toolName":(?<name>"(?:[^"\\]|\\.)*"))?(?:,"arguments":(?<input>.{1,6}))?)?)?/;
const UPDATE = /"isUpdate":true\}\r?$/;
/** An input that gives none. */
const NOTHING = /^(?:\{\}|\[\]|""|null)/;
const NAMED = ['"toolCallId":', '"user-prompt"', '"turn-end"'].map((text) => Buffer.from(text));

function startOf(record: number): number {
  return Math.floor(record / BITS);
}

/** Whether the start of a line told all that it is asked for. */
function isWhole(groups: Readonly<Record<string, string | undefined>> | undefined): boolean {
  if (groups?.id === undefined) return false;
  return groups.kind !== "tool-call" || (groups.name !== undefined && groups.input !== undefined);
}

/** An id, read as one byte a character, as it is. */
function parsed(json: string | undefined): string | undefined {
  try {
    return asText(JSON.parse(Buffer.from(json ?? "", "latin1").toString()));
  } catch {
    return undefined;
  }
}

/** How many of ascending `values` are below `limit`. */
function countBelow(values: readonly number[], limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
