import type { Item } from "../transcript/item.ts";
import { styleFor } from "./style.ts";
import type { Terminal } from "./terminal.ts";
import { TranscriptWriter } from "./transcript.ts";
import { printableJson } from "./width.ts";

/** Prints items to stdout: as JSON, one a line, or for reading. */
export function itemWriter(terminal: Terminal, asJson: boolean): (items: readonly Item[]) => Promise<void> {
  const transcript = new TranscriptWriter(styleFor(terminal));
  const one = asJson ? (item: Item) => `${printableJson(item)}\n` : (item: Item) => transcript.write(item);
  return async (items) => {
    if (items.length > 0) await terminal.out(items.map(one).join(""));
  };
}

/** Prints one value as JSON: indented on a terminal, on one line for a program. */
export async function printJson(terminal: Terminal, value: unknown): Promise<void> {
  await terminal.out(`${printableJson(value, terminal.columns === undefined ? undefined : 2)}\n`);
}
