import { asArray, asObject, asString, asText, type JsonObject, jsonText } from "../platform/read.ts";
import { oneLine } from "./clip.ts";

/** Input fields that say what a call does, the most telling first; the first that holds text is the summary. */
const TELLING_FIELDS = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "notebook_path",
  "path",
  "pattern",
  "url",
  "query",
  "queries",
  "description",
  "task_name",
  "skill",
  "name",
  "question",
  "message",
  "prompt",
] as const;

/** Tools whose telling field is not the first of the list above, by lower-case name. */
const FIELDS_OF_TOOL: ReadonlyMap<string, readonly string[]> = new Map([
  ["agent", ["description", "prompt"]],
  ["task", ["description", "prompt"]],
  ["subagent", ["description", "prompt"]],
  ["spawn_agent", ["task_name", "message"]],
  ["grep", ["pattern"]],
  ["glob", ["pattern"]],
  ["webfetch", ["url"]],
  ["websearch", ["query"]],
]);

/**
 * One line that says what a tool call does: the command, the path, the pattern, the URL, the query or the description,
 * by tool, else the compact JSON of the input. Not yet cut to the limit of a summary: the whole of it is shown uncut.
 */
export function summarise(tool: string, input: unknown): string {
  const text = asString(input);
  if (text !== undefined) return oneLine(patchSummary(text) ?? text);
  const fields = asObject(input);
  if (fields === undefined) return oneLine(compactJson(input));
  return oneLine(planSummary(fields) ?? fieldSummary(tool, fields) ?? compactJson(fields));
}

function fieldSummary(tool: string, fields: JsonObject): string | undefined {
  const own = FIELDS_OF_TOOL.get(tool.toLowerCase()) ?? [];
  for (const name of [...own, ...TELLING_FIELDS]) {
    const text = lineOf(fields[name]);
    if (text !== undefined) return text;
  }
  const patch = asText(fields.input);
  return patch === undefined ? undefined : patchSummary(patch);
}

/** A text, or an argument vector as one would type it; `bash -lc X` is X. */
function lineOf(value: unknown): string | undefined {
  const text = asString(value);
  if (text !== undefined) return /\S/.test(text) ? (patchSummary(text) ?? text) : undefined;
  const words = asArray(value)?.filter((word): word is string => typeof word === "string");
  if (words === undefined || words.length === 0) return undefined;
  const [shell = "", flag = "", script] = words;
  if (words.length === 3 && script !== undefined && /(^|\/)(ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag)) {
    return patchSummary(script) ?? script;
  }
  return words.join(" ");
}

/** The files that an `apply_patch` text touches, or undefined for any other text. */
function patchSummary(text: string): string | undefined {
  if (!text.includes("*** Begin Patch")) return undefined;
  const files = [...text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => match[1] ?? "");
  return files.length === 0 ? undefined : files.join(", ");
}

/** The step in hand (or the last one) of a plan or task list, with how many there are. */
function planSummary(fields: JsonObject): string | undefined {
  const steps = asArray(fields.plan) ?? asArray(fields.todos);
  if (steps === undefined || steps.length === 0) return undefined;
  const objects = steps.map(asObject);
  const current = objects.find((step) => step?.status === "in_progress") ?? objects[objects.length - 1];
  const text = asText(current?.step) ?? asText(current?.content);
  return text === undefined ? undefined : `${text} (${steps.length} steps)`;
}

function compactJson(value: unknown): string {
  return value === undefined ? "" : jsonText(value);
}
