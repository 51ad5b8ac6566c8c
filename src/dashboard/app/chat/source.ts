import { read, transcriptPath } from "../api.ts";
import { encoded } from "../encoded.ts";
import type { ChatName } from "../live/live.ts";
import type { AgentName, ChatPage, Cursor, Subagent, UncutItem } from "../wire.ts";

/** Where a chat is read from. */
export interface ChatSource {
  /** The path of its pages. */
  readonly chat: string;
  readonly item: string;
  /** What the subagents that it names are listed under. */
  readonly subagents: string;
  /** What is before `/export`. */
  readonly base: string;
  /** Its name for the one connection that tells what is new; without one it is asked for now and then. */
  readonly live?: ChatName;
}

/** The chat of a session, or of a subagent of it. */
export function transcriptSource(agent: AgentName, id: string, child?: string): ChatSource {
  const session = transcriptPath(agent, id);
  const live = { agent, id, ...(child !== undefined && { child }) };
  if (child === undefined) return { ...below(session), live };
  const base = `${session}/subagents/${encoded(child)}`;
  return { chat: base, item: `${base}/item`, subagents: `${session}/subagents`, base, live };
}

/** The chat below `base`; `live` where it is known which transcript that is. */
export function sourceAt(base: string, live?: ChatName): ChatSource {
  return { ...below(base), ...(live !== undefined && { live }) };
}

function below(base: string): ChatSource {
  return { chat: `${base}/chat`, item: `${base}/item`, subagents: `${base}/subagents`, base };
}

/** The last page. @throws Refused, Unreachable */
export function readTail({ chat }: ChatSource, signal?: AbortSignal): Promise<ChatPage> {
  return read(chat, { from: "tail" }, signal);
}

/** The page from `from` on; undefined is the start of the chat. @throws Refused, Unreachable */
export function readFrom({ chat }: ChatSource, from: Cursor | undefined, signal?: AbortSignal): Promise<ChatPage> {
  return read(chat, { from }, signal);
}

/** The page that ends at `before`. @throws Refused, Unreachable */
export function readBefore({ chat }: ChatSource, before: Cursor, signal?: AbortSignal): Promise<ChatPage> {
  return read(chat, { before }, signal);
}

/** The items of one record, uncut, with their colours. @throws Refused, Unreachable */
export async function readRecord({ item }: ChatSource, ref: Cursor): Promise<readonly UncutItem[]> {
  const { items } = await read<{ readonly items: readonly UncutItem[] }>(item, { ref, ansi: true });
  return items;
}

/** The subagents. @throws Refused, Unreachable */
export async function readSubagents({ subagents }: ChatSource, signal?: AbortSignal): Promise<readonly Subagent[]> {
  const answer = await read<{ readonly subagents: readonly Subagent[] }>(subagents, {}, signal);
  return answer.subagents;
}
