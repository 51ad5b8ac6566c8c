/** What a terminal is told. */
export interface TerminalActions {
  /** One character, of U+0020 or above. */
  print(character: string): void;
  /** A control character below U+0020. */
  control(code: number): void;
  /** `ESC`, characters between, and the one that ends it. */
  escape(between: string, end: string): void;
  /** `ESC [`, what stands between, and the one that ends it. */
  csi(between: string, end: string): void;
}

/** Characters of a sequence that are kept; longer ones are of no kind that is known. */
const MOST_KEPT = 256;
/** What begins a text for the terminal itself (a title, a link): it is dropped up to its end. */
const STRINGS = "PX]^_";

/**
 * Takes apart what a program writes to a terminal. It may come in any parts: a sequence, or a character, goes on in the next.
 * What is kept between two parts is bounded, whatever comes.
 */
export class Sequences {
  readonly #actions: TerminalActions;
  #state: "text" | "escape" | "csi" | "string" = "text";
  #between = "";
  /** The first half of a character. */
  #half = "";

  constructor(actions: TerminalActions) {
    this.#actions = actions;
  }

  /** Takes the next part. */
  feed(part: string): void {
    const text = this.#half + part;
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last <= 0xdbff;
    this.#half = isCut ? text.slice(-1) : "";
    for (const character of isCut ? text.slice(0, -1) : text) this.#take(character, character.codePointAt(0) ?? 0);
  }

  #take(character: string, code: number): void {
    if (this.#state === "string") {
      if (code === BELL || code === CAN || code === SUB || code === ST) this.#state = "text";
      else if (code === ESC) this.#begin("escape");
    } else if (code === ESC) this.#begin("escape");
    else if (code === CAN || code === SUB) this.#state = "text";
    // Other controls are obeyed also within a sequence.
    else if (code < 0x20) this.#actions.control(code);
    else if (code >= 0x7f && code < 0xa0) this.#eighthBit(code);
    else if (this.#state === "text") this.#print(character, code);
    else if (code > 0x7f) {
      this.#state = "text";
      this.#print(character, code);
    } else if (this.#state === "escape") this.#inEscape(character);
    else this.#inCsi(character);
  }

  #begin(state: "escape" | "csi"): void {
    this.#state = state;
    this.#between = "";
  }

  #print(character: string, code: number): void {
    this.#actions.print(code >= 0xd800 && code <= 0xdfff ? "\ufffd" : character);
  }

  /** A control character of one byte for `ESC` and a letter. */
  #eighthBit(code: number): void {
    if (code === 0x7f) return;
    this.#begin("escape");
    this.#inEscape(String.fromCharCode(code - 0x40));
  }

  #inEscape(character: string): void {
    if (character < "0") this.#keep(character);
    else if (this.#between === "" && character === "[") this.#begin("csi");
    else if (this.#between === "" && STRINGS.includes(character)) this.#state = "string";
    else {
      this.#state = "text";
      this.#actions.escape(this.#between, character);
    }
  }

  #inCsi(character: string): void {
    if (character < "@") this.#keep(character);
    else {
      this.#state = "text";
      if (this.#between.length < MOST_KEPT) this.#actions.csi(this.#between, character);
    }
  }

  #keep(character: string): void {
    if (this.#between.length < MOST_KEPT) this.#between += character;
  }
}

const BELL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
const ST = 0x9c;
