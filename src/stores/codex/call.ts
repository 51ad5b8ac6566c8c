import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";

/** A tool call as its record has it. */
export interface Call {
  readonly tool: string;
  /** Joins it to its output; hosted tools have none. */
  readonly callId?: string;
  readonly input: unknown;
  readonly summary?: string;
}

/** A shell script that only feeds a patch to `apply_patch`: the third shape of that tool. */
const PATCH_SCRIPT = /^\s*(?:cd [^\n;&|]+ && )?apply_?patch\s+<</;

/** The call that a `response_item` of this payload is, undefined for every other item. */
export function callOf(payload: JsonObject): Call | undefined {
  const callId = asText(payload.call_id) ?? asText(payload.id);
  switch (payload.type) {
    case "function_call":
      return functionCall(payload, callId);
    case "custom_tool_call":
      return { tool: nameOf(payload), callId, input: payload.input };
    case "local_shell_call":
      return { tool: "shell", callId, input: { command: asObject(payload.action)?.command } };
    case "web_search_call":
      return { tool: "web_search", input: searchInput(asObject(payload.action)) };
    case "tool_search_call":
      return { tool: "tool_search", callId, input: inputOf(payload.arguments ?? payload.query) };
    case "image_generation_call":
      return { tool: "image_generation", input: { prompt: asString(payload.revised_prompt) ?? "" } };
    default:
      return undefined;
  }
}

function functionCall(payload: JsonObject, callId: string | undefined): Call {
  const input = inputOf(payload.arguments);
  const tool = nameOf(payload);
  if (isPatch(input)) return { tool: "apply_patch", callId, input };
  // With the real back end the message of a V2 agent is encrypted (since mid 2026), so whom it is for must do.
  const target = payload.namespace === "collaboration" ? asText(asObject(input)?.target) : undefined;
  return { tool, callId, input, ...(target !== undefined && { summary: target }) };
}

/** A tool's name; that of an MCP tool is `mcp__<server>__<tool>` however the version spreads it over fields. */
function nameOf(payload: JsonObject): string {
  const name = asText(payload.name) ?? "tool";
  const namespace = asText(payload.namespace);
  if (namespace === undefined || !namespace.startsWith("mcp__")) return name;
  return `${namespace.replace(/_+$/, "")}__${name}`;
}

/** Arguments are JSON in a text; what is no JSON stays text. */
function inputOf(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function isPatch(input: unknown): boolean {
  const fields = asObject(input);
  const command = asArray(fields?.command)?.at(-1) ?? fields?.command ?? fields?.cmd;
  return typeof command === "string" && PATCH_SCRIPT.test(command);
}

/** Without the kind of search, which is the same in every call. */
function searchInput(action: JsonObject | undefined): unknown {
  if (action === undefined) return {};
  const { type: _, ...rest } = action;
  return rest;
}
