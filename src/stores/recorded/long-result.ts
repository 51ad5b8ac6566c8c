import type { OversizedLine } from "../../jsonl/page.ts";
import { type ByteSource, readRange } from "../../jsonl/source.ts";

/** Which call a result ends that is too long to be read. */
export interface LongResult {
  readonly callId: string;
  readonly isError: boolean;
}

/** Bytes of a line's start in which the fields before a result stand, and of its end, in which those behind it do. */
const HEAD_BYTES = 1024;
const TAIL_BYTES = 64;

const CALL_ID = /^[^{]*\{"seq":[^{}[\]]*?"kind":\s*"tool-result"[^{}[\]]*?"toolCallId":\s*"([^"\\]+)"/;
const FAILED = /"isError":\s*true\s*\}\s*$/;

/** The call whose result a long line is, as its two ends tell in the order that writers put the fields in; else undefined. */
export function answeredBy(source: ByteSource, { start, end }: OversizedLine): LongResult | undefined {
  const callId = CALL_ID.exec(readRange(source, start, start + HEAD_BYTES).toString())?.[1];
  if (callId === undefined) return undefined;
  return { callId, isError: FAILED.test(readRange(source, end - TAIL_BYTES, end).toString()) };
}
