import type { Breather } from "../platform/breather.ts";
import { asArray, asNumber, asObject, parseJson } from "../platform/read.ts";

/** Files under this are parsed in one go: well under a millisecond. */
const SMALL_BYTES = 64 * 1024;

/**
 * Parses JSON of any length without holding up others: the objects in a list that is the whole text, or a value of the
 * object that is the whole text, are parsed one by one. What it gives is what `parseJson` gives.
 * @throws SyntaxError when it is no JSON
 */
export async function parseInPieces(bytes: Buffer, breather: Breather): Promise<unknown> {
  if (bytes.length <= SMALL_BYTES) return parseJson(bytes.toString("utf8"));
  const pieces: unknown[] = [];
  const skeleton: string[] = [];
  let copied = 0;
  for (const { start, end } of objectsInLists(bytes)) {
    skeleton.push(bytes.toString("utf8", copied, start), `{"piece":${pieces.length}}`);
    pieces.push(JSON.parse(bytes.toString("utf8", start, end)));
    copied = end;
    if (breather.isDue) await breather.pause();
  }
  skeleton.push(bytes.toString("utf8", copied));
  return withPieces(parseJson(skeleton.join("")), pieces);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [LIST, OBJECT, LIST_END, OBJECT_END] = [0x5b, 0x7b, 0x5d, 0x7d];

/** The objects that stand directly in a list which is the root or stands directly in the root. */
function* objectsInLists(bytes: Buffer): Generator<Range, void> {
  const open: number[] = [];
  let start = 0;
  let outer = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = endOfString(bytes, i);
        break;
      case LIST:
        open.push(LIST);
        break;
      case OBJECT:
        if (outer === 0 && isPlaceOfPieces(open)) {
          outer = open.length + 1;
          start = i;
        }
        open.push(OBJECT);
        break;
      case LIST_END:
      case OBJECT_END:
        if (outer > 0 && open.length === outer) {
          outer = 0;
          yield { start, end: i + 1 };
        }
        open.pop();
        break;
    }
  }
}

function isPlaceOfPieces(open: readonly number[]): boolean {
  return open.at(-1) === LIST && (open.length === 1 || (open.length === 2 && open[0] === OBJECT));
}

/** The index of the quote that closes the string which opens at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return bytes.length;
}

/** Puts the pieces back: in those lists every object stands for one. */
function withPieces(skeleton: unknown, pieces: readonly unknown[]): unknown {
  const filled = (list: readonly unknown[]): unknown[] => list.map((item) => pieces[pieceOf(item)] ?? item);
  const lists = asArray(skeleton);
  if (lists !== undefined) return filled(lists);
  const root = asObject(skeleton);
  if (root === undefined) return skeleton;
  return Object.fromEntries(
    Object.entries(root).map(([key, value]) => [key, Array.isArray(value) ? filled(value) : value]),
  );
}

function pieceOf(item: unknown): number {
  return asNumber(asObject(item)?.piece) ?? -1;
}
