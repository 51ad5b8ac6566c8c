import type { SessionRef, Store } from "../stores/store.ts";
import type { ExportSource } from "./model.ts";

/** The formats of an export. */
export const EXPORT_FORMATS = ["markdown", "json", "html"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What goes into an export, and how it looks. */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** Subagents' own messages, at their place. */
  readonly subagents: boolean;
  /** What the agent thought, where the store keeps it readable. */
  readonly reasoning: boolean;
  /** Inputs and outputs of tools are cut to so many characters each, from 1 on; absent: nothing is cut. */
  readonly maxToolChars?: number;
}

/** A chat that is to be exported. */
export interface ExportedChat {
  readonly store: Store;
  readonly ref: SessionRef;
  readonly source: ExportSource;
  /** The agent that was at work, where it is another than the store's: our recordings are of many. */
  readonly agent?: string;
}

/** A finished export. It is to be closed. */
export interface ExportDocument {
  /** The content type. */
  readonly type: string;
  /** Headers for HTTP besides. */
  readonly headers: { readonly [name: string]: string };
  /** A name that is safe as a file's on every system: `claude-4f0c….md`. */
  readonly fileName: string;
  readonly source: ExportSource;
  /** In bytes. */
  readonly size: number;
  /** Its bytes, from the start. */
  bytes(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Reads the chat as it is now to its end and puts the document together, all of it before the first byte is told: what goes
 * wrong is told instead of the document, and another source can still be read. What is too much to be held in memory waits in
 * a file of `folder` that has no name. @throws Failure as the store does · the signal's reason when it aborts
 */
export async function exportDocument(
  _chat: ExportedChat,
  _options: ExportOptions,
  _tools: { readonly folder: string; readonly signal?: AbortSignal },
): Promise<ExportDocument> {
  throw new Error("not built yet");
}
