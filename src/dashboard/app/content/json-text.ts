import { isNestedAtMost, jsonText, parseJson } from "../../../platform/read.ts";

/** Longer texts are shown as they are. */
const LONGEST = 20_000;

/** How deeply values may stand in each other to be shown on lines of their own. */
const MOST_DEPTH = 50;

/** `value` as JSON with a line for each value in it; on one line where it is nested too deeply for that. */
export function jsonLines(value: unknown): string {
  return isNestedAtMost(MOST_DEPTH, value) ? JSON.stringify(value, undefined, 2) : jsonText(value);
}

/** `text` with a line for each value when it is JSON of a readable length, and says the same so to the last digit. */
export function prettyJson(text: string): string | undefined {
  const source = text.trim();
  if (source.length > LONGEST || !/^[[{]/.test(source)) return undefined;
  try {
    const value = parseJson(source);
    const compact = source.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
    return compact === jsonText(value) ? jsonLines(value) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
