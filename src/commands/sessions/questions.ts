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
