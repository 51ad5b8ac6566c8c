import type { Terminal } from "./terminal.ts";

/** Puts text into a colour where the terminal takes one. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** The style for what `terminal` can show. */
export function styleFor(terminal: Terminal): Style {
  const paint = (on: number, off: number) => (text: string) =>
    terminal.colours && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}
