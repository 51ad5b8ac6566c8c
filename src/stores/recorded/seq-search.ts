import type { BytePool } from "../../jsonl/buffers.ts";
import type { ByteSource } from "../../jsonl/source.ts";
import { behindNewline, walkLines } from "./lines.ts";
import { statedSeq } from "./raw-event.ts";

/** Whoever reads on mostly has come to about the end. */
const TAIL_BYTES = 64 * 1024;
/** A stretch that is read line by line. */
const STRETCH_BYTES = 64 * 1024;

/** Where reading goes on behind a number. */
export interface FoundPlace {
  /** Where the first record behind it starts, or the end of the complete lines. */
  readonly offset: number;
  /** The last number in the file; undefined when none is near its end. */
  readonly last: number | undefined;
}

/**
 * Where the records behind the number `since` start. Behind the last line near the end that bears it; else it is looked for
 * by halving the file, so that a long one costs a few small reads. That takes the numbers to ascend: where they fall back
 * (another writer began anew), it is one of the places that fit.
 */
export async function placeBehind(source: ByteSource, since: number, pool: BytePool): Promise<FoundPlace> {
  const tail = await lineStartFrom(source, source.size - TAIL_BYTES);
  const { exact, below, above, end, last } = await look(source, since, tail, pool);
  if (exact !== undefined) return { offset: exact, last };
  if (tail === 0 || (below && above !== undefined)) return { offset: above?.start ?? end, last };
  if (above === undefined && last !== undefined) return { offset: end, last };
  return { offset: await halve(source, since, tail, pool), last };
}

interface Looked {
  /** Behind the last line that bears the number. */
  exact: number | undefined;
  /** A line bears a lower one. */
  below: boolean;
  /** The first line that bears a higher one. */
  above: { readonly start: number } | undefined;
  /** Behind the last complete line. */
  end: number;
  last: number | undefined;
}

async function look(source: ByteSource, since: number, from: number, pool: BytePool): Promise<Looked> {
  const looked: Looked = { exact: undefined, below: false, above: undefined, end: from, last: undefined };
  await walkLines(source, { from }, pool, ({ start, end, bytes }) => {
    looked.end = end;
    const seq = bytes && statedSeq(bytes);
    if (seq === undefined) return undefined;
    looked.last = seq;
    if (seq === since) looked.exact = end;
    else if (seq > since) looked.above ??= { start };
    else looked.below = true;
    return undefined;
  });
  return looked;
}

/** Between 0 and `high`, where a line with a higher number starts. */
async function halve(source: ByteSource, since: number, from: number, pool: BytePool): Promise<number> {
  let low = 0;
  let high = from;
  while (high - low > STRETCH_BYTES) {
    const middle = await lineStartFrom(source, Math.floor((low + high) / 2));
    const met = middle < high ? await firstNumber(source, middle, high, pool) : undefined;
    if (met === undefined) high = Math.floor((low + high) / 2);
    else if (met.seq <= since) low = met.start;
    else high = met.start;
  }
  let place: number | undefined;
  await walkLines(source, { from: await lineStartFrom(source, low) }, pool, ({ start, bytes }) => {
    const seq = bytes && statedSeq(bytes);
    if (seq === undefined || seq <= since) return undefined;
    place = start;
    return "enough";
  });
  return place ?? from;
}

async function firstNumber(
  source: ByteSource,
  from: number,
  to: number,
  pool: BytePool,
): Promise<{ readonly start: number; readonly seq: number } | undefined> {
  let met: { readonly start: number; readonly seq: number } | undefined;
  await walkLines(source, { from, to }, pool, ({ start, bytes }) => {
    const seq = bytes && statedSeq(bytes);
    if (seq === undefined) return undefined;
    met = { start, seq };
    return "enough";
  });
  return met;
}

/** Where the first line at or behind `place` starts; the source's end where none does. */
async function lineStartFrom(source: ByteSource, place: number): Promise<number> {
  if (place <= 0) return 0;
  return (await behindNewline(source, place - 1)) ?? source.size;
}
