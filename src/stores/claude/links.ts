import { asArray, asObject, asString, asText, type JsonObject } from "../../platform/read.ts";
import { type SessionId, sessionIdOf } from "../../transcript/names.ts";
import { toolResult, toolResultOf } from "./tool-results.ts";

/** Tools that start a subagent: `Agent` (2.1), `Task` (older). */
export function isSpawnTool(tool: string): boolean {
  return tool === "Agent" || tool === "Task";
}

/** What a result says of the subagent that its call started. */
export interface NamedResult {
  readonly callId: string | undefined;
  /** The subagent's id, from the structured result, else from the text that the model is given. */
  readonly agent: SessionId | undefined;
  /** Whether only the text names it: that counts for the result of a spawn call alone. */
  readonly byText: boolean;
  /** Of a Workflow call: the run whose folder holds its subagents. */
  readonly run: string | undefined;
  readonly isError: boolean;
  readonly rejected: boolean;
  /** It was only launched; how it ends is told later. */
  readonly launched: boolean;
}

/** The tool results of a record with the subagents they name. */
export function namedResults(record: JsonObject): NamedResult[] {
  if (record.type !== "user") return [];
  const structured = asObject(record.toolUseResult);
  const blocks = asArray(asObject(record.message)?.content) ?? [];
  return blocks.flatMap((block) => {
    const fields = toolResultOf(block);
    const result = toolResult(block, record.toolUseResult);
    if (fields === undefined || result === undefined) return [];
    const stated = sessionIdOf(structured?.agentId);
    const inText = sessionIdOf(/^agentId: ([A-Za-z0-9_-]+)/m.exec(result.text)?.[1]);
    return [
      {
        callId: result.callId,
        agent: stated ?? inText,
        byText: stated === undefined && inText !== undefined,
        run: asText(structured?.runId),
        isError: result.isError === true,
        rejected: record.toolUseResult === "User rejected tool use",
        launched: structured?.status === "async_launched" || result.text.startsWith("Async agent launched"),
      },
    ];
  });
}

/** What is told of a background task when it ends. */
export interface Notification {
  readonly task: SessionId;
  readonly callId: string | undefined;
  /** `completed`, `failed`, `stopped`, `killed`, … */
  readonly status: string | undefined;
}

/** The task notification that a record brings: in the user's name, as an attachment in mid-turn, or as it was queued. */
export function notificationOf(record: JsonObject): Notification | undefined {
  const text = notificationText(record);
  if (text === undefined) return undefined;
  const head = text.slice(0, 4096);
  const task = sessionIdOf(element(head, "task-id"));
  return task && { task, callId: element(head, "tool-use-id"), status: element(head, "status") };
}

/** The state of a task that is noted when a chat is compacted. */
export function taskStatusOf(record: JsonObject): Notification | undefined {
  const attachment = record.type === "attachment" ? asObject(record.attachment) : undefined;
  const task = sessionIdOf(attachment?.taskId);
  if (attachment?.type !== "task_status" || task === undefined) return undefined;
  return { task, callId: undefined, status: asText(attachment.status) };
}

/** The call and the subagent that a progress record ties together (2.0 and 2.1.0 to 2.1.4x). */
export function progressLink(record: JsonObject): { readonly callId: string; readonly agent: SessionId } | undefined {
  const data = record.type === "progress" ? asObject(record.data) : undefined;
  const callId = asText(record.parentToolUseID);
  const agent = sessionIdOf(data?.agentId);
  return callId === undefined || agent === undefined ? undefined : { callId, agent };
}

const NOTIFICATION = "<task-notification>";

function notificationText(record: JsonObject): string | undefined {
  const content = notifyingContent(record);
  const text = asString(content) ?? firstText(asArray(content)?.[0]);
  return text?.trimStart().startsWith(NOTIFICATION) ? text : undefined;
}

function notifyingContent(record: JsonObject): unknown {
  switch (record.type) {
    case "user":
      return asObject(record.message)?.content;
    case "attachment": {
      const attachment = asObject(record.attachment);
      return attachment?.type === "queued_command" ? attachment.prompt : undefined;
    }
    case "queue-operation":
      return record.content;
    default:
      return undefined;
  }
}

function firstText(block: unknown): string | undefined {
  return asString(block) ?? asString(asObject(block)?.text);
}

function element(text: string, name: string): string | undefined {
  return asText(new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim());
}
