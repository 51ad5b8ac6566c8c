import { asArray, asNumber, asObject, asString } from "../../platform/read.ts";
import { IMAGE } from "./injected.ts";

/** What a tool printed, without what the CLI wrote around it for the model. */
export interface ToolOutput {
  readonly text: string;
  readonly isError: boolean;
}

/** The lines that shells put before an output, in their fixed order; the last is `Output:`. Seen from 0.72 to 0.171. */
const HEAD =
  /^(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?<code>-?\d+)\n)?(?:Wall time: [^\n]*\n)?(?:Process exited with code (?<exited>-?\d+)\n|(?<running>Process running with session ID [^\n]*)\n)?(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?Output:(?:\n|$)/;

/** Outputs that say that the tool was not run, or was stopped. */
const FAILED =
  /^(?:Wall time: [^\n]*\n)?aborted by user|^unsupported call:|^failed to parse function arguments|^tool call error|^execution error|^exec_command failed|^collab \w+ failed|^apply_patch verification failed/;

/** Reads the `output` of a `function_call_output` or `custom_tool_call_output`: a text, or content parts. */
export function readOutput(output: unknown): ToolOutput {
  const parts = asArray(output);
  if (parts !== undefined) return partsOutput(parts);
  const text = asString(output);
  if (text !== undefined) return textOutput(text);
  // A few clients stored `{content, success}` as it is in memory.
  const object = asObject(output);
  if (object === undefined) return { text: "", isError: false };
  const inner = readOutput(object.content ?? object.output ?? "");
  return { text: inner.text, isError: inner.isError || object.success === false };
}

function textOutput(output: string): ToolOutput {
  const stored = jsonOutput(output);
  if (stored !== undefined) return stored;
  let text = output;
  let isError = FAILED.test(text);
  let running: string | undefined;
  // A patch inside a unified shell has two heads, one in the other (0.134 and newer).
  for (let depth = 0; depth < 2; depth++) {
    const head = HEAD.exec(text);
    // `Output:` alone may be what a program printed.
    if (head === null || head[0].startsWith("Output:")) break;
    const code = head.groups?.code ?? head.groups?.exited;
    isError ||= code !== undefined && Number(code) !== 0;
    running ??= head.groups?.running;
    text = text.slice(head[0].length);
  }
  text = text.replace(/^Wall time: [^\n]*\n(?=aborted by user)/, "");
  const parts = contentParts(text);
  if (parts !== undefined) return { text: parts, isError };
  return { text: text === "" && running !== undefined ? running : text, isError };
}

/** `{"output":"…","metadata":{"exit_code":0}}`, as shells and `apply_patch` wrote it up to 0.107. */
function jsonOutput(text: string): ToolOutput | undefined {
  if (!text.startsWith("{")) return undefined;
  const object = asObject(parsed(text));
  const output = asString(object?.output);
  const metadata = asObject(object?.metadata);
  if (output === undefined || metadata === undefined) return undefined;
  const code = asNumber(metadata.exit_code);
  return { text: output, isError: code !== undefined && code !== 0 };
}

/** The texts of a JSON array of content parts, as MCP results stood in a text up to 0.160; undefined for other text. */
function contentParts(text: string): string | undefined {
  if (!text.startsWith('[{"')) return undefined;
  const parts = asArray(parsed(text));
  if (parts === undefined || !parts.every((part) => asString(asObject(part)?.type) !== undefined)) return undefined;
  return textOf(parts);
}

/** Content parts; the first may be a head of its own (MCP since 0.165). */
function partsOutput(parts: readonly unknown[]): ToolOutput {
  const first = asString(asObject(parts[0])?.text);
  const headed = first !== undefined && HEAD.exec(first)?.[0].length === first.length && !first.startsWith("Output:");
  const head = headed ? textOutput(first) : undefined;
  const text = textOf(headed ? parts.slice(1) : parts);
  return { text, isError: (head?.isError ?? false) || FAILED.test(text) };
}

function textOf(parts: readonly unknown[]): string {
  return parts
    .flatMap((value) => {
      const part = asObject(value);
      const type = asString(part?.type) ?? "";
      if (type.includes("image")) return IMAGE;
      return asString(part?.text) ?? [];
    })
    .join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
