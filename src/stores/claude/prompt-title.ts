import { clip, oneLine } from "../../transcript/clip.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";
import { readUserText } from "./user-text.ts";

/** What a user's text gives as a title. */
export interface PromptTitle {
  readonly title: string;
  /** A slash command: only a title when no prompt follows. */
  readonly command: boolean;
}

/** One line of at most 160 characters for what the user typed in `text`; undefined when nothing in it was typed. */
export function promptTitle(text: string): PromptTitle | undefined {
  const read = readUserText(text);
  if (read.kind !== "prompt") return undefined;
  const title = titleLine(read.text);
  return title === undefined ? undefined : { title, command: read.command === "slash" };
}

/** `text` as a title: on one line, at most 160 characters; undefined when it is blank. */
export function titleLine(text: string): string | undefined {
  const line = oneLine(text.slice(0, TITLE_CHARACTERS * 16));
  if (line === "") return undefined;
  // A cut string would keep the whole text it was cut from in memory for as long as it is listed.
  return Buffer.from(clip(line, TITLE_CHARACTERS).text).toString();
}
