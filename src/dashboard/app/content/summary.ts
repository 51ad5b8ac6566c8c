import { readableLine } from "../../../transcript/printable.ts";
import type { Item } from "../wire.ts";

/** What a tool does, in the rough. */
export type ToolKind = "shell" | "read" | "edit" | "search" | "web" | "task" | "plan" | "other";

/** The name of a tool as people read it: that of an MCP server and its tool is `server: tool`. */
export function toolName(tool: string): string {
  const [, server, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return readableLine(server === undefined ? tool : `${server}: ${name}`);
}

/** What a tool does, by its name (or its title, where an agent gives that). */
export function toolKind(tool: string): ToolKind {
  return KINDS.find(([, names]) => names.test(tool))?.[0] ?? "other";
}

/** How often each tool was called, the most used first: `Bash 7 · Read 4 · Edit 1`. Outputs of calls don't count. */
export function tally(items: readonly Item[]): string {
  const counts = new Map<string, number>();
  for (const { kind, of, tool = "" } of items) {
    if (kind !== "tool" || of !== undefined) continue;
    const name = groupName(tool);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const rest = sorted.slice(MOST_NAMES).reduce((sum, [, count]) => sum + count, 0);
  const named = sorted.slice(0, MOST_NAMES).map(([name, count]) => `${name} ${count}`);
  return [...named, ...(rest > 0 ? [`others ${rest}`] : [])].join(" · ");
}

/** How many tools a tally names. */
const MOST_NAMES = 5;

/** What a call is counted as: a title (`Edit a.txt`) by its first word, or else by what the tool does. */
function groupName(tool: string): string {
  const name = toolName(tool);
  if (tool.startsWith("mcp__") || (name !== "" && name.length <= 24 && !name.includes(" "))) return name;
  return /^\p{Lu}\p{Ll}+(?= )/u.exec(name)?.[0] ?? toolKind(tool);
}

/** Names of tools by what they do; the first that fits holds. */
const KINDS: readonly (readonly [ToolKind, RegExp])[] = [
  ["plan", /todo|^(?:update_)?plan|exitplan/i],
  ["web", /web|fetch|browser|^https?:/i],
  ["task", /^(?:task|agent|subagent|spawn_agent|delegate)/i],
  ["edit", /edit|write|patch|create|^(?:delete|move|rename)/i],
  ["search", /grep|glob|search|find|^(?:ls|list)\b/i],
  ["read", /read|view|cat\b|open/i],
  ["shell", /bash|shell|exec|command|terminal|^(?:run|kill|process|`)/i],
];
