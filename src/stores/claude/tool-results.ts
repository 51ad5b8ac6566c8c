import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { ToolResultEntry } from "../../transcript/entry.ts";
import { withoutContext } from "./user-text.ts";

/** How a result begins that was too large for the transcript (2.1.332): with where the whole is, and a little of it. */
export const PERSISTED = "<persisted-output>";

/** `block` when it is the output of a tool: `tool_result`, `web_search_tool_result`, `mcp_tool_result`, … */
export function toolResultOf(block: unknown): JsonObject | undefined {
  const fields = asObject(block);
  return asString(fields?.type)?.endsWith("tool_result") ? fields : undefined;
}

/** The output that `block` holds; `structured` is its record's `toolUseResult`: an object, an error's text, or nothing. */
export function toolResult(block: unknown, structured: unknown): Omit<ToolResultEntry, "at" | "pos"> | undefined {
  const fields = toolResultOf(block);
  if (fields === undefined) return undefined;
  const callId = asText(fields.tool_use_id);
  const raw = textOfContent(fields.content) ?? asString(asObject(structured)?.stdout) ?? "";
  const text = withoutContext(raw);
  const wrapped = /^<tool_use_error>([\s\S]*?)(?:<\/tool_use_error>)?$/.exec(text);
  const isError =
    fields.is_error === true ||
    fields.is_error === "true" ||
    wrapped !== null ||
    asString(structured)?.startsWith("Error:") === true ||
    structured === "User rejected tool use" ||
    asString(asObject(fields.content)?.type)?.endsWith("_error") === true;
  return {
    kind: "tool-result",
    ...(callId !== undefined && { callId }),
    text: wrapped?.[1] ?? text,
    ...(isError && { isError }),
    ...(text.startsWith(PERSISTED) && { isPreview: true }),
  };
}

/** The text of a result's content: a text, blocks, or plain texts among them; never the data of an image. */
function textOfContent(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const blocks = asArray(content) ?? (asObject(content) === undefined ? undefined : [content]);
  return blocks
    ?.map(textOfBlock)
    .filter((text) => text !== "")
    .join("\n");
}

function textOfBlock(block: unknown): string {
  if (typeof block === "string") return block;
  const fields = asObject(block);
  switch (fields?.type) {
    case "text":
      return asString(fields.text) ?? "";
    case "image":
    case "document":
      return `[${fields.type}]`;
    case "tool_reference":
      return asString(fields.tool_name) ?? "";
    case "resource_link":
      return asString(fields.uri) ?? asString(fields.name) ?? "";
    case "web_search_result":
      return [asString(fields.title), asString(fields.url)].filter((part) => part).join(" — ");
    case "web_search_tool_result_error":
      return asString(fields.error_code) ?? "";
    default:
      return "";
  }
}
