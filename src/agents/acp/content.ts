import { asArray, asCount, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import type { FileDiff } from "../../transcript/entry.ts";

/**
 * The text of a content block: of anything that is no text, a note in brackets, never its data. Undefined where nothing
 * can be made out.
 */
export function blockText(value: unknown): string | undefined {
  const block = asObject(value);
  switch (block?.type) {
    case "text":
      return asString(block.text);
    case "image":
    case "audio":
      return binaryNote(block.type, block);
    case "resource_link":
      return `[${["link", asText(block.name), asText(block.uri)].filter((word) => word !== undefined).join(" ")}]`;
    case "resource": {
      const resource = asObject(block.resource);
      return asString(resource?.text) ?? (resource && binaryNote("resource", resource));
    }
    default:
      return undefined;
  }
}

/** The text of one block or of a list of them. */
export function contentText(content: unknown): string | undefined {
  const blocks = asArray(content);
  if (blocks === undefined) return blockText(content);
  const texts = blocks.map(blockText).filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join("");
}

/** A part of what a tool call gave, as it is kept: a text, or a change of a file. */
type ToolPart = string | FileDiff;

/** What the content of a tool call says: one text, one change of a file, or a list where it has several or both. */
export type ToolContent = ToolPart | readonly ToolPart[];

/** What the content of a tool call says; undefined where it says nothing. */
export function toolContent(content: unknown): ToolContent | undefined {
  const parts = (asArray(content) ?? []).map(toolPart).filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  if (parts.every((part) => typeof part === "string")) return parts.join("\n");
  return parts.length === 1 ? parts[0] : parts;
}

/** The changes of files that the content of a tool call tells. */
export function diffsIn(content: ToolContent | undefined): readonly FileDiff[] {
  const parts = Array.isArray(content) ? content : [content];
  return parts.filter((part) => typeof part === "object");
}

function toolPart(value: unknown): ToolPart | undefined {
  const part = asObject(value);
  switch (part?.type) {
    case "content":
      return contentText(part.content);
    case "diff": {
      const path = asText(part.path);
      const newText = asString(part.newText);
      if (path === undefined || newText === undefined) return undefined;
      return { path, oldText: asString(part.oldText) ?? null, newText };
    }
    case "terminal":
      return `[terminal ${asText(part.terminalId) ?? "without a name"}]`;
    default:
      // Some agents put a block where ACP has one more level around it.
      return blockText(part);
  }
}

/** Deeper than this nothing is kept: `JSON.stringify`, which writes it, does not follow any depth. */
const MOST_LEVELS = 64;

/** What an agent puts into a call's input or output, without images and the like, and not nested without end. */
export function withoutBinary(value: unknown, levels: number = MOST_LEVELS): unknown {
  if (typeof value === "string") return dataUrlNote(value) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return "[nested too deeply]";
  if (Array.isArray(value)) return value.map((inner) => withoutBinary(inner, levels - 1));
  const fields = value as JsonObject;
  const note = mediaNote(fields);
  if (note !== undefined) return note;
  return Object.fromEntries(Object.entries(fields).map(([key, inner]) => [key, withoutBinary(inner, levels - 1)]));
}

/** The note for an object that is an image or the like: as ACP and MCP write one, or with its data in a `source`. */
function mediaNote(fields: JsonObject): string | undefined {
  const { type } = fields;
  const source = asObject(fields.source);
  if ((type === "image" || type === "audio") && asText(fields.data) !== undefined) return binaryNote(type, fields);
  if (source?.type === "base64" && asText(source.data) !== undefined) return binaryNote(asText(type) ?? "data", source);
  return asText(fields.blob) !== undefined && asText(fields.uri) !== undefined
    ? binaryNote("resource", fields)
    : undefined;
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)?[^,]{0,100};base64,/;

function dataUrlNote(text: string): string | undefined {
  if (!text.startsWith("data:")) return undefined;
  const start = DATA_URL.exec(text);
  return start === null ? undefined : note("data", start[1], base64Bytes(text, start[0].length));
}

function binaryNote(what: string, fields: JsonObject): string {
  const data = asString(fields.data) ?? asString(fields.blob);
  const mime = asText(fields.mimeType) ?? asText(fields.media_type) ?? asText(fields.mediaType);
  return note(what, mime, data === undefined ? asCount(fields.size) : base64Bytes(data));
}

function note(what: string, mime: string | undefined, bytes: number | undefined): string {
  const size = bytes === undefined ? "" : `, ${bytes} bytes`;
  return `[${mime === undefined ? what : `${what} ${mime.slice(0, 100)}`}${size}]`;
}

/** How many bytes the base64 in `text` from `start` on holds. */
function base64Bytes(text: string, start = 0): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor(((text.length - start) * 3) / 4) - padding);
}
