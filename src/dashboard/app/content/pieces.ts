/** How much of a text is shown at once. */
export interface Limit {
  readonly lines: number;
  readonly characters: number;
}

/** Everything at once. */
export const ALL: Limit = { lines: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

/**
 * Where a piece of `text` ends that begins at `from` and is no longer than `limit`: behind a newline if there is one, never
 * between the halves of a character. A piece is never empty, and a rest of few lines is taken along.
 */
export function pieceEnd(text: string, from: number, limit: Limit): number {
  let end = from;
  for (let lines = 0; lines < limit.lines && end < text.length; lines++) {
    const next = lineEnd(text, end);
    if (next - from > limit.characters) return end > from ? end : withinLine(text, from + limit.characters);
    end = next;
  }
  return isShort(text, end, limit) ? text.length : end;
}

/** How many lines `text` has; a newline at its end begins no other one. */
export function lineCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = lineEnd(text, at)) count++;
  return count;
}

function lineEnd(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline + 1;
}

function withinLine(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}

/** Whether what is left at `from` is not worth a button of its own. */
function isShort(text: string, from: number, limit: Limit): boolean {
  const rest = text.length - from;
  return rest < limit.characters / 10 && lineCount(text.slice(from)) <= limit.lines / 10;
}
