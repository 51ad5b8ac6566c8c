/** Readers for values from outside: each gives the value when it has the asked shape, else undefined. */

/** The value of a JSON text; a byte-order mark before it, as some editors write one, is passed over. @throws SyntaxError */
export function parseJson(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text, reviver);
}

/**
 * Whether lists and objects stand in one another at most `levels` deep. `JSON.parse` takes any depth, `JSON.stringify` does
 * not: what is to be written as JSON again must be asked first.
 */
export function isNestedAtMost(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isNestedAtMost(levels - 1, inner));
}

/** A JSON object as a record of unknown values. */
export type JsonObject = { readonly [key: string]: unknown };

/** `value` when it is an object that is no array. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** `value` when it is an array. */
export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** `value` when it is a string. */
export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** `value` when it is a string that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** `value` when it is a finite number. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A count as stores write them: a number or a numeric string, never negative, fraction dropped, at most 2^53 - 1. */
export function asCount(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : asNumber(value);
  if (number === undefined || number < 0) return undefined;
  return Math.min(Math.trunc(number), Number.MAX_SAFE_INTEGER);
}

/** What is told of a value that is nested deeper than the engine follows: a parser without recursion may have read it. */
const TOO_DEEP = "(nested too deeply to be shown)";

/** `value` as compact JSON, however deeply it is nested; "" where it has none. `replacer` is `JSON.stringify`'s. */
export function jsonText(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  try {
    return JSON.stringify(value, replacer) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}
