import type { SourceKind } from "./entries.ts";
import { type Glance, glanceAt } from "./glance.ts";

const TOOL_ITEMS = [
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
  "tool_search_call",
  "tool_search_output",
  "image_generation_call",
  "agent_message",
];
const RAW_ITEMS = new Set(TOOL_ITEMS);
const RAW_ITEMS_SHOWN = new Set([...TOOL_ITEMS, "reasoning"]);

/** Events that show in every kind of file. */
const EVENTS = [
  "token_count",
  "turn_aborted",
  "thread_rolled_back",
  "task_complete",
  "turn_complete",
  "error",
  "entered_review_mode",
  "exited_review_mode",
  "sub_agent_activity",
];
const EVENTS_OF: { readonly [kind in SourceKind]: ReadonlySet<string> } = {
  items: new Set(EVENTS),
  responses: new Set(EVENTS),
  events: new Set([...EVENTS, "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"]),
};

const ITEMS_OF: { readonly [kind in SourceKind]: ReadonlySet<string> } = {
  items: new Set(["UserMessage", "AgentMessage", "Reasoning", "Plan", "EnteredReviewMode", "SubAgentActivity"]),
  events: new Set(["Plan", "SubAgentActivity"]),
  responses: new Set(["SubAgentActivity"]),
};

const USER_MARKS = [Buffer.from("<user_shell_command>"), Buffer.from("<subagent_notification>")];
/** What agents say to each other is a whole message, so its mark stands at the message's start. */
const HEAD_BYTES = 1024;
const AGENT_MARK = Buffer.from('{\\"author\\":');

/** Whether a record can show anything, told by its first bytes: all others are never parsed. */
export function isRelevant(line: Buffer, kind: SourceKind, glance: Glance = glanceAt(line)): boolean {
  const { type, inner, item } = glance;
  switch (type) {
    case undefined:
    case "compacted":
    case "token_usage_record":
    case "inter_agent_communication":
      return true;
    case "event_msg":
      if (inner === undefined || (inner === "item_completed" && item === undefined)) return true;
      return inner === "item_completed" ? ITEMS_OF[kind].has(item ?? "") : EVENTS_OF[kind].has(inner);
    case "response_item":
    case "message":
      return inner === undefined || isShownItem(line, kind, glance);
    default:
      return isShownItem(line, kind, glance);
  }
}

function isShownItem(line: Buffer, kind: SourceKind, { inner, role }: Glance): boolean {
  if (inner !== "message") return (kind === "responses" ? RAW_ITEMS_SHOWN : RAW_ITEMS).has(inner ?? "");
  if (role === "developer" || role === "system") return false;
  if (kind === "responses" || role === undefined) return true;
  return role === "assistant"
    ? line.subarray(0, HEAD_BYTES).includes(AGENT_MARK)
    : USER_MARKS.some((mark) => line.includes(mark));
}
