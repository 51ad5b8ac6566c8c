import { asArray, asObject, asString, asText } from "../../platform/read.ts";

/** How Hermes marks content that is JSON (multimodal parts, seen from schema 1 on) and not the text itself. */
const JSON_MARK = "\0json:";

/** What stands for an image: its data is never shown. */
export const IMAGE = "[image]";

/** The text of a row's content: plain, or its text parts when it is multimodal, with `image` in the place of images. */
export function contentText(content: string | undefined, image = ""): string {
  if (content === undefined) return "";
  if (!content.startsWith(JSON_MARK)) return content;
  const parsed = parsedJson(content.slice(JSON_MARK.length));
  return parsed === undefined ? "" : partsText(parsed, image);
}

/** Whether content or calls are there and are not the JSON that they are meant to be. */
export function isDamaged(content: string | undefined, calls: string | undefined): boolean {
  if (content?.startsWith(JSON_MARK) && parsedJson(content.slice(JSON_MARK.length)) === undefined) return true;
  return calls !== undefined && calls !== "" && parsedJson(calls) === undefined;
}

/** How deep parts are looked for in parts; the APIs nest them twice. */
const MOST_LEVELS = 16;

/** The text of message parts as the OpenAI APIs shape them (`text`, `input_text`, `output_text`; `image_url`, `input_image`). */
function partsText(value: unknown, image = "", levels = MOST_LEVELS): string {
  if (levels === 0) return "";
  const text = asString(value);
  if (text !== undefined) return text;
  const parts = asArray(value);
  if (parts !== undefined)
    return parts
      .map((part) => partsText(part, image, levels - 1))
      .filter((part) => part !== "")
      .join("\n");
  const fields = asObject(value);
  if (fields === undefined) return typeof value === "number" ? String(value) : "";
  if (/image/.test(String(fields.type))) return image;
  const known = fields.type === undefined || /^(?:text|input_text|output_text|refusal)$/.test(String(fields.type));
  return known
    ? (asText(fields.text) ?? asText(fields.refusal) ?? partsText(fields.content ?? "", image, levels - 1))
    : "";
}

/** The answer in a row's `codex_message_items`, which may be the only place it stands (schema 9 and newer). */
export function codexItemsText(json: string | undefined): string {
  const items = asArray(json === undefined ? undefined : parsedJson(json)) ?? [];
  const texts = items.flatMap((item) => {
    const fields = asObject(item);
    const isAnswer = fields !== undefined && (fields.type === undefined || fields.type === "message");
    return isAnswer ? partsText(fields.content ?? fields.text ?? "") : [];
  });
  return texts.filter((text) => text !== "").join("\n");
}

/**
 * What the agent thought, where the row keeps it readable: the newest of the plain columns, else the first of the lists
 * (`reasoning_details`, then `codex_reasoning_items`, whose summaries are lists again) that says something.
 */
export function reasoningText(
  reasoning: string | undefined,
  content: string | undefined,
  lists: readonly (string | undefined)[],
): string {
  const plain = asText(reasoning) ?? asText(content);
  if (plain !== undefined) return plain;
  const texts = lists.map((json) => {
    const parts = asArray(json === undefined ? undefined : parsedJson(json)) ?? [];
    return parts.flatMap(thoughtsIn).join("\n");
  });
  return texts.find((text) => text !== "") ?? "";
}

function thoughtsIn(value: unknown): string[] {
  const part = asObject(value);
  const own = asText(part?.text) ?? asText(part?.summary);
  if (own !== undefined) return [own];
  const nested = [...(asArray(part?.summary) ?? []), ...(asArray(part?.content) ?? [])];
  return nested.flatMap((one) => asText(asObject(one)?.text) ?? []);
}

/** A call in a row's `tool_calls`. */
export interface Call {
  readonly callId: string | undefined;
  readonly tool: string;
  /** The arguments, parsed where they are JSON. */
  readonly input: unknown;
}

/** The calls of a row: OpenAI's shape. What is no call is passed over. */
export function callsOf(json: string | undefined): readonly Call[] {
  const list = json === undefined ? undefined : asArray(parsedJson(json));
  return (list ?? []).flatMap((value) => {
    const call = asObject(value);
    const named = asObject(call?.function) ?? call;
    const tool = asText(named?.name);
    if (call === undefined || tool === undefined) return [];
    const given = named?.arguments ?? named?.input;
    const text = asString(given);
    const parsed = text === undefined ? given : parsedJson(text);
    return [{ callId: asText(call.id) ?? asText(call.call_id), tool, input: parsed ?? text ?? {} }];
  });
}

/** Whether a tool's output says that it failed: Hermes' tools give JSON with a text under `error` then. */
export function isErrorOutput(text: string): boolean {
  return text.startsWith("{") && text.includes('"error"') && asText(asObject(parsedJson(text))?.error) !== undefined;
}

/** `text` as JSON, or undefined when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
