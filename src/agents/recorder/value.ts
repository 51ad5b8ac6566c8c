import { asObject, asString, isNestedAtMost, type JsonObject } from "../../platform/read.ts";
import { clip } from "../../transcript/clip.ts";

/** How deep lists and objects may stand in one another; `JSON.stringify` can't follow some thousands of levels. */
const MOST_LEVELS = 500;
/** Shorter encoded data costs little, and may be something else. */
const LEAST_ENCODED_CHARACTERS = 64;
const TOO_DEEP = "(nested too deeply to be recorded)";
const DATA_URL = /data:([\w.+-]+\/[\w.+-]+)?(?:;[\w.=+-]+)*;base64,([A-Za-z0-9+/=_-]{64,})/g;
/** Blocks whose `data` is encoded in base64, as ACP and MCP name them. */
const BINARY_TYPES: ReadonlySet<unknown> = new Set(["image", "audio", "base64", "blob"]);

/**
 * `value` as compact JSON, whatever it is: what JSON can't hold is put in words, what it leaves out at the top is `null`.
 * Images and other binary data are not inlined: a word with their size stands in their place.
 */
export function valueJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(withoutDataUrls(value));
  try {
    if (!isNestedAtMost(MOST_LEVELS, value)) return JSON.stringify(TOO_DEEP);
    return JSON.stringify(value, recorded) ?? "null";
  } catch {
    return JSON.stringify("(can't be recorded)");
  }
}

/** The JSON text `json`, as a JSON string of its first characters and a mark that says how long it was. */
export function cutJson(json: string, characters: number): string {
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return JSON.stringify(`${clip(text, characters).text} (cut: it has ${text.length} characters)`);
}

/** What is recorded of one value inside another: `JSON.stringify`'s replacer. */
function recorded(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  if (isBinary(key, value, asObject(this))) return leftOut(value);
  return withoutDataUrls(value);
}

function isBinary(key: string, text: string, holder: JsonObject | undefined): boolean {
  if (text.length < LEAST_ENCODED_CHARACTERS || holder === undefined) return false;
  if (key === "data") return BINARY_TYPES.has(holder.type) || asString(holder.mimeType) !== undefined;
  return key === "blob" && (asString(holder.mimeType) ?? asString(holder.uri)) !== undefined;
}

function withoutDataUrls(text: string): string {
  if (!text.includes(";base64,")) return text;
  return text.replace(
    DATA_URL,
    (_url, type: string | undefined, data: string) => `data:${type ?? ""} ${leftOut(data)}`,
  );
}

function leftOut(encoded: string): string {
  return `(${Math.floor((encoded.length * 3) / 4)} bytes left out)`;
}
