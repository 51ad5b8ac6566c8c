import { parseJsonlCursor } from "../../src/jsonl/cursor.ts";
import { cursorOf } from "../../src/transcript/cursor.ts";
import type { Page } from "../../src/transcript/item.ts";
import type { WrittenSession } from "../history.ts";
import type { Client } from "./client.ts";

/** A page of a chat, and the bytes of the transcript that it consumes. */
export interface PageRange {
  readonly cursor: string;
  readonly start: number;
  readonly end: number;
}

/** The path of a session's chat. */
export function chatPath(session: { readonly id: string }): string {
  return `/api/transcripts/claude/${session.id}/chat`;
}

/** The pages of a chat from its start to its end, as `next` leads through them. */
export async function pagesOf(next: (cursor: string) => Promise<string>): Promise<PageRange[]> {
  const pages: PageRange[] = [];
  for (let cursor = "0"; ; ) {
    const following = await next(cursor);
    if (following === cursor) return pages;
    pages.push({ cursor, start: offsetOf(cursor), end: offsetOf(following) });
    cursor = following;
  }
}

/** Reads a whole chat, page by page. */
export async function pageThrough(client: Client, path: string): Promise<PageRange[]> {
  return pagesOf(async (cursor) => (await client.json<Page>(`${path}?from=${encodeURIComponent(cursor)}`)).next);
}

/** The byte offset that a cursor of a JSONL chat states. */
export function offsetOf(cursor: string): number {
  return parseJsonlCursor(cursorOf(cursor)).offset;
}

/** A record that the CLI might append, telling `mark`. */
export function markedRecord(session: WrittenSession, mark: string): string {
  const block = [{ type: "text", text: mark }];
  const usage = { input_tokens: 3, output_tokens: 9 };
  const message = { id: `msg_${mark}`, type: "message", role: "assistant", model: "m", content: block, usage };
  const place = { cwd: session.cwd, sessionId: session.id, version: "2.1.332", gitBranch: "main" };
  const timestamp = new Date().toISOString();
  return `${JSON.stringify({ parentUuid: null, isSidechain: false, message, type: "assistant", uuid: mark, timestamp, ...place })}\n`;
}
