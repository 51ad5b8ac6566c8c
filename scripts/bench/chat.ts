import { closeSync, openSync, readSync } from "node:fs";
import { parseJsonlCursor } from "../../src/jsonl/cursor.ts";
import { cursorOf } from "../../src/transcript/cursor.ts";
import type { Page } from "../../src/transcript/item.ts";
import { PAGE_BYTES } from "../../src/transcript/limits.ts";
import type { WrittenSession } from "../history.ts";
import type { Client } from "./client.ts";

/** A chat that was written. */
export type WrittenChat = Pick<WrittenSession, "id" | "file" | "bytes">;

/** Bytes of a transcript from one line's start to behind another line's end. */
export interface PageRange {
  readonly start: number;
  readonly end: number;
}

const REGION_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * `count` pages of `session`, within its first or its last 8 MiB. Each begins at a line of its own, since the server
 * keeps pages that were asked for before, which is not what a page costs.
 */
export function freshPages(session: WrittenChat, where: "start" | "end", count: number): PageRange[] {
  const region = Buffer.allocUnsafe(Math.min(REGION_BYTES, session.bytes));
  const base = where === "start" ? 0 : session.bytes - region.length;
  const descriptor = openSync(session.file, "r");
  readSync(descriptor, region, 0, region.length, base);
  closeSync(descriptor);
  const starts: number[] = [];
  for (let at = region.indexOf(NEWLINE); at >= 0; at = region.indexOf(NEWLINE, at + 1)) {
    if (at + 1 + PAGE_BYTES <= region.length) starts.push(at + 1);
  }
  if (starts.length < count) throw new Error(`${starts.length} lines are too few for ${count} pages`);
  return Array.from({ length: count }, (_, index) => {
    const start = starts[Math.floor((index * starts.length) / count)] ?? 0;
    return { start: base + start, end: base + region.lastIndexOf(NEWLINE, start + PAGE_BYTES - 1) + 1 };
  });
}

/** The cursor of a line's start. */
export function lineCursor(offset: number): string {
  return `j:${offset}:0`;
}

/** The path of a session's chat. */
export function chatPath(session: { readonly id: string }, agent: "claude" | "codex" = "claude"): string {
  return `/api/transcripts/${agent}/${session.id}/chat`;
}

/** Reads a whole chat, page by page, and gives what each page consumed. */
export async function pageThrough(client: Client, path: string): Promise<PageRange[]> {
  const pages: PageRange[] = [];
  for (let cursor = "0"; ; ) {
    const { next } = await client.json<Page>(`${path}?from=${encodeURIComponent(cursor)}`);
    if (next === cursor) return pages;
    pages.push({ start: offsetOf(cursor), end: offsetOf(next) });
    cursor = next;
  }
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
