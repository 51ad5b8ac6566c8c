import { byteOffsetOf } from "../../jsonl/cursor.ts";
import { LookBack } from "../../jsonl/look-back.ts";
import { parseRecords } from "../../jsonl/parse.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";
import { utf8Of } from "../../jsonl/text.ts";
import { Breather } from "../../platform/breather.ts";
import { asObject, parseJson } from "../../platform/read.ts";

/** Where a recording is to be gone on with. */
export interface Tail {
  /** The number of its last record; 0 when it has none. */
  readonly seq: number;
  /** Whether it is empty or ends in a newline. */
  readonly endsLine: boolean;
}

const SEQ = Buffer.from('"seq"');
const NEWLINE = Buffer.from("\n");
/** How the keys of our records begin. */
const ENVELOPE = "seq,ts,kind,sessionId";
/** Shorter lines hold no number. */
const LEAST_BYTES = '{"seq":1}'.length;
/** Longer lines are none of ours; their number is read from their head. */
const MOST_BYTES = 32 * 1024 * 1024;
const HEAD_BYTES = 64;

/**
 * Reads a recording's end backward until a line is met that is a record; a last one that lacks only its newline is one. What
 * is no record is looked through. Waits now and then so as not to hold up others.
 */
export async function tailOf(source: ByteSource): Promise<Tail> {
  const { size } = source;
  if (size === 0) return { seq: 0, endsLine: true };
  const endsLine = readRange(source, size - 1, size)[0] === NEWLINE[0];
  const before = new LookBack(source, size);
  const breather = new Breather();
  let seq = 0;
  let end = endsLine ? size - 1 : size;
  try {
    for (const newline of before.places(NEWLINE, byteOffsetOf(end))) {
      const line = numbersOf(source, newline + 1, end);
      seq = Math.max(seq, line.highest);
      if (line.isRecord) return { seq, endsLine };
      end = newline;
      await breather.pause();
    }
    return { seq: Math.max(seq, numbersOf(source, 0, end).highest), endsLine };
  } finally {
    before.close();
  }
}

/**
 * The highest number on a line, and whether the line is one record as a whole. A torn line that another was glued to, or
 * in whose values such records stand, may name numbers too: it does not end the search, but none of them is given again.
 */
function numbersOf(source: ByteSource, start: number, end: number): { isRecord: boolean; highest: number } {
  if (end - start < LEAST_BYTES) return { isRecord: false, highest: 0 };
  if (end - start > MOST_BYTES) {
    const head = /^\{"seq":(\d{1,15}),/.exec(readRange(source, start, start + HEAD_BYTES).toString("latin1"));
    return { isRecord: head !== null, highest: Number(head?.[1] ?? 0) };
  }
  const line = readRange(source, start, end);
  if (!line.includes(SEQ)) return { isRecord: false, highest: 0 };
  const own = seqOf(parsed(line));
  if (own !== undefined) return { isRecord: true, highest: own };
  const glued = parseRecords(line).filter((record) =>
    Object.keys(asObject(record) ?? {})
      .join()
      .startsWith(ENVELOPE),
  );
  return { isRecord: false, highest: Math.max(0, ...glued.map((record) => seqOf(record) ?? 0)) };
}

function parsed(line: Buffer): unknown {
  try {
    return parseJson(utf8Of(line));
  } catch {
    return undefined;
  }
}

function seqOf(record: unknown): number | undefined {
  const seq = asObject(record)?.seq;
  return typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0 ? seq : undefined;
}
