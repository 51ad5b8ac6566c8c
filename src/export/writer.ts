import type { ExportedMessage, ExportMeta } from "./model.ts";

/** Where in a document a message stands. */
export interface MessagePlace {
  /** 0 in the session itself, 1 in a subagent of it, … */
  readonly depth: number;
  /** Nothing stands before it at this depth in the same chat. */
  readonly isFirst: boolean;
}

/**
 * Writes an export in one format, piece by piece in the order of the document. Messages come first and what stands above
 * them last, since only then is it known; whoever puts the document together knows where each piece goes. Texts are foreign:
 * nothing in them may become part of the document's structure, run, or be fetched.
 */
export interface DocumentWriter {
  /** The content type, for HTTP. */
  readonly type: string;
  /** Without a dot. */
  readonly extension: string;
  /** Headers that its answer over HTTP has besides those of every answer. */
  readonly headers?: { readonly [name: string]: string };
  /** What stands above the messages. */
  head(meta: ExportMeta): string;
  /** One message; `subagent.messages` is never set. */
  message(message: ExportedMessage, place: MessagePlace): string;
  /** A subagent whose own messages follow, a depth further in; instead of `message`. */
  beginSubagent(message: ExportedMessage, place: MessagePlace): string;
  endSubagent(place: MessagePlace): string;
  /**
   * What is put around messages that were taken back, once a later one says so: they are folded. Or what is put before the last
   * character of each message that was.
   */
  readonly takenBack:
    | { readonly kind: "fold"; begin(messages: number, depth: number): string; end(depth: number): string }
    | { readonly kind: "flag"; readonly text: string };
  /** What stands below the messages. */
  foot(meta: ExportMeta): string;
}
