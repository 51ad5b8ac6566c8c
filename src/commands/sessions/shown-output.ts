import { PrintableText } from "../../transcript/printable.ts";
import type { Terminal } from "../terminal.ts";

/** Turns what a session printed into what is written here, chunk by chunk. */
export interface ShownOutput {
  add(text: string): string;
  /** What was still held back, at the end. */
  end(): string;
}

/**
 * What draws a session that is a terminal goes to a terminal as it came, without the colours where none are wanted. Of all
 * other sessions only colours pass, and to what is no terminal nothing but text.
 */
export function shownOutput(terminal: Terminal, kind: string): ShownOutput {
  if (terminal.columns === undefined) return new PrintableText();
  if (kind === "terminal") return new Drawn(terminal.colours);
  return terminal.colours ? new Coloured() : new PrintableText();
}

/** What may become a colour sequence with what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNFINISHED = /\u001b(?:\[[\d;:]{0,64})?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const COLOUR = /\u001b\[[\d;:]*m/g;

/** What a program draws on a terminal of its own. */
class Drawn implements ShownOutput {
  readonly #colours: boolean;
  #held = "";
  #last = "";

  constructor(colours: boolean) {
    this.#colours = colours;
  }

  add(text: string): string {
    return this.#lowered(this.#colours ? text : this.#colourless(text));
  }

  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /**
   * Our own terminal puts the cursor at the left with each line feed, which theirs does of itself or not at all. A vertical
   * tab moves it down alone, on every terminal.
   */
  #lowered(text: string): string {
    const before = this.#last;
    this.#last = text.slice(-1) || before;
    return text.replace(/\n/g, (_, at: number) => ((at === 0 ? before : text[at - 1]) === "\r" ? "\n" : "\v"));
  }

  #colourless(text: string): string {
    const all = this.#held + text;
    this.#held = UNFINISHED.exec(all)?.[0] ?? "";
    return all.slice(0, all.length - this.#held.length).replace(COLOUR, "");
  }
}

/** Text, and its colours. */
class Coloured implements ShownOutput {
  readonly #text = new PrintableText();
  #held = "";

  add(text: string): string {
    const all = this.#held + text;
    this.#held = UNFINISHED.exec(all)?.[0] ?? "";
    const whole = all.slice(0, all.length - this.#held.length);
    let shown = "";
    let from = 0;
    for (const { 0: colour, index } of whole.matchAll(COLOUR)) {
      shown += this.#text.add(whole.slice(from, index)) + colour;
      from = index + colour.length;
    }
    return shown + this.#text.add(whole.slice(from));
  }

  end(): string {
    this.#held = "";
    return this.#text.end();
  }
}
