import { asArray, asObject, asString, type JsonObject } from "../../platform/read.ts";

/** Tags that hold what the CLI says in the user's name; the text must end with the closing tag too. */
const TAGS = [
  "user_instructions",
  "environment_context",
  "skill",
  "user_shell_command",
  "turn_aborted",
  "subagent_notification",
  "codex_internal_context",
  "goal_context",
  "recommended_plugins",
  "hook_prompt",
  "realtime_delegation",
  "user_action",
];

/** Beginnings of injected texts that are in no tag of their own; lower case. */
const BEGINNINGS = [
  "# agents.md instructions",
  "<external_",
  "warning: apply_patch was requested via ",
  "warning: your account was flagged",
  "warning: the maximum number of unified exec processes",
  "another language model started to solve this problem",
];

/** What the CLI still writes as a `user_message` event (0.34 to 0.4x), besides telling it by `kind`. */
const EVENT_CONTEXT = /^\s*(?:<user_instructions>|<environment_context>|# AGENTS\.md instructions)/i;

/** The person's own words in IDE clients stand behind this heading. */
const IDE_REQUEST = /^## My request for Codex:[ \t]*\n?/m;

const IMAGE_MARKUP = /^\s*(?:<image\b[^>]*>|<\/image>)\s*$/;

/** Whether a text in the user's role is context that the CLI injected. */
export function isInjected(text: string): boolean {
  const start = text.trimStart().slice(0, 80).toLowerCase();
  if (BEGINNINGS.some((beginning) => start.startsWith(beginning))) return true;
  const tag = TAGS.find((name) => start.startsWith(`<${name}>`) || start.startsWith(`<${name} `));
  return tag !== undefined && text.trimEnd().toLowerCase().endsWith(`</${tag}>`);
}

/** Whether a `user_message` event is context: by its `kind` where it has one. */
export function isContextEvent(payload: JsonObject): boolean {
  const kind = asString(payload.kind);
  if (kind !== undefined && kind !== "plain") return true;
  return EVENT_CONTEXT.test(asString(payload.message) ?? "") && isInjected(asString(payload.message) ?? "");
}

/** The person's words without what an IDE put before them. */
export function withoutIdeContext(text: string): string {
  const heading = IDE_REQUEST.exec(text);
  return heading === null ? text : text.slice(heading.index + heading[0].length);
}

/**
 * What the person wrote in a `message` of role `user`, undefined when nothing is theirs. `content_item_kinds` (0.152 and
 * newer) tells each part; without it, the texts themselves do.
 */
export function ownWords(message: JsonObject): string | undefined {
  const parts = asArray(message.content)?.map(asObject) ?? [];
  const kinds = asArray(asObject(message.internal_chat_message_metadata_passthrough)?.content_item_kinds);
  const own = parts.filter((part, index) => {
    const kind = kinds?.[index];
    if (kind !== undefined) return typeof kind === "string" && kind.startsWith("user.");
    return !isInjected(asString(part?.text) ?? "");
  });
  const texts = own.flatMap((part) => asString(part?.text) ?? []).filter((text) => !IMAGE_MARKUP.test(text));
  const text = withoutIdeContext(texts.join("\n"));
  if (text.trim() !== "") return text;
  return own.some((part) => asString(part?.type)?.includes("image")) ? IMAGE : undefined;
}

/** What stands for an image: its data is never shown. */
export const IMAGE = "[image]";

/** Every text of a `user` message, injected or not. */
export function allText(message: JsonObject): string {
  return (asArray(message.content) ?? []).flatMap((part) => asString(asObject(part)?.text) ?? []).join("\n");
}
