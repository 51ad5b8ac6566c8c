import type { RunLog } from "../wire.ts";

/** Bytes that one read of a log gives at most. */
export const READ_BYTES = 128 * 1024;

/** Characters of a log that are held at most. */
const HELD = 2_000_000;
/** A piece that is longer than this grows no more: what comes then begins another. */
const PIECE = 64 * 1024;

/** A part of a log. It begins with a line, but where that would be longer than a read. */
export interface Piece {
  /** Bytes from the start of the log. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The part of a log that is held: pieces without a gap between them. */
export interface LogWindow {
  readonly pieces: readonly Piece[];
  /** Bytes of the whole log, as far as is known. */
  readonly size: number;
}

/** The window that a read at `from` opens. What is left of the line that `from` lies in is passed over. */
export function openedLog(from: number, { text, next, size }: RunLog): LogWindow {
  const line = from === 0 ? 0 : text.indexOf("\n") + 1;
  const whole = line === text.length ? text : text.slice(line);
  return { pieces: whole === "" ? [] : [{ from: next - bytesIn(whole), to: next, text: whole }], size };
}

/** The first byte that is held, and the one behind the last. */
export function heldBytes({ pieces }: LogWindow): { readonly from: number; readonly to: number } {
  return { from: pieces[0]?.from ?? 0, to: pieces.at(-1)?.to ?? 0 };
}

/** `log` with a read at `from`, which is before what is held; the end is let go of when it would be too much. */
export function withEarlier(log: LogWindow, from: number, read: RunLog): LogWindow {
  const until = heldBytes(log).from;
  const text = read.next > until ? firstBytes(read.text, until - (read.next - bytesIn(read.text))) : read.text;
  const { pieces } = openedLog(from, { text, next: Math.min(read.next, until), size: read.size });
  return trimmed({ pieces: [...pieces, ...log.pieces], size: read.size }, "end");
}

/** `log` with a read of what follows what is held; the start is let go of when it would be too much. */
export function withLater(log: LogWindow, { text, next, size }: RunLog): LogWindow {
  if (text === "") return { ...log, size };
  const last = log.pieces.at(-1);
  const before = log.pieces.slice(0, -1);
  if (last === undefined) return { pieces: [{ from: next - bytesIn(text), to: next, text }], size };
  if (last.text.length < PIECE) {
    return trimmed({ pieces: [...before, { from: last.from, to: next, text: last.text + text }], size }, "start");
  }
  // What is half of a line goes to the piece that its other half begins.
  const line = last.text.lastIndexOf("\n") + 1;
  const half = line === 0 ? "" : last.text.slice(line);
  const cut = last.to - bytesIn(half);
  const ended = half === "" ? last : { from: last.from, to: cut, text: last.text.slice(0, line) };
  return trimmed({ pieces: [...before, ended, { from: cut, to: next, text: half + text }], size }, "start");
}

function trimmed({ pieces, size }: LogWindow, end: "start" | "end"): LogWindow {
  let held = pieces.reduce((sum, { text }) => sum + text.length, 0);
  const rest = [...pieces];
  while (held > HELD && rest.length > 1) held -= (end === "start" ? rest.shift() : rest.pop())?.text.length ?? 0;
  return { pieces: rest, size };
}

function bytesIn(text: string): number {
  return new TextEncoder().encode(text).length;
}

function firstBytes(text: string, count: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, count));
}
