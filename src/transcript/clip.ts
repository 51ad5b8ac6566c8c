export { oneLine } from "./one-line.ts";

/** A text held to a limit. */
export interface Clipped {
  readonly text: string;
  /** Whether something was taken off. */
  readonly cut: boolean;
}

/**
 * `text` in at most `limit` characters (UTF-16 code units). A cut text ends in `…`, which counts, and is never cut
 * between the halves of a surrogate pair or inside a CRLF.
 */
export function clip(text: string, limit: number): Clipped {
  if (text.length <= limit) return { text, cut: false };
  return { text: `${text.slice(0, wholeCharacters(text, limit - 1))}…`, cut: true };
}

/** `text` in at most `limit` bytes of UTF-8, cut as `clip` cuts. */
export function clipBytes(text: string, limit: number): Clipped {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return { text, cut: false };
  const ellipsis = Buffer.byteLength("…");
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const point = text.codePointAt(end) ?? 0;
    const width = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes + width > limit - ellipsis) break;
    bytes += width;
    end += point > 0xffff ? 2 : 1;
  }
  return { text: `${text.slice(0, wholeCharacters(text, end))}…`, cut: true };
}

/** The last place at or before `end` where `text` may be cut. */
function wholeCharacters(text: string, end: number): number {
  if (end <= 0) return 0;
  const before = text.charCodeAt(end - 1);
  const after = text.charCodeAt(end);
  const splitsPair = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  const splitsNewline = before === 0x0d && after === 0x0a;
  return splitsPair || splitsNewline ? end - 1 : end;
}
