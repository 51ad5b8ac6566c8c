import type { Item } from "../transcript/item.ts";
import { printableJson } from "../transcript/printable.ts";
import { styleFor } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { type Heading, TranscriptWriter } from "./transcript.ts";

/** Prints items to stdout: as JSON, one a line, or for reading, then below a heading where there is one. */
export function itemWriter(
  terminal: Terminal,
  asJson: boolean,
  heading?: Heading,
): (items: readonly Item[]) => Promise<void> {
  const transcript = new TranscriptWriter(styleFor(terminal));
  let above = asJson || heading === undefined ? "" : transcript.heading(heading);
  const one = asJson ? (item: Item) => `${printableJson(item)}\n` : (item: Item) => transcript.write(item);
  return async (items) => {
    const text = above + items.map(one).join("");
    above = "";
    if (text !== "") await terminal.out(text);
  };
}

/** Prints one value as JSON: indented on a terminal, on one line for a program. */
export async function printJson(terminal: Terminal, value: unknown): Promise<void> {
  await terminal.out(`${printableJson(value, terminal.columns === undefined ? undefined : 2)}\n`);
}
