import { createEventText } from "../../agents/show-event.ts";
import { isNestedAtMost } from "../../platform/read.ts";
import { printable, printableJson } from "../../transcript/printable.ts";
import type { Terminal } from "../terminal.ts";
import type { parseRecord } from "./recorded-event.ts";

/** Prints a record of a session; the prompt with the number `own` is not shown to the one who gave it. */
export type RecordPrinter = (record: ReturnType<typeof parseRecord>, own?: number) => Promise<void>;

/** Prints records to stdout: as JSON, one a line, or as they are shown to people. */
export function recordPrinter(terminal: Terminal, asJson: boolean): RecordPrinter {
  const shown = createEventText();
  return async ({ record, seq, event }, own) => {
    if (asJson) return record === undefined ? undefined : terminal.out(`${jsonLine(record, seq)}\n`);
    if (event === undefined || (event.kind === "user-prompt" && seq === own)) return;
    const text = shown.show(event);
    if (text !== "") await terminal.out(terminal.colours ? text : printable(text));
  };
}

/** Deeper than any agent nests what it means; not so deep that it can't be written. */
const MOST_LEVELS = 1_000;

function jsonLine(record: unknown, seq: number | undefined): string {
  if (isNestedAtMost(MOST_LEVELS, record)) return printableJson(record);
  return printableJson({ seq, error: "this record is nested too deeply to be printed" });
}
