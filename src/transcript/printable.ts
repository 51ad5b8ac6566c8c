import { oneLine } from "./one-line.ts";

/**
 * `text` without what could act on a terminal or hide in it: escape sequences and control characters other than newline
 * and tab, marks that turn the direction of what follows, and characters without a width (also those that join others, or
 * spell a text in tags that no one sees). What a transcript holds is foreign text.
 */
export function printable(text: string): string {
  // One look tells of most texts that there is nothing to do.
  return SUSPECT.test(text) ? plain(text).replace(UNPRINTABLE, "") : text;
}

/**
 * As `printable`, for a document that people read and copy from: characters without a width that belong to a script, an
 * emoji or a word stay (joiners and non-joiners, marks of one direction, spaces of no width, the tags of a flag), so that
 * Persian, families and code are what they were. Embeddings, overrides and isolates, which turn what follows, do not.
 */
export function readable(text: string): string {
  if (!UNREADABLE_UNIT.test(text)) return text;
  return plain(text).replace(UNREADABLE, (found) => (found.startsWith(FLAG) ? found : ""));
}

/** `text` without the escape sequences that colour and move things in a terminal; all else stays. */
export function withoutAnsi(text: string): string {
  return SEQUENCE_START.test(text) ? text.replace(SEQUENCES, "") : text;
}

/** As `withoutAnsi`, but sequences that set colours and style (SGR, `ESC [ … m`) stay, and no other escape character does. */
export function withColours(text: string): string {
  if (!SEQUENCE_START.test(text)) return text;
  const coloured = text.replace(SEQUENCES, (sequence) => {
    const parameters = COLOURS.exec(sequence)?.[1];
    return parameters === undefined ? "" : `\u001b[${parameters}m`;
  });
  // What was taken out may have stood in the middle of another sequence.
  return coloured.replace(LONE_STARTS, "");
}

/** `text`, which `withColours` gave and which was cut, without the half of a sequence before its ellipsis. */
export function withoutHalfColour(text: string): string {
  return text.replace(HALF_COLOUR, "…");
}

/** `text` on one line, printable, each gap one space wide. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}

/** `text` on one line, readable, each gap one space wide; "" when nothing of it can be seen. */
export function readableLine(text: string): string {
  return printableLine(text) === "" ? "" : oneLine(readable(text));
}

/** `text` without escape sequences, and with newlines alone between its lines. */
function plain(text: string): string {
  return text
    .replace(SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[\u2028\u2029]/g, " ");
}

/** What every escape sequence begins with. */
const SEQUENCE_START =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u001b\u0090\u0098\u009b\u009d-\u009f]/;

/** What every text has that `printable` changes: units, not characters, since those are told faster. */
const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\udb40]/;

/** What `printable` takes out beside escape sequences. */
export const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** What every text has that `readable` may change. */
const UNREADABLE_UNIT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2061-\u206f\ufeff\ufff9-\ufffb\udb40]/;

/** The black flag, which tags behind it make the flag of a region. */
const FLAG = "\u{1f3f4}";

/** What `readable` takes out beside escape sequences; and the flags of regions, which it does not. */
const UNREADABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out.
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2061-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** `value` as JSON on one line, that is safe to print on a terminal; `indent` for people. */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  // JSON has no control characters below these; looking for each of the others takes several times as long.
  if (!/[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\udb40]/.test(json)) return json;
  return json.replace(UNPRINTABLE, (character) => character.split("").map(escapedUnit).join(""));
}

/** A UTF-16 unit as JSON escapes it. */
function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Makes a text printable that comes in chunks: what `printable` takes out of the whole, also where it is split over two. */
export class PrintableText {
  #held = "";

  /** What may be shown of `chunk` and of what was held back before it. */
  add(chunk: string): string {
    const text = this.#held + chunk;
    const held = UNFINISHED.exec(text)?.[0] ?? "";
    this.#held = held.length > MOST_HELD ? "" : held;
    return printable(text.slice(0, text.length - this.#held.length));
  }

  /** What is still held back, at the end of the text. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return printable(held);
  }
}

/** No escape sequence that a program means is longer. */
const MOST_HELD = 1024;

/**
 * Escape sequences: control sequences, texts for the terminal itself (titles, links) on one line, and the short ones. Nothing
 * in one can begin another, so that a text of beginnings alone is read once and not from each of them to its end.
 */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\n\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;

/** A sequence that sets colours and style, whole, with its parameters. */
const COLOURS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /^(?:\u001b\[|\u009b)([\d;:]*)m$/;

/** What begins an escape sequence, save one that sets colours and style. */
const LONE_STARTS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /\u001b(?!\[[\d;:]*m)|[\u0090\u0098\u009b\u009d-\u009f]/g;

const HALF_COLOUR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /\u001b(?:\[[\d;:]*)?…$/;

/** At the end of a chunk: half a line's end, half a character, or an escape sequence whose rest may still come. */
const UNFINISHED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /(?:\r|[\ud800-\udbff]|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[ -/]*|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\n\u001b\u0080-\u009f]*\u001b?)$/;
