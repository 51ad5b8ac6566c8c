import { clip, oneLine } from "../../transcript/clip.ts";
import { TITLE_CHARACTERS } from "../../transcript/limits.ts";

/** Blocks that Claude Code puts before what the user typed, in the same text. */
const LEADING_BLOCK =
  /^\s*<(system-reminder|ide_opened_file|ide_selection|local-command-caveat)(?:\s[^>]*)?>[\s\S]*?<\/\1>\s*/;

/** Texts in the user's name that the user did not type, by how they begin (2.1.332 and older). */
const INJECTED =
  /^(?:<(?:local-command-stdout|local-command-stderr|bash-stdout|session-start-hook|user-prompt-submit-hook|task-notification|teammate-message|tick|goal)[\s>]|\[Request interrupted by user|Caveat: The messages below were generated)/;

/** What a user's text gives as a title. */
export interface PromptTitle {
  readonly title: string;
  /** A slash command: only a title when no prompt follows. */
  readonly command: boolean;
}

/** One line of at most 160 characters for what the user typed in `text`; undefined when nothing in it was typed. */
export function promptTitle(text: string): PromptTitle | undefined {
  let typed = text;
  for (let block = LEADING_BLOCK.exec(typed); block !== null; block = LEADING_BLOCK.exec(typed)) {
    typed = typed.slice(block[0].length);
  }
  typed = typed.trimStart();
  if (INJECTED.test(typed)) return undefined;
  const command = commandLine(typed);
  const title = titleLine(
    command ?? /^<bash-input>([\s\S]*?)<\/bash-input>/.exec(typed)?.[1]?.replace(/^/, "!") ?? typed,
  );
  return title === undefined ? undefined : { title, command: command !== undefined };
}

/** `text` as a title: on one line, at most 160 characters; undefined when it is blank. */
export function titleLine(text: string): string | undefined {
  const line = oneLine(text.slice(0, TITLE_CHARACTERS * 16));
  if (line === "") return undefined;
  // A cut string would keep the whole text it was cut from in memory for as long as it is listed.
  return Buffer.from(clip(line, TITLE_CHARACTERS).text).toString();
}

/** `/name args` of the wrapper a slash command is written in (its elements come in any order). */
function commandLine(text: string): string | undefined {
  if (!/^<command-(?:name|message|args)>/.test(text)) return undefined;
  const name = /<command-name>([\s\S]*?)<\/command-name>/.exec(text)?.[1]?.trim();
  if (name === undefined || name === "") return undefined;
  const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
  return `${name.startsWith("/") ? "" : "/"}${name} ${args}`;
}
