import { stripVTControlCharacters } from "node:util";
import { oneLine } from "./clip.ts";

/**
 * `text` without what could act on a terminal or hide in it: escape sequences and control characters other than newline
 * and tab, marks that turn the direction of what follows, and characters without a width (also those that join others, or
 * spell a text in tags that no one sees). What a transcript holds is foreign text.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?/g, "\n")
    .replace(/[\u2028\u2029]/g, " ")
    .replace(UNPRINTABLE, "");
}

/** `text` on one line, printable, each gap one space wide. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}

/** What `printable` takes out beside escape sequences. */
export const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
