import { asArray, asObject, asString, asText, type JsonObject, jsonText } from "../../platform/read.ts";

/**
 * The text of what a tool gave back, which may be any JSON: a text as it is, blocks of text joined, the field that holds
 * the output, else the JSON itself. Images and other binary data are left out.
 */
export function resultText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return shownText(value) ?? jsonText(value, withoutBinary);
}

/** The text of ACP content blocks, or undefined when there are none. */
export function blocksText(value: unknown): string | undefined {
  const blocks = asArray(value);
  if (blocks === undefined) return undefined;
  const texts = blocks.flatMap((block) => blockText(block) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** Fields in which agents put a tool's output, the most telling first. */
const OUTPUT_FIELDS = ["output", "text", "stdout", "formatted_output", "aggregated_output", "message"] as const;

function shownText(value: unknown): string | undefined {
  const text = asString(value);
  if (text !== undefined) return text;
  const blocks = asArray(value);
  if (blocks !== undefined) return isBlocks(blocks) ? (blocksText(blocks) ?? "") : undefined;
  const fields = asObject(value);
  if (fields === undefined) return undefined;
  const content = asArray(fields.content);
  if (content !== undefined && isBlocks(content)) return blocksText(content) ?? "";
  if (typeof fields.content === "string") return fields.content;
  return outputOf(fields);
}

function outputOf(fields: JsonObject): string | undefined {
  const name = OUTPUT_FIELDS.find((field) => asText(fields[field]) !== undefined);
  if (name === undefined) return undefined;
  const errors = name === "stdout" ? asText(fields.stderr) : undefined;
  return [asString(fields[name]), errors].filter((part) => part !== undefined).join("\n");
}

function isBlocks(values: readonly unknown[]): boolean {
  return values.length > 0 && values.every((value) => asString(asObject(value)?.type) !== undefined);
}

/** A text block, or the text block within a `content` block (ACP's tool call content); undefined for images and the like. */
function blockText(outer: unknown): string | undefined {
  let block = outer;
  let fields = asObject(block);
  while (fields?.type === "content") {
    block = fields.content;
    fields = asObject(block);
  }
  if (fields === undefined) return asText(block);
  // As our own recorder keeps it.
  if (fields.type === "diff") return jsonText({ path: fields.path, oldText: fields.oldText, newText: fields.newText });
  if (fields.type === "resource") return asText(asObject(fields.resource)?.text);
  return fields.type === "text" || fields.type === undefined ? asString(fields.text) : undefined;
}

/** Longer texts without any white space are taken for encoded data when JSON is shown. */
const BINARY_CHARACTERS = 1024;

function withoutBinary(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length < BINARY_CHARACTERS) return value;
  return /^(?:data:[^,]{0,80},)?[A-Za-z0-9+/_=-]+$/.test(value) ? undefined : value;
}
