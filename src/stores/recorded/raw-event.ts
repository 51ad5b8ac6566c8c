import { utf8Of } from "../../jsonl/text.ts";
import { asObject } from "../../platform/read.ts";
import type { RawEvent } from "../store.ts";

const MARK = "\ufeff";
const SEQ_HEAD = /^\{"seq":(0|[1-9]\d{0,14})[,}]/;
const HEAD_BYTES = 32;

/** The record on a line as it stands there; undefined where the line is not one JSON object with a number. */
export function rawEventOf(bytes: Buffer): RawEvent | undefined {
  const text = utf8Of(bytes);
  // An editor's byte-order mark is no part of the record.
  const line = text.startsWith(MARK) ? text.slice(1) : text;
  try {
    const seq = asObject(JSON.parse(line))?.seq;
    return typeof seq === "number" && Number.isFinite(seq) ? { seq, line } : undefined;
  } catch {
    return undefined;
  }
}

/** The number that a line states, without parsing it where it stands in front; a torn line may state one too. */
export function statedSeq(bytes: Buffer): number | undefined {
  const head = SEQ_HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES));
  return head === null ? rawEventOf(bytes)?.seq : Number(head[1]);
}
