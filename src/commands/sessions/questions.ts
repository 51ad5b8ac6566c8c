import type { PermissionOption } from "../../agents/event.ts";
import { shellWord } from "../program.ts";
import { printableLine } from "../width.ts";
import type { ShownSession } from "./shown.ts";

/** What the session's agent asks, and the commands that answer it: lines with their ends. */
export function questionLines({ id, permissions }: ShownSession): string[] {
  return permissions.flatMap(({ toolCallId, title, options }) => [
    `The agent asks for permission${title === undefined ? "" : `: ${printableLine(title)}`}\n`,
    ...options.map(({ optionId, name }) => {
      const words = [id, toolCallId, optionId].map((word) => shellWord(printableLine(word))).join(" ");
      return `  ${printableLine(name)}: agent-bridge sessions answer ${words}\n`;
    }),
  ]);
}

/** The option that was meant by what someone typed: its id, its name, or its number in the list. */
export function chosenOption(options: readonly PermissionOption[], typed: string): PermissionOption | undefined {
  const word = typed.trim();
  return (
    options.find(({ optionId }) => optionId === word) ??
    options.find(({ name }) => name.toLowerCase() === word.toLowerCase()) ??
    (/^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined)
  );
}

/** What is told to who typed something else. */
export function noSuchOption(options: readonly PermissionOption[]): string {
  const known = options.map(({ optionId }, index) => `${index + 1} ${printableLine(optionId)}`).join(", ");
  return `Not an option; there are: ${known}\n`;
}
