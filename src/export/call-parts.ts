import { asObject, asString, isNestedAtMost, jsonText } from "../platform/read.ts";
import { clip } from "../transcript/clip.ts";
import { readable, readableLine } from "../transcript/printable.ts";
import { summarise } from "../transcript/summary.ts";
import type { ExportedCall } from "./model.ts";

/** A piece of a call's input that is shown by itself. */
export interface CallPart {
  /** The field, on one line, readable; absent when the piece is more than one. */
  readonly name?: string;
  /** Printable. */
  readonly text: string;
  readonly isJson: boolean;
}

/** The longest line that is made from an input, which stands below it in full. */
const SUMMARY_CHARACTERS = 200;

/** One line, readable, that says what the call does: the store's own words in full, else made from the input. */
export function callSummary(call: ExportedCall): string {
  const own = readableLine(call.summary ?? "");
  return own === "" ? clip(readableLine(summarise(call.name, call.input)), SUMMARY_CHARACTERS).text : own;
}

/**
 * The whole input as people read it: texts of several lines (a file's contents, a script) as they are and not as one line
 * of JSON, the other fields as JSON before them.
 */
export function callParts(input: unknown): CallPart[] {
  const text = asString(input);
  if (text !== undefined) return readable(text) === "" ? [] : [{ text: readable(text), isJson: false }];
  const fields = asObject(input);
  if (fields === undefined) return input === undefined || input === null ? [] : [json(input)];
  const entries = Object.entries(fields);
  const isText = ([, value]: [string, unknown]): boolean =>
    typeof value === "string" && (entries.length === 1 || value.includes("\n"));
  const rest = entries.filter((entry) => !isText(entry));
  return [
    ...(rest.length === 0 ? [] : [json(Object.fromEntries(rest))]),
    ...entries.filter(isText).map(([name, value]) => ({
      name: readableLine(name),
      text: readable(String(value)),
      isJson: false,
    })),
  ];
}

/** What is longer than a line is indented, unless the indentation could be the larger part of it. */
function json(value: unknown): CallPart {
  const line = jsonText(value);
  const isTall = line.length > 80 && line.length <= 100_000 && isNestedAtMost(16, value);
  return { text: readable(isTall ? JSON.stringify(value, null, 2) : line), isJson: true };
}
