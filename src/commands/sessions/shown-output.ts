import { PrintableText } from "../../transcript/printable.ts";
import type { Terminal } from "../terminal.ts";

/** Turns what a session printed into what is written here, chunk by chunk. */
export interface ShownOutput {
  add(text: string): string;
  /** What was still held back, at the end. */
  end(): string;
}

/**
 * As the session printed it where colours may be shown. Elsewhere without escape sequences; on a terminal that wants no
 * colours, what draws a session that is a terminal itself must stay, and only its colours go.
 */
export function shownOutput(terminal: Terminal, kind: string): ShownOutput {
  if (terminal.colours) return { add: (text) => text, end: () => "" };
  if (terminal.columns !== undefined && kind === "terminal") return new Colourless();
  return new PrintableText();
}

/** What may become a colour sequence with what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNFINISHED = /\u001b(?:\[[\d;:]{0,64})?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
const COLOUR = /\u001b\[[\d;:]*m/g;

class Colourless implements ShownOutput {
  #held = "";

  add(text: string): string {
    const all = this.#held + text;
    this.#held = UNFINISHED.exec(all)?.[0] ?? "";
    return all.slice(0, all.length - this.#held.length).replace(COLOUR, "");
  }

  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}
