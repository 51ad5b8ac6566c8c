// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const MODE = /\u001b(?:\[\?([\d;]{1,32})([hl])|([=>]))/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNFINISHED = /\u001b(?:\[(?:\?[\d;]{0,32})?)?$/;
/** Shown cursor and line wrap: the modes that a terminal has set when nothing has been done to it. */
const USUAL = new Set(["25", "7"]);

/**
 * What a program has made of the terminal that shows it (its other screen, a hidden cursor, reports of the mouse), so that
 * whoever leaves it in the middle has the terminal as it was.
 */
export class TerminalModes {
  readonly #changed = new Set<string>();
  /** The keypad sends sequences instead of digits. */
  #isKeypadOn = false;
  #held = "";

  /** Takes note of what is shown, however it is cut. */
  note(text: string): void {
    const all = this.#held + text;
    this.#held = UNFINISHED.exec(all)?.[0] ?? "";
    for (const [, modes, how, keypad] of all.matchAll(MODE)) {
      if (keypad !== undefined) this.#isKeypadOn = keypad === "=";
      for (const mode of modes?.split(";") ?? []) {
        if ((how === "h") === USUAL.has(mode)) this.#changed.delete(mode);
        else this.#changed.add(mode);
      }
    }
  }

  /** The sequences that take it all back, and the colours. */
  undone(): string {
    const sequences = [...this.#changed].reverse().map((mode) => `\u001b[?${mode}${USUAL.has(mode) ? "h" : "l"}`);
    return `${sequences.join("")}${this.#isKeypadOn ? "\u001b>" : ""}\u001b[0m`;
  }
}
