import type { SessionRef, Store } from "../stores/store.ts";
import { Body } from "./body.ts";
import { htmlWriter } from "./html.ts";
import { jsonWriter } from "./json.ts";
import { markdownWriter } from "./markdown.ts";
import { metaOf } from "./meta.ts";
import type { ExportMeta, ExportSource } from "./model.ts";
import { ReplacedWhileRead } from "./reading.ts";
import { Spool } from "./spool.ts";
import type { DocumentWriter } from "./writer.ts";

/** The formats of an export. */
export const EXPORT_FORMATS = ["markdown", "json", "html"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const WRITERS: { readonly [format in ExportFormat]: () => DocumentWriter } = {
  markdown: markdownWriter,
  json: jsonWriter,
  html: htmlWriter,
};

/** What goes into an export, and how it looks. */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** Subagents' own messages, at their place. */
  readonly subagents: boolean;
  /** What the agent thought, where the store keeps it readable. */
  readonly reasoning: boolean;
  /** Inputs (as JSON) and outputs of tools are cut to so many characters each, from 1 on; absent: nothing is cut. */
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

/** What putting a document together takes. */
export interface ExportTools {
  /** Where what is too much for the memory waits: `cache` in our own folder. Made when it is needed. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
  /** Waited for when the chat turns out to be long, before more of it is read. */
  long?(): Promise<void>;
}

/** A file that is replaced while it is read is read anew so often. */
const ATTEMPTS = 3;

/**
 * Reads the chat as it is now to its end and puts the document together, all of it before the first byte is told: what goes
 * wrong is told instead of the document, and another source can still be read. What is too much to be held in memory waits in
 * a file of `folder` that has no name. @throws Failure as the store does · the signal's reason when it aborts
 */
export async function exportDocument(
  chat: ExportedChat,
  options: ExportOptions,
  tools: ExportTools,
): Promise<ExportDocument> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptDocument(chat, options, tools);
    } catch (error) {
      if (!(error instanceof ReplacedWhileRead) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function attemptDocument(
  chat: ExportedChat,
  options: ExportOptions,
  tools: ExportTools,
): Promise<ExportDocument> {
  const { folder, signal } = tools;
  const { store, ref } = chat;
  const writer = WRITERS[options.format]();
  const spool = new Spool(folder);
  try {
    const body = new Body({ store, ref, options, writer, spool, tools });
    const count = await body.write();
    const meta = await metaOf(chat, count, signal);
    const head = Buffer.from(writer.head(meta));
    const inserts = body.takenBack.inserts(body.ends, writer.takenBack);
    spool.add(writer.foot(meta));
    await spool.finish();
    const inserted = inserts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    return {
      type: writer.type,
      headers: writer.headers ?? {},
      fileName: `${fileNameOf(meta)}.${writer.extension}`,
      source: chat.source,
      size: head.length + spool.size + inserted,
      bytes: () => spool.readWith([{ at: 0, text: head }, ...inserts]),
      close: () => spool.close(),
    };
  } catch (error) {
    await spool.close();
    throw error;
  }
}

/** How the document is called as a file: letters, digits, `-` and `_` only, and of no device. */
function fileNameOf({ agent, sessionId, child }: ExportMeta): string {
  const words = [agent, sessionId, ...(child === undefined ? [] : [child])];
  return words.map((word) => word.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 128)).join("-");
}
