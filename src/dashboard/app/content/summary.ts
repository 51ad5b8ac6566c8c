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

/** The path of the icon for a kind of tool, in a 16 × 16 box. */
export function toolIcon(kind: ToolKind): string {
  return ICONS[kind];
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

const ICONS: Readonly<Record<ToolKind, string>> = {
  shell: "M3 4.5 6.5 8 3 11.5M8.5 11.5H13",
  read: "M4 2h5l3 3v9H4zM9 2v3h3M6 8.5h4M6 11h4",
  edit: "M3 13l.7-3L10.5 3.2a1.2 1.2 0 0 1 1.8 0l.5.5a1.2 1.2 0 0 1 0 1.8L6 12.3z",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5 14 14",
  web: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M2 8h12M8 2c-4 4-4 8 0 12M8 2c4 4 4 8 0 12",
  task: "M4 2.5v6a2 2 0 0 0 2 2h6M9.5 8l2.5 2.5L9.5 13",
  plan: "M2.5 4.5 3.5 5.5 5 3M7.5 4.5H14M2.5 11.5 3.5 12.5 5 10M7.5 11.5H14",
  other: "M8 2.5 13 5v6l-5 2.5L3 11V5zM3 5l5 2.5L13 5M8 7.5v6",
};
