import type { ExportDocument, ExportOptions } from "../export/document.ts";
import { Places } from "../platform/places.ts";
import { type AskedSource, type ExportWays, exportFrom } from "./export-source.ts";

/** Exports that are put together at a time: each reads a whole chat. */
const MOST_MADE = 4;
/** Exports that are open at a time, also those that a client is still taking: each holds memory or a file. */
const MOST_OPEN = 16;

/** What was asked for. */
export interface AskedExport extends ExportOptions {
  readonly source: AskedSource;
}

/** Where a server makes its exports: a few at a time, so that memory and work stay bounded; others wait, in order. */
export class ExportDesk {
  readonly #making = new Places(MOST_MADE);
  readonly #open = new Places(MOST_OPEN);
  readonly #folder: string;

  /** `folder`: where what is too much for memory waits; it need not be there. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A document, and what closes it. @throws what `exportFrom` throws · the signal's reason when that aborts */
  async make(
    ways: ExportWays,
    { source, ...options }: AskedExport,
    signal: AbortSignal,
  ): Promise<{ readonly document: ExportDocument; close(): Promise<void> }> {
    const leave = await this.#open.take(signal);
    try {
      const done = await this.#making.take(signal);
      const made = exportFrom(ways, source, options, { folder: this.#folder, signal });
      const document = await made.finally(done);
      return { document, close: () => document.close().finally(leave) };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
