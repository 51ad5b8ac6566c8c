import { asText, type JsonObject } from "../../platform/read.ts";
import type { SessionId } from "../../transcript/names.ts";
import type { LineHead } from "./line-head.ts";
import { isSidechain } from "./records.ts";

/** Which records of a file are those of one chat. */
export interface ChatScope {
  /** Whose chat it is; undefined for the session itself. */
  readonly agent?: SessionId;
  /** Only in the session's own chat does a prompt with an older parent take turns back. */
  readonly rewinds: boolean;
  /** Whether a line that begins so can hold a record of the chat. */
  mayInclude(head: LineHead): boolean;
  includes(record: JsonObject): boolean;
  /** Whether a record that is too long to be parsed, and begins with `text`, is told in this chat. */
  includesLong(head: LineHead, text: string): boolean;
}

/** The session's own chat: its transcript without the subagents that older releases kept in it. */
export const MAIN_CHAT: ChatScope = {
  rewinds: true,
  mayInclude: (head) => !head.sidechain,
  includes: (record) => !isSidechain(record),
  includesLong: (head) => !head.sidechain,
};

/** The chat of a subagent that has a file of its own. */
export function agentChat(agent: SessionId): ChatScope {
  return { agent, rewinds: false, mayInclude: () => true, includes: () => true, includesLong: () => true };
}

/** The chat of a subagent in its parent's file: records that name it, or stand in the tree below its first record. */
export function sidechainChat(key: SessionId, rootOf: (uuid: string) => string | undefined): ChatScope {
  return {
    agent: key,
    rewinds: false,
    mayInclude: (head) => head.sidechain,
    includes: (record) => isSidechain(record) && sidechainKey(record, rootOf) === key,
    includesLong: (head, text) => head.sidechain && keyOfLong(text, rootOf) === key,
  };
}

/** What tells the records of one inline subagent from those of another. */
export function sidechainKey(record: JsonObject, rootOf: (uuid: string) => string | undefined): string | undefined {
  const uuid = asText(record.uuid);
  return asText(record.agentId) ?? (uuid === undefined ? undefined : rootOf(uuid));
}

/** Of a record that is not parsed: the agent that it names, or the first record above its parent. */
function keyOfLong(text: string, rootOf: (uuid: string) => string | undefined): string | undefined {
  const agent = /"agentId": ?"([^"]+)"/.exec(text)?.[1];
  const parent = /"parentUuid": ?"([^"]+)"/.exec(text)?.[1];
  return agent ?? (parent === undefined ? undefined : rootOf(parent));
}
