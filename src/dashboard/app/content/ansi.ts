import { readable, withoutAnsi } from "../../../transcript/printable.ts";
import { applySgr, PLAIN, type Style } from "./sgr.ts";

/** A piece of text that looks the same from end to end. */
export interface StyledRun {
  readonly text: string;
  readonly style: Style;
}

/**
 * What a terminal shows of `text`, in pieces that each look the same, and how what follows would look. Lines that were
 * written over again and again show their last state; every sequence but colours and looks is dropped. `style` is how the
 * text begins.
 */
export function ansiRuns(text: string, style: Style = PLAIN): { readonly runs: StyledRun[]; readonly style: Style } {
  const runs: StyledRun[] = [];
  const pieces = overwritten(text).split(SGR);
  let now = style;
  // Texts stand at even places, and what changes the style between them at odd ones.
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) now = applySgr(now, piece);
    else {
      const shown = readable(piece);
      if (shown !== "") runs.push({ text: shown, style: now });
    }
  }
  return { runs, style: now };
}

/** `text` with each line as it was last written: what a carriage return goes back over is gone, but for its styles. */
export function overwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text.split(/\r*\n/).map(lastState).join("\n");
}

function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r");
  const last = Math.max(
    0,
    states.findLastIndex((state) => ERASES.test(state) || withoutAnsi(state) !== ""),
  );
  return states.map((state, index) => (index < last ? stylesOf(state) : state)).join("");
}

function stylesOf(text: string): string {
  return (text.match(SGR_ALL) ?? []).join("");
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const SGR = /\u001b\[([\d;:]*)m/;
const SGR_ALL = /\u001b\[[\d;:]*m/g;
/** The sequences that clear a line. */
const ERASES = /\u001b\[[0-2]?K/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: these are what is looked for.
