/** A key as it is pressed. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

const ESC = "\x1b";
/** Keys that have one meaning for every program. */
const KEYS: { readonly [key: string]: string } = {
  Enter: "\r",
  Backspace: "\x7f",
  Tab: "\t",
  Escape: ESC,
  Delete: `${ESC}[3~`,
  Insert: `${ESC}[2~`,
  PageUp: `${ESC}[5~`,
  PageDown: `${ESC}[6~`,
};
const ARROWS: { readonly [key: string]: string } = {
  ArrowUp: "A",
  ArrowDown: "B",
  ArrowRight: "C",
  ArrowLeft: "D",
  Home: "H",
  End: "F",
};

/**
 * What a terminal sends for a key; undefined where the key is the browser's own. `own`: the program wants its own sequences
 * for the arrow keys.
 */
export function sequenceOf({ key, ctrlKey, altKey, metaKey, shiftKey }: KeyPress, own = false): string | undefined {
  if (metaKey) return undefined;
  const isLetter = [...key].length === 1;
  if (ctrlKey && !altKey) {
    // With Shift, and for these, the browser copies, pastes and opens its tools.
    if (!isLetter || shiftKey || key === "v") return undefined;
    return controlOf(key);
  }
  // AltGr makes letters, and is told as both.
  if (ctrlKey) return isLetter ? key : undefined;
  const plain = isLetter ? key : sequenceOfNamed(key, own, shiftKey);
  return altKey && plain !== undefined ? (isLetter ? ESC + key : undefined) : plain;
}

function sequenceOfNamed(key: string, own: boolean, shiftKey: boolean): string | undefined {
  const arrow = ARROWS[key];
  // Shift with these scrolls, or selects, or leaves.
  if (shiftKey && key !== "Enter" && key !== "Backspace") return undefined;
  return arrow === undefined ? KEYS[key] : `${ESC}${own ? "O" : "["}${arrow}`;
}

function controlOf(key: string): string | undefined {
  if (key === " ") return "\0";
  const code = key.toUpperCase().charCodeAt(0);
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code - 0x40) : undefined;
}

/** What a terminal sends when `text` is pasted; `told`: the program wants to know where that begins and ends. */
export function pastedText(text: string, told: boolean): string {
  const typed = text.replace(/\r?\n/g, "\r");
  // What is pasted can't say by itself that the pasting is over.
  return told ? `${ESC}[200~${typed.replaceAll(ESC, "")}${ESC}[201~` : typed;
}
