import { Bell } from "../platform/bell.ts";
import { Failure } from "../platform/failure.ts";
import { editedLines } from "./edited-lines.ts";
import type { TypedLines } from "./typed-lines.ts";

/** Columns and rows of a terminal. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Where a command reads what is typed, or what a test types. Nothing is read before it is asked for. */
export interface Input {
  /** Whether someone types it. */
  readonly isTerminal: boolean;
  /** What comes, until its end or the signal; what is not taken stays for the next reader. */
  parts(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Throws away what was typed so far and nobody has read, also a line that is not ended: whether there was something. Of
   * a pipe or file nothing is thrown away. Nobody may be reading meanwhile.
   */
  dropTyped(): Promise<boolean>;
  /** Lines that are edited with the keys of a terminal; undefined where there is none. The bell rings when one has come. */
  editor(bell: Bell): Promise<TypedLines | undefined>;
  /** Hands on each key as it is typed, Ctrl-C and its like too, until what is returned is called. */
  raw(): () => void;
  /** Of the terminal that is written to; undefined when it is none. */
  size(): TerminalSize | undefined;
  /** Yields when the size has changed; ends with the signal. */
  resized(signal: AbortSignal): AsyncIterable<void>;
}

/** The stdin of this process. `isPlain`: its terminal can't move the cursor. */
export function processInput(isPlain = false): Input {
  // Touched only when it is read: opening it costs, and can keep a process alive.
  const stdin = (): NodeJS.ReadStream => process.stdin;
  return {
    get isTerminal() {
      return stdin().isTTY === true;
    },
    parts: (signal) => partsOf(stdin(), signal),
    dropTyped: () => dropped(stdin()),
    async editor(bell) {
      return isPlain || !stdin().isTTY || !process.stderr.isTTY
        ? undefined
        : editedLines(stdin(), process.stderr, bell);
    },
    raw() {
      const stream = stdin();
      if (stream.isTTY) stream.setRawMode(true);
      return () => {
        if (stream.isTTY) stream.setRawMode(false);
      };
    },
    size() {
      const { isTTY, columns, rows } = process.stdout;
      return isTTY && columns > 0 && rows > 0 ? { columns, rows } : undefined;
    },
    resized: (signal) => resizes(process.stdout, signal),
  };
}

async function* partsOf(stream: NodeJS.ReadStream, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const bell = new Bell();
  const waiting: Uint8Array[] = [];
  let ended = stream.readableEnded || stream.destroyed;
  const take = (part: Uint8Array | string): void => {
    // Nothing is read ahead: what comes after the last part asked for is left to the next reader.
    stream.pause();
    waiting.push(typeof part === "string" ? Buffer.from(part) : part);
    bell.ring();
  };
  const end = (): void => {
    ended = true;
    bell.ring();
  };
  stream.on("data", take).on("end", end).on("close", end).on("error", end);
  try {
    while (!signal.aborted) {
      const part = waiting.shift();
      if (part !== undefined) yield part;
      else if (ended) return;
      else {
        stream.resume();
        await bell.listen(signal);
      }
    }
  } finally {
    stream.off("data", take).off("end", end).off("close", end).off("error", end);
    stream.pause();
    if (waiting.length > 0) stream.unshift(Buffer.concat(waiting));
  }
}

async function dropped(stream: NodeJS.ReadStream): Promise<boolean> {
  if (!stream.isTTY) return false;
  let bytes = 0;
  const drop = (part: Uint8Array | string): void => {
    bytes += part.length;
  };
  const { isRaw } = stream;
  // The system hands on a line that is not ended only to who takes each key.
  stream.setRawMode(true);
  stream.on("data", drop).resume();
  try {
    for (let before = -1; before < bytes; ) {
      before = bytes;
      // What the system holds is read in the next turn of the loop, and what that leaves in the one behind it.
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    }
  } finally {
    stream.off("data", drop).pause();
    stream.setRawMode(isRaw);
  }
  return bytes > 0;
}

async function* resizes(stream: NodeJS.WriteStream, signal: AbortSignal): AsyncGenerator<void, void> {
  const bell = new Bell();
  const ring = (): void => bell.ring();
  stream.on("resize", ring);
  try {
    for (;;) {
      await bell.listen(signal);
      if (signal.aborted) return;
      yield;
    }
  } finally {
    stream.off("resize", ring);
  }
}

/** The lines of what comes, without their ends; what stands behind the last end is a line too. */
export async function* linesOf(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of parts) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

/** Bytes that are read from standard input: no request to the server may be larger. */
const MOST_BYTES = 1024 * 1024;

/**
 * All that comes from standard input, as text. `patienceMs`: how long it may take to be over, where nobody types it.
 * @throws Failure usage: it is over 1 MiB, no UTF-8, or not over in time
 */
export async function allInput(input: Input, patienceMs?: number): Promise<string> {
  const late = patienceMs === undefined ? new AbortController().signal : AbortSignal.timeout(patienceMs);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of input.parts(late)) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Failure("usage", "standard input is over 1 MiB: send it in parts");
    parts.push(part);
  }
  if (late.aborted) throw new Failure("usage", "nothing more comes on standard input, and it does not end");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch (error) {
    throw new Failure("usage", "standard input is no text in UTF-8", error);
  }
}
