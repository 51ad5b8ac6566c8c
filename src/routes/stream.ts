import type { SseEvent } from "../server/route.ts";
import { type Cursor, START } from "../transcript/cursor.ts";
import { type Chat, type FollowTools, follow } from "./follow.ts";

/**
 * A chat as server-sent events: each page with its `next` as the id, so that a client that comes back goes on behind it. A
 * page that starts again at the beginning is announced by an event `reset`: an empty page that clears what is shown.
 */
export async function* chatEvents(
  chat: Chat,
  from: Cursor | "tail",
  tools: FollowTools,
  signal: AbortSignal,
): AsyncGenerator<SseEvent, void> {
  for await (const page of follow(chat, from, tools, signal)) {
    if (page.reset) yield { event: "reset", id: START, data: { items: [], next: START, reset: true } };
    if (page.items.length > 0) yield { id: page.next, data: page };
  }
}
