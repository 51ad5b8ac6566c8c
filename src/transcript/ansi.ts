import { stripVTControlCharacters } from "node:util";

/** `text` without the escape sequences that colour and move things in a terminal. */
export function withoutAnsi(text: string): string {
  return text.includes("\u001b") || text.includes("\u009b") ? stripVTControlCharacters(text) : text;
}
